package validate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/omnideck/omnideck/schema"
	"github.com/omnideck/omnideck/schema/value"
)

// Report is what was found.
type Report struct {
	Violations []*Violation // in the order of the package comment
	More       bool         // the search ended because there were enough
	Read       ReadSet
}

// Err is the first violation, nil when there is none.
func (r *Report) Err() error {
	if len(r.Violations) == 0 {
		return nil
	}
	return r.Violations[0]
}

// Check holds a write against the rules and tells the first most violations (at
// least one). The error says that base could not be read, or that the delta is
// not one of this schema; the report is nil then.
func Check(ctx context.Context, ir *schema.IR, d Delta, base Reader, most int) (*Report, error) {
	if err := wellFormed(ir, d); err != nil {
		return nil, err
	}
	c := &check{ctx: ctx, ir: ir, images: images(d), most: max(most, 1), report: &Report{}}
	c.ask = asker{base: base, at: map[*schema.Type]int{}}
	err := c.run()
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	c.report.Read = c.ask.set
	return c.report, nil
}

// wellFormed refuses what no caller may hand over.
func wellFormed(ir *schema.IR, d Delta) error {
	seen := map[*schema.Type]bool{}
	for _, ch := range d {
		t, ok := ir.Type(ch.Type.Kind, ch.Type.Name)
		if !ok || t != ch.Type || seen[t] || t.Kind == schema.KindInterface {
			return fmt.Errorf("checking a write: the change of %s is not one, or not the only one, of a type of this schema", ch.Type.Alias())
		}
		seen[t] = true
		if ch.Overwrite && len(ch.Removed) > 0 {
			return fmt.Errorf("checking a write: %s is overwritten and names rows that are removed", t.Alias())
		}
		for _, b := range ch.Batches {
			for i := range b.Rows {
				if len(b.Rows[i].Values) != len(t.Properties) {
					return fmt.Errorf("checking a write: %s '%s' has %d values, expected %d", t.Alias(), b.Rows[i].ID, len(b.Rows[i].Values), len(t.Properties))
				}
			}
		}
	}
	return nil
}

// errEnough ends a search early.
var errEnough = errors.New("enough violations")

type check struct {
	ctx    context.Context
	ir     *schema.IR
	images []*image
	most   int
	ask    asker
	report *Report
}

func (c *check) found(v *Violation) bool {
	if len(c.report.Violations) == c.most {
		c.report.More = true
		return false
	}
	c.report.Violations = append(c.report.Violations, v)
	return len(c.report.Violations) < c.most || c.most > 1
}

// tell is found as an error.
func (c *check) tell(v *Violation) error {
	if v == nil || c.found(v) {
		return nil
	}
	return errEnough
}

func (c *check) image(kind schema.Kind, name string) *image {
	for _, im := range c.images {
		if im.Type.Kind == kind && im.Type.Name == name {
			return im
		}
	}
	return nil
}

func (c *check) run() error {
	for _, im := range c.images {
		if err := c.values(im); err != nil {
			return err
		}
	}
	var first, then []func(*check) error
	for _, im := range c.images {
		first = append(first, func(c *check) error { return c.removedByOverwrite(im) })
		if im.Type.Kind == schema.KindNode {
			then = append(then, func(c *check) error { return c.unique(im) })
		}
	}
	for i := range c.ir.Edges {
		then = append(then, c.edges(&c.ir.Edges[i])...)
	}
	for _, im := range c.images {
		then = append(then, func(c *check) error { return c.exists(im) })
	}
	if err := c.each(first); err != nil {
		return err
	}
	return c.each(then)
}

// sideBySide is how many rules are asked at once.
const sideBySide = 16

// each asks rules that do not wait for one another side by side, and puts
// together what they found as if each had been asked after the one before.
func (c *check) each(rules []func(*check) error) error {
	parts, errs := make([]*check, len(rules)), make([]error, len(rules))
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for i, rule := range rules {
		parts[i] = &check{ctx: c.ctx, ir: c.ir, images: c.images, most: c.most, ask: asker{base: c.ask.base, at: map[*schema.Type]int{}}, report: &Report{}}
		g.Go(func() error { errs[i] = rule(parts[i]); return nil })
	}
	_ = g.Wait()
	for i, p := range parts {
		c.ask.take(p.ask.set)
		for _, v := range p.report.Violations {
			if !c.found(v) {
				return errEnough
			}
		}
		c.report.More = c.report.More || p.report.More
		if errs[i] != nil {
			return errs[i]
		}
	}
	return nil
}

