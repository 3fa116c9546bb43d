package load

import (
	"errors"
	"fmt"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/txn/validate"
)

// Stored tells the entities of a type that stand in the graph under the ids, at
// most validate.MaxProbe and each once, whole: blobs with their bytes.
type Stored func(t *schema.Type, ids []string, found func(validate.Row)) error

// Standing is how much of a chunk stands in a graph.
type Standing struct {
	Equal, Different, Missing int // rows that stay, of several with one id the last
	// Rest are the rows that are different or missing: what is left to load.
	Rest []*Batch
	// First is a row that is different: in an append its id is taken. nil for none.
	First *Difference
}

// Landed reports whether nothing is left to load.
func (s *Standing) Landed() bool { return s.Different+s.Missing == 0 }

// Difference is an entity that stands otherwise than its line says.
type Difference struct {
	Type   *schema.Type
	ID     string
	Column string // the first one
	Line   int
}

func (d *Difference) String() string {
	return fmt.Sprintf("line %d: %s %s '%s' stands with another value of %s", d.Line, d.Type.Kind, d.Type.Name, d.ID, d.Column)
}

// Compare holds a chunk against a graph, row by row.
func (c *Chunk) Compare(stored Stored) (*Standing, error) {
	out := &Standing{}
	for _, b := range c.Batches {
		if err := out.batch(b, stored); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Standing) batch(b *Batch, stored Stored) error {
	last := make(map[string]int, len(b.Rows)) // id → its last row
	var ids []string
	for i := range b.Rows {
		id := b.Rows[i].ID
		if _, twice := last[id]; !twice {
			ids = append(ids, id)
		}
		last[id] = i
	}
	equal, there := map[string]bool{}, 0
	var odd error
	all := len(ids)
	for len(ids) > 0 {
		n := min(len(ids), validate.MaxProbe)
		err := stored(b.Type, ids[:n:n], func(r validate.Row) {
			i, asked := last[r.ID]
			if len(r.Values) != len(b.Type.Properties) {
				odd = fmt.Errorf("comparing a chunk with the graph: %s '%s' was told with %d values, expected %d", b.Type.Alias(), r.ID, len(r.Values), len(b.Type.Properties))
			}
			if !asked || odd != nil {
				return
			}
			there++
			column := differs(b.Type, &b.Rows[i], &r)
			if column == "" {
				s.Equal++
				equal[r.ID] = true
				return
			}
			s.Different++
			if s.First == nil || b.Lines[i] < s.First.Line {
				s.First = &Difference{b.Type, r.ID, column, b.Lines[i]}
			}
		})
		if err := errors.Join(err, odd); err != nil {
			return err
		}
		ids = ids[n:]
	}
	s.Missing += all - there
	if len(equal) == 0 {
		s.Rest = append(s.Rest, b)
		return nil
	}
	rest := &Batch{Type: b.Type}
	for i := range b.Rows {
		if id := b.Rows[i].ID; !equal[id] {
			rest.Rows, rest.Lines = append(rest.Rows, b.Rows[i]), append(rest.Lines, b.Lines[i])
			rest.Bytes += validate.Size(b.Type, &b.Rows[i])
		}
	}
	if len(rest.Rows) > 0 {
		s.Rest = append(s.Rest, rest)
	}
	return nil
}

// differs is the first column in which two rows are not the same, "" for none.
func differs(t *schema.Type, a, b *validate.Row) string {
	switch {
	case a.Src != b.Src:
		return "src"
	case a.Dst != b.Dst:
		return "dst"
	}
	for i := range t.Properties {
		if !a.Values[i].Equal(b.Values[i]) {
			return t.Properties[i].Name
		}
	}
	return ""
}
