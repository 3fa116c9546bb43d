package schema

import (
	"cmp"
	"slices"
	"strings"
)

// Shape is what a .pg text declares, in canonical form and without identities.
type Shape struct {
	// Types has 0 for every identity and no domain; references hold names alone.
	Types *IR
	// Renames are the @rename_from hints, which are no part of the hash.
	Renames []Rename
}

// Rename says that a type or property was called otherwise before.
type Rename struct {
	Kind     Kind
	Type     string
	Property string // "" when the type is meant
	From     string
}

// Hash is schema_shape_hash.
func (s *Shape) Hash() string { return s.Types.ShapeHash() }

// Compile reads a schema that is to be accepted. The error is a *SourceError:
// the first thing that is wrong, in the order of the package comment.
func Compile(source []byte) (*Shape, error) { return compile(source, false) }

// compile with accepted reads the text of a graph that exists: it may have what
// was let pass when it was accepted.
func compile(source []byte, accepted bool) (*Shape, error) {
	f, err := parse(string(source))
	if err != nil {
		return nil, err
	}
	for _, step := range []func() *SourceError{f.inject, f.checkAnnotations, func() *SourceError { return f.checkRules(accepted) }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	types, bad := f.shape()
	if bad == nil {
		bad = cmp.Or(f.checkTypes(types), f.checkReferences(types), f.checkEdgeNames(types))
	}
	if bad != nil {
		return nil, bad
	}
	return &Shape{types, f.renames()}, nil
}

// at is where a type is declared, the last time.
func (f *file) at(kind Kind, name string) int {
	for _, d := range slices.Backward(f.decls) {
		if d.kind == kind && d.name == name {
			return d.at
		}
	}
	return 0
}

// checkTypes refuses names that stand twice and edges between unknown nodes.
func (f *file) checkTypes(ir *IR) *SourceError {
	for _, types := range [][]Type{ir.Interfaces, ir.Nodes} {
		for i := 1; i < len(types); i++ {
			if t := types[i]; t.Name == types[i-1].Name {
				return f.fail(StageCatalog, f.at(t.Kind, t.Name), "duplicate %s name in schema shape: '%s'", t.Kind, t.Name)
			}
		}
	}
	nodes := map[string]bool{}
	for _, t := range ir.Nodes {
		nodes[t.Name] = true
	}
	for i, t := range ir.Edges {
		if i > 0 && t.Name == ir.Edges[i-1].Name {
			return f.fail(StageCatalog, f.at(KindEdge, t.Name), "duplicate edge name '%s' in schema shape", t.Name)
		}
		for _, end := range []string{t.From.Name, t.To.Name} {
			if !nodes[end] {
				return f.fail(StageCatalog, f.at(KindEdge, t.Name), "edge '%s' has an unresolved endpoint: no node type '%s'", t.Name, end)
			}
		}
	}
	return nil
}

// checkReferences refuses what fails only when identities are given: an
// @embed of an interface without its source, and a property that stands twice.
func (f *file) checkReferences(ir *IR) *SourceError {
	for _, t := range ir.Interfaces {
		for _, p := range t.Properties {
			if p.Embed == nil {
				continue
			}
			if _, ok := t.Property(p.Embed.Source.Name); !ok {
				return f.fail(StageIdentity, f.at(t.Kind, t.Name), "unknown property reference '%s.%s'", t.Name, p.Embed.Source.Name)
			}
		}
	}
	for _, t := range ir.Nodes {
		if name := twice(t.Properties); name != "" {
			return f.fail(StageIR, f.at(t.Kind, t.Name), "duplicate property '%s.%s'", t.Name, name)
		}
	}
	return nil
}

// checkEdgeNames refuses edges that differ in letter case alone: queries and
// lines of data name them in any case.
func (f *file) checkEdgeNames(ir *IR) *SourceError {
	folded := map[string]string{}
	for _, t := range ir.Edges {
		key := strings.ToLower(t.Name)
		if other, ok := folded[key]; ok {
			return f.fail(StageCatalog, f.at(KindEdge, t.Name), "edge name collision after case folding: '%s' conflicts with '%s'", t.Name, other)
		}
		folded[key] = t.Name
	}
	return nil
}

func (f *file) renames() (out []Rename) {
	hint := func(d *decl, property string, as []annotation) {
		for _, a := range as {
			if a.Name == "rename_from" {
				out = append(out, Rename{d.kind, d.name, property, *a.Value})
			}
		}
	}
	for _, d := range f.decls {
		hint(d, "", d.annotations)
		for _, p := range d.props {
			hint(d, p.name, p.annotations)
		}
	}
	return out
}
