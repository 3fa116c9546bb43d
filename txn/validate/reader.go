package validate

import (
	"context"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// MaxProbe is how many ids, tuples or sources one question of a Reader has at
// most.
const MaxProbe = 8192

// Edge is an edge of the base.
type Edge struct{ ID, Src, Dst string }

// Pin says which version of a table a Reader reads.
type Pin struct {
	Version uint64
	Branch  string // native branch of the table, "" = main
}

// Reader is the graph below a write, at one version: the same for all questions.
// A question has at most MaxProbe items, each once. Answers come in any order;
// found is not called after an error, nor side by side for one question.
// Questions are asked side by side.
type Reader interface {
	// Pin says what is read of a type.
	Pin(t *schema.Type) Pin
	// Existing tells which of the ids stand in the table.
	Existing(ctx context.Context, t *schema.Type, ids []string, found func(id string)) error
	// Holders tells the rows whose values in the columns have the texts
	// (value.Key) of one of the tuples: each id, and its values in those columns.
	// It may tell other rows too: they are told apart here.
	Holders(ctx context.Context, t *schema.Type, columns []string, tuples [][]value.Value, found func(id string, values []value.Value)) error
	// Edges tells the edges whose id is among ids.
	Edges(ctx context.Context, t *schema.Type, ids []string, found func(Edge)) error
	// Incident tells each edge once whose src is among srcs or whose dst is among
	// dsts.
	Incident(ctx context.Context, t *schema.Type, srcs, dsts []string, found func(Edge)) error
	// Counts tells how many edges each of the sources has; sources without any
	// may be left out.
	Counts(ctx context.Context, t *schema.Type, srcs []string, found func(src string, n uint64)) error
	// IDs tells all ids of a table.
	IDs(ctx context.Context, t *schema.Type, found func(id string)) error
}

// ReadSet is what was looked at: nothing else decided.
type ReadSet struct {
	Tables []Read // in the order of the rules that read them first
}

// Read is what was looked at in one table.
type Read struct {
	Type    *schema.Type
	Pin     Pin
	Whole   bool     // all ids
	IDs     []string // looked for by id
	Sources []string // whose edges were looked for or counted
	Targets []string // likewise, by dst
	Keys    []KeyRead
}

// KeyRead are tuples that were looked for.
type KeyRead struct {
	Columns []string
	Tuples  [][]value.Value
}

// asker asks a Reader in portions and keeps what it asked.
type asker struct {
	base Reader
	set  ReadSet
	at   map[*schema.Type]int
}

// of is the record of a table. It is valid until the next call.
func (a *asker) of(t *schema.Type) *Read {
	i, ok := a.at[t]
	if !ok {
		i = len(a.set.Tables)
		a.at[t] = i
		a.set.Tables = append(a.set.Tables, Read{Type: t, Pin: a.base.Pin(t)})
	}
	return &a.set.Tables[i]
}

// take adds what others have read.
func (a *asker) take(set ReadSet) {
	for _, r := range set.Tables {
		mine := a.of(r.Type)
		mine.Whole = mine.Whole || r.Whole
		mine.IDs, mine.Sources = append(mine.IDs, r.IDs...), append(mine.Sources, r.Sources...)
		mine.Targets, mine.Keys = append(mine.Targets, r.Targets...), append(mine.Keys, r.Keys...)
	}
}

// portions calls ask with at most MaxProbe items at a time.
func portions[T any](items []T, ask func([]T) error) error {
	for len(items) > 0 {
		n := min(len(items), MaxProbe)
		if err := ask(items[:n:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

func (a *asker) existing(ctx context.Context, t *schema.Type, ids []string) (map[string]bool, error) {
	out := make(map[string]bool, len(ids))
	if len(ids) > 0 {
		r := a.of(t)
		r.IDs = append(r.IDs, ids...)
	}
	err := portions(ids, func(ids []string) error {
		return a.base.Existing(ctx, t, ids, func(id string) { out[id] = true })
	})
	return out, err
}

func (a *asker) edges(ctx context.Context, t *schema.Type, ids []string, found func(Edge)) error {
	if len(ids) > 0 {
		r := a.of(t)
		r.IDs = append(r.IDs, ids...)
	}
	return portions(ids, func(ids []string) error { return a.base.Edges(ctx, t, ids, found) })
}

// incident asks by either end. An edge between both ends may be told twice.
func (a *asker) incident(ctx context.Context, t *schema.Type, srcs, dsts []string, found func(Edge)) error {
	if len(srcs)+len(dsts) == 0 {
		return nil
	}
	r := a.of(t)
	r.Sources, r.Targets = append(r.Sources, srcs...), append(r.Targets, dsts...)
	if len(srcs)+len(dsts) <= MaxProbe {
		return a.base.Incident(ctx, t, srcs, dsts, found)
	}
	if err := portions(srcs, func(srcs []string) error { return a.base.Incident(ctx, t, srcs, nil, found) }); err != nil {
		return err
	}
	return portions(dsts, func(dsts []string) error { return a.base.Incident(ctx, t, nil, dsts, found) })
}

func (a *asker) counts(ctx context.Context, t *schema.Type, srcs []string) (map[string]uint64, error) {
	out := make(map[string]uint64, len(srcs))
	if len(srcs) > 0 {
		r := a.of(t)
		r.Sources = append(r.Sources, srcs...)
	}
	err := portions(srcs, func(srcs []string) error {
		return a.base.Counts(ctx, t, srcs, func(src string, n uint64) { out[src] += n })
	})
	return out, err
}

func (a *asker) ids(ctx context.Context, t *schema.Type, found func(id string)) error {
	a.of(t).Whole = true
	return a.base.IDs(ctx, t, found)
}
