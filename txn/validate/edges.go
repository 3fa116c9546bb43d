package validate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/schema"
)

// edges are the rules of one edge type: whether it is written itself, or only
// nodes that its edges could hang on.
func (c *check) edges(t *schema.Type) []func(*check) error {
	im := c.image(schema.KindEdge, t.Name)
	stranded := func(c *check) error { return c.stranded(t, im) }
	if im == nil {
		return []func(*check) error{stranded}
	}
	return []func(*check) error{
		func(c *check) error { return c.unique(im) },
		func(c *check) error { return c.endpoints(t, im) },
		stranded,
		func(c *check) error { return c.degrees(t, im) },
	}
}

// endpoints asks for both ends of every edge that is written.
func (c *check) endpoints(t *schema.Type, im *image) error {
	srcs, dsts := map[string]bool{}, map[string]bool{}
	for _, b := range im.Batches {
		for i := range b.Rows {
			srcs[b.Rows[i].Src], dsts[b.Rows[i].Dst] = true, true
		}
	}
	var from, to func(id string) bool
	err := c.each([]func(*check) error{
		func(c *check) (err error) { from, err = c.standing(t.From.Name, srcs); return err },
		func(c *check) (err error) { to, err = c.standing(t.To.Name, dsts); return err },
	})
	if err != nil {
		return err
	}
	for _, b := range im.Batches {
		for i := range b.Rows {
			if !Endpoints(t, &b.Rows[i], from, to, c.found) {
				return errEnough
			}
		}
	}
	return nil
}

// standing says which of ids name a node in the result.
func (c *check) standing(node string, ids map[string]bool) (func(id string) bool, error) {
	im := c.image(schema.KindNode, node)
	var unknown []string
	for id := range ids {
		if im.stays(id) {
			unknown = append(unknown, id)
		}
	}
	slices.Sort(unknown)
	t, ok := c.ir.Type(schema.KindNode, node)
	if !ok {
		return func(string) bool { return false }, nil // a sound schema has it
	}
	there, err := c.ask.existing(c.ctx, t, unknown)
	return func(id string) bool {
		if im != nil && im.last[id] != nil {
			return true
		}
		return there[id]
	}, err
}

// stranded finds edges of the base that stay though an end is removed.
func (c *check) stranded(t *schema.Type, im *image) error {
	if im != nil && im.Overwrite {
		return nil
	}
	from, to := c.image(schema.KindNode, t.From.Name), c.image(schema.KindNode, t.To.Name)
	var left []Edge
	err := c.ask.incident(c.ctx, t, from.goneIDs(), to.goneIDs(), func(e Edge) {
		if im.stays(e.ID) {
			left = append(left, e)
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(left, compareEdges)
	for _, e := range slices.Compact(left) {
		row := Row{ID: e.ID, Src: e.Src, Dst: e.Dst}
		if !Endpoints(t, &row, not(from.gone), not(to.gone), c.found) {
			return errEnough
		}
	}
	return nil
}

func not(is func(string) bool) func(string) bool {
	return func(id string) bool { return !is(id) }
}

func compareEdges(a, b Edge) int {
	return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Src, b.Src), strings.Compare(a.Dst, b.Dst))
}

// goneIDs are the ids that are removed for good, sorted.
func (im *image) goneIDs() []string {
	if im == nil {
		return nil
	}
	out := sorted(im.removed)
	return slices.DeleteFunc(out, func(id string) bool { return im.last[id] != nil })
}

// degrees counts anew the edges of every source that the write touches.
func (c *check) degrees(t *schema.Type, im *image) error {
	d := NewDegree(t)
	if d == nil {
		return nil
	}
	from := c.image(schema.KindNode, t.From.Name)
	touched := map[string]uint64{} // source → edges of the base that are removed or said anew
	for _, id := range im.ids() {
		touched[im.last[id].Src] += 0
	}
	if !im.Overwrite {
		old := sorted(im.removed)
		for _, id := range im.ids() {
			if !im.removed[id] {
				old = append(old, id)
			}
		}
		if err := c.ask.edges(c.ctx, t, old, func(e Edge) { touched[e.Src]++ }); err != nil {
			return err
		}
	}
	for src := range touched {
		if from.gone(src) {
			delete(touched, src)
		}
	}
	counts := map[string]uint64{}
	if !im.Overwrite {
		var err error
		if counts, err = c.ask.counts(c.ctx, t, sorted(touched)); err != nil {
			return err
		}
	}
	for src, out := range touched {
		d.Add(src, counts[src]-min(out, counts[src]))
	}
	for _, id := range im.ids() {
		if src := im.last[id].Src; !from.gone(src) {
			d.Add(src, 1)
		}
	}
	if !d.Done(c.found) {
		return errEnough
	}
	return nil
}
