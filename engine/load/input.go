package load

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate"
)

// Mode is what a load does with what is there.
type Mode string

// The modes.
const (
	Append    Mode = "append"    // adds; an id that is there is refused
	Merge     Mode = "merge"     // adds or replaces whole entities
	Overwrite Mode = "overwrite" // replaces all entities of each type that occurs
)

// Options of reading.
type Options struct {
	Mode Mode
	// NewID makes the id of an entity whose line names none and whose type has no
	// key.
	NewID func() string
	// AllowURI says why an external blob may not be where its URI says, nil that
	// it may. Without it none is allowed.
	AllowURI func(uri string) error
}

// Batch is what an input says of one type.
type Batch struct {
	Type  *schema.Type
	Rows  []validate.Row // in the order of the lines
	Lines []int          // where each is from
	Bytes int64          // as limits count
}

// Input is what a load brings.
type Input struct {
	Batches []*Batch // nodes before edges, types by name
	Lines   int      // lines read, blank ones too
}

// Entities counts the rows, those too that a later one with the same id replaces.
func (in *Input) Entities() (n int) {
	for _, b := range in.Batches {
		n += len(b.Rows)
	}
	return n
}

// Delta is the input as a write in a mode.
func Delta(batches []*Batch, mode Mode) validate.Delta {
	var out validate.Delta
	for _, b := range batches {
		kind := validate.Insert
		if mode == Merge {
			kind = validate.Upsert
		}
		out = append(out, validate.Change{Type: b.Type, Overwrite: mode == Overwrite, Batches: []validate.Batch{{Kind: kind, Rows: b.Rows}}})
	}
	return out
}

// Last are the rows that stay: of several with one id the last, in the place of
// the first. Only a merge has several once it has been validated.
func (b *Batch) Last() []validate.Row {
	at := make(map[string]int, len(b.Rows))
	out := make([]validate.Row, 0, len(b.Rows))
	for _, r := range b.Rows {
		if i, twice := at[r.ID]; twice {
			out[i] = r
			continue
		}
		at[r.ID] = len(out)
		out = append(out, r)
	}
	return out
}

// Read reads the whole input of a load that is one commit. The error is a
// *SyntaxError, an *InputError, a *validate.LimitError, or that of r.
func Read(r io.Reader, ir *schema.IR, o Options) (*Input, error) {
	if o.NewID == nil {
		return nil, errors.New("reading lines of data: nobody makes ids")
	}
	advice := "load it with --chunk, or split the lines so that each load has at most 8,192 entities and 32 MiB of a type"
	switch o.Mode {
	case Append, Merge:
	case Overwrite:
		advice = "overwrite with a first part of at most 32 MiB of a type, and append the rest"
	default:
		return nil, fmt.Errorf("reading lines of data: there is no mode %q: append, merge or overwrite", o.Mode)
	}
	batches := map[*schema.Type]*Batch{}
	meters := map[*schema.Type]*validate.Meter{}
	s := newScanner(r, ir, o)
	err := s.each(func(e entity, _ []byte) error {
		b, m := batches[e.t], meters[e.t]
		if b == nil {
			b, m = &Batch{Type: e.t}, &validate.Meter{Type: e.t, Unbounded: o.Mode == Overwrite, Advice: advice}
			batches[e.t], meters[e.t] = b, m
		}
		if err := m.Add(e.size, e.line); err != nil {
			return err
		}
		if s.wrong != nil {
			return nil // nothing of it will be loaded
		}
		if !e.named {
			e.row.ID = o.NewID()
		}
		b.Rows, b.Lines, b.Bytes = append(b.Rows, e.row), append(b.Lines, e.line), m.Bytes
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Input{inOrder(batches), s.frames.line}, nil
}

// inOrder are batches, nodes before edges and types by name.
func inOrder(m map[*schema.Type]*Batch) []*Batch {
	out := make([]*Batch, 0, len(m))
	for _, b := range m {
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *Batch) int { return a.Type.Compare(b.Type) })
	return out
}

// scanner reads entities off a stream.
type scanner struct {
	frames *frames
	json   ojson.Parser
	ir     *schema.IR
	o      Options
	makers map[*schema.Type]*maker
	wrong  map[*schema.Type]*InputError // the one of each type to be told of
	others int
	skip   func(line int) bool // lines that are not parsed

	passing bool // no entity is kept: the next one takes its place
}

func newScanner(r io.Reader, ir *schema.IR, o Options) *scanner {
	return &scanner{frames: newFrames(r), ir: ir, o: o, makers: map[*schema.Type]*maker{}}
}

// each hands out every entity with its line. A line that is no entry ends it at
// once; an entity that is wrong is kept for the end, since a wrong line further
// down comes before it.
func (s *scanner) each(do func(e entity, line []byte) error) error {
	for {
		line, err := s.frames.next()
		if errors.Is(err, io.EOF) {
			return s.err()
		}
		if err != nil {
			return err
		}
		if blank(line) || s.skip != nil && s.skip(s.frames.line) {
			continue
		}
		if err := s.frames.slots(line); err != nil {
			return err
		}
		r, err := parseEntry(s.ir, &s.json, line, s.frames.line)
		if err != nil {
			return err
		}
		m := s.makers[r.t]
		if m == nil {
			m = newMaker(r.t, s.o.AllowURI)
			m.passing = s.passing
			s.makers[r.t] = m
		}
		e, wrong := m.entity(&r)
		if wrong != nil {
			s.note(wrong)
			continue
		}
		if err := do(e, line); err != nil {
			return err
		}
	}
}

func (s *scanner) note(e *InputError) {
	if s.wrong == nil {
		s.wrong = map[*schema.Type]*InputError{}
	}
	if w := s.wrong[e.Type]; w == nil || e.rank < w.rank {
		s.wrong[e.Type] = e
	}
	s.others++
}

// err is the error to be told of: of the types that have one, that on the first
// line.
func (s *scanner) err() error {
	var out *InputError
	for _, e := range s.wrong {
		if out == nil || e.Line < out.Line {
			out = e
		}
	}
	if out == nil {
		return nil
	}
	out.Others = s.others - 1
	return out
}
