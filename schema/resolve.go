package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/internal/ojson"
)

// Resolve gives the identities of a new graph: one counter from 1 for types (by
// kind, then name), then properties (by the identity of their type, then name),
// then tables (by the identity of their type). Rename hints count for nothing.
// domain is a canonical ULID.
func (s *Shape) Resolve(domain string) *IR {
	ir := s.Types.clone()
	ir.Version, ir.Domain = IRVersion, domain
	next := uint64(1)
	take := func() uint64 { next++; return next - 1 }
	var all []*Type
	types := [3]map[string]*Type{{}, {}, {}}
	for k, ts := range ir.kinds() {
		for i := range ts {
			ts[i].ID = take()
			all = append(all, &ts[i])
			types[k][ts[i].Name] = &ts[i]
		}
	}
	for _, t := range all {
		for i := range t.Properties {
			t.Properties[i].ID = take()
		}
	}
	for _, t := range all {
		if t.Kind != KindInterface {
			t.Incarnation = take()
		}
	}
	for _, t := range all {
		t.refer(types)
	}
	ir.NextID = next
	return ir
}

// refer fills the identities of what a type refers to.
func (t *Type) refer(types [3]map[string]*Type) {
	properties := map[string]uint64{}
	for _, p := range t.Properties {
		properties[p.Name] = p.ID
	}
	own := func(r *PropRef) { r.OwnerID, r.ID = t.ID, properties[r.Name] }
	if t.Kind == KindEdge {
		t.From.ID, t.To.ID = types[KindNode][t.From.Name].ID, types[KindNode][t.To.Name].ID
	}
	for i := range t.Implements {
		t.Implements[i].ID = types[KindInterface][t.Implements[i].Name].ID
	}
	slices.SortFunc(t.Implements, func(a, b TypeRef) int { return cmp.Or(cmp.Compare(a.ID, b.ID), strings.Compare(a.Name, b.Name)) })
	for i := range t.Properties {
		p := &t.Properties[i]
		if p.Embed != nil {
			own(&p.Embed.Source)
		}
		for j := range p.Satisfies {
			r := &p.Satisfies[j]
			owner := types[KindInterface][r.OwnerName]
			q, _ := owner.Property(r.Name)
			r.OwnerID, r.ID = owner.ID, q.ID
		}
		slices.SortFunc(p.Satisfies, PropRef.compare)
	}
	for _, c := range t.Constraints {
		for i := range c.Fields {
			f := &c.Fields[i]
			if f.Prop != nil {
				own(f.Prop)
			} else {
				f.TableID, f.Incarnation = t.ID, t.Incarnation
			}
		}
	}
}

// clone copies what Resolve writes to.
func (ir *IR) clone() *IR {
	out := *ir
	for _, types := range []*[]Type{&out.Interfaces, &out.Nodes, &out.Edges} {
		*types = slices.Clone(*types)
		for i := range *types {
			t := &(*types)[i]
			t.Implements, t.Properties, t.Constraints = slices.Clone(t.Implements), slices.Clone(t.Properties), slices.Clone(t.Constraints)
			for j := range t.Properties {
				p := &t.Properties[j]
				p.Satisfies = slices.Clone(p.Satisfies)
				if p.Embed != nil {
					e := *p.Embed
					p.Embed = &e
				}
			}
			for j := range t.Constraints {
				c := &t.Constraints[j]
				c.Fields = slices.Clone(c.Fields)
				for k, f := range c.Fields {
					if f.Prop != nil {
						ref := *f.Prop
						c.Fields[k].Prop = &ref
					}
				}
			}
		}
	}
	return &out
}

// Object is one of the objects of the contract as it is written.
type Object struct {
	Key  string
	Data []byte
}

// Objects are the three objects of the contract of a text and its IR, in the
// order in which they are put in place.
func Objects(source []byte, ir *IR) []Object {
	marker := Marker{markerVersion, ir.ShapeHash(), ir.Hash(), markerVersion, ir.Domain}
	return []Object{
		{SourceKey, source},
		{IRKey, ir.JSON().AppendPretty(nil)},
		{StateKey, marker.JSON().AppendPretty(nil)},
	}
}

// JSON is the marker as a value whose pretty text is the file.
func (mk Marker) JSON() ojson.Value {
	return ojson.Obj(
		m("format_version", ojson.Uint(mk.FormatVersion)),
		m("schema_shape_hash", ojson.Str(mk.ShapeHash)),
		m("schema_ir_hash", ojson.Str(mk.IRHash)),
		m("schema_identity_version", ojson.Uint(mk.IdentityVersion)),
		m("schema_identity_domain", ojson.Str(mk.IdentityDomain)))
}
