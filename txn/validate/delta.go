package validate

import (
	"slices"
	"strings"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// Row is one entity.
type Row struct {
	ID       string
	Src, Dst string // edges: ids of the ends
	// Values in the order of Type.Properties. No rule looks into a blob: one that
	// stays as it is may stand as an empty one.
	Values []value.Value
}

// Kind says what a batch does with rows whose id is there already.
type Kind uint8

// The kinds.
const (
	Insert Kind = iota // it refuses them
	Upsert             // it replaces them whole
	Update             // they are there: rows are what becomes of them
)

// Batch is what one statement or one file says about a type.
type Batch struct {
	Kind Kind
	Rows []Row
}

// Change is what a write does to one type.
type Change struct {
	Type      *schema.Type
	Overwrite bool     // the batches are all that is left of the type
	Batches   []Batch  // in the order in which they were said
	Removed   []string // ids; empty with Overwrite, where what is not named goes
}

// Delta is what a write does: at most one change for a type.
type Delta []Change

// place finds the values of named columns in a row.
type place int

// The columns that are no properties.
const (
	atID place = -1 - iota
	atSrc
	atDst
)

// placeOf finds a column of a type; ok is false when it has none of that name.
func placeOf(t *schema.Type, name string) (place, bool) {
	i, ok := slices.BinarySearchFunc(t.Properties, name, func(p schema.Property, name string) int { return strings.Compare(p.Name, name) })
	if ok {
		return place(i), true
	}
	switch name {
	case "id":
		return atID, true
	case "src":
		return atSrc, t.Kind == schema.KindEdge
	case "dst":
		return atDst, t.Kind == schema.KindEdge
	}
	return 0, false
}

// image is a change as it comes out.
type image struct {
	*Change
	last    map[string]*Row // by id, the row that stays
	removed map[string]bool
}

// images are the changes in the order in which rules are asked.
func images(d Delta) []*image {
	out := make([]*image, 0, len(d))
	for i := range d {
		im := &image{&d[i], map[string]*Row{}, make(map[string]bool, len(d[i].Removed))}
		for _, b := range d[i].Batches {
			for j := range b.Rows {
				im.last[b.Rows[j].ID] = &b.Rows[j]
			}
		}
		for _, id := range d[i].Removed {
			im.removed[id] = true
		}
		out = append(out, im)
	}
	slices.SortFunc(out, func(a, b *image) int { return a.Type.Compare(b.Type) })
	return out
}

// ids are those of the rows that stay, sorted.
func (im *image) ids() []string {
	out := make([]string, 0, len(im.last))
	for id := range im.last {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// stays reports whether a row of the base with that id is untouched.
func (im *image) stays(id string) bool {
	if im == nil {
		return true
	}
	_, replaced := im.last[id]
	return !im.Overwrite && !replaced && !im.removed[id]
}

// gone reports whether no row of that id is left though the base may have one.
func (im *image) gone(id string) bool {
	if im == nil {
		return false
	}
	_, stands := im.last[id]
	return im.removed[id] && !stands
}