func (c *check) values(im *image) error {
	if len(im.Batches) == 0 {
		return nil
	}
	rules, bad := NewValueRules(im.Type)
	if bad != nil {
		return c.tell(bad)
	}
	for _, b := range im.Batches {
		for i := range b.Rows {
			if !rules.Check(&b.Rows[i], c.found) {
				return errEnough
			}
		}
	}
	return nil
}

// removedByOverwrite finds the nodes that an overwrite does not name, when edges
// could hang on them.
func (c *check) removedByOverwrite(im *image) error {
	if !im.Overwrite || !c.isEnd(im.Type) {
		return nil
	}
	return c.ask.ids(c.ctx, im.Type, func(id string) {
		if im.last[id] == nil {
			im.removed[id] = true
		}
	})
}

// isEnd reports whether edges of some type end at nodes of a type.
func (c *check) isEnd(t *schema.Type) bool {
	return t.Kind == schema.KindNode && slices.ContainsFunc(c.ir.Edges, func(e schema.Type) bool { return e.From.Name == t.Name || e.To.Name == t.Name })
}

func (c *check) unique(im *image) error {
	for _, u := range Groups(im.Type) {
		if err := c.group(im, u, sameSet(u.Columns, keyNames(im.Type))); err != nil {
			return err
		}
	}
	return nil
}

func keyNames(t *schema.Type) (out []string) {
	for _, p := range t.Key() {
		out = append(out, p.Name)
	}
	return out
}

// held is what a row that stays holds of a group.
type held struct {
	id     string
	key    string
	values []value.Value
}

func (c *check) group(im *image, u *Unique, isKey bool) error {
	clean := true
	for _, b := range im.Batches {
		clear(u.holders)
		for i := range b.Rows {
			if v := u.Add(&b.Rows[i]); v != nil {
				clean = false
				if err := c.tell(v); err != nil {
					return err
				}
			}
		}
	}
	inBase := !isKey && !im.Overwrite
	if !clean || len(im.last) == 0 || !inBase && len(im.Batches) == 1 {
		return nil
	}
	var rows []held
	holders := map[string]string{}
	for _, id := range im.ids() {
		key, values, exempt, bad := u.key(im.last[id])
		if exempt || bad != nil {
			continue
		}
		prior, twice := holders[key]
		holders[key] = id
		if twice {
			if err := c.tell(u.violation(values, prior, id)); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, held{id, key, values})
	}
	if !inBase {
		return nil
	}
	return c.groupInBase(im, u, rows)
}

// groupInBase holds the tuples of a write against rows of the base that stay.
func (c *check) groupInBase(im *image, u *Unique, rows []held) error {
	if len(rows) == 0 {
		return nil
	}
	read := c.ask.of(im.Type)
	tuples := make([][]value.Value, len(rows))
	wanted := make(map[string]string, len(rows)) // key → least id of a holder that stays
	for i, r := range rows {
		tuples[i] = r.values
		wanted[r.key] = ""
	}
	read.Keys = append(read.Keys, KeyRead{u.Columns, tuples})
	err := portions(tuples, func(tuples [][]value.Value) error {
		return c.ask.base.Holders(c.ctx, im.Type, u.Columns, tuples, func(id string, values []value.Value) {
			ts, err := texts(values)
			if err != nil || !im.stays(id) {
				return
			}
			key := joined(ts)
			if prior, ok := wanted[key]; ok && (prior == "" || id < prior) {
				wanted[key] = id
			}
		})
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if holder := wanted[r.key]; holder != "" {
			if err := c.tell(u.violation(r.values, holder, r.id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// exists refuses inserts of ids that are there.
func (c *check) exists(im *image) error {
	said := map[string]bool{}
	var ids []string
	for _, b := range im.Batches {
		for i := range b.Rows {
			id := b.Rows[i].ID
			if b.Kind == Insert && said[id] {
				if err := c.tell(existsViolation(im.Type, id)); err != nil {
					return err
				}
			} else if b.Kind == Insert && !im.Overwrite && !im.removed[id] {
				ids = append(ids, id)
			}
			said[id] = true
		}
	}
	there, err := c.ask.existing(c.ctx, im.Type, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if there[id] {
			if err := c.tell(existsViolation(im.Type, id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sorted are the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
