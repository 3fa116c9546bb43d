package schema

import (
	"slices"
	"strings"
)

// checkAnnotations refuses annotations in places or forms that they do not
// have, declaration by declaration.
func (f *file) checkAnnotations() *SourceError {
	for _, d := range f.decls {
		if d.kind == KindInterface {
			for _, p := range d.props {
				if err := f.renameFrom(p.annotations, "property "+d.name+"."+p.name); err != nil {
					return err
				}
			}
			continue
		}
		if err := f.headerAnnotations(d); err != nil {
			return err
		}
		byName := d.byName()
		for _, p := range d.props {
			if err := f.propertyAnnotations(d, p, byName); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *file) headerAnnotations(d *decl) *SourceError {
	what := d.kind.String() + " " + d.name
	if err := f.renameFrom(d.annotations, what); err != nil {
		return err
	}
	for _, a := range d.annotations {
		if a.Name != "embed" && !slices.Contains(propertyConstraints, a.Name) {
			continue
		}
		if d.kind == KindEdge {
			return f.fail(StageParse, a.at, "@%s is not supported on edges (edge %s)", a.Name, d.name)
		}
		return f.fail(StageParse, a.at, "@%s is only supported on node properties or as body constraint (node %s)", a.Name, d.name)
	}
	if err := f.oneText(d.annotations, "description", what); err != nil {
		return err
	}
	return f.oneText(d.annotations, "instruction", what)
}

// oneText demands that an annotation stands at most once, with a value that is
// not blank.
func (f *file) oneText(as []annotation, name, what string) *SourceError {
	seen := false
	for _, a := range as {
		switch {
		case a.Name != name:
		case seen:
			return f.fail(StageParse, a.at, "%s declares @%s multiple times", what, name)
		case a.Value == nil || strings.TrimSpace(*a.Value) == "":
			return f.fail(StageParse, a.at, "@%s on %s requires a non-empty value", name, what)
		default:
			seen = true
		}
	}
	return nil
}

func (f *file) renameFrom(as []annotation, what string) *SourceError {
	var hint *annotation
	for i := range as {
		if as[i].Name != "rename_from" {
			continue
		}
		if hint != nil {
			return f.fail(StageParse, as[i].at, "%s declares @rename_from multiple times", what)
		}
		hint = &as[i]
	}
	switch {
	case hint == nil:
	case hint.Value == nil || strings.TrimSpace(*hint.Value) == "":
		return f.fail(StageParse, hint.at, "@rename_from on %s requires exactly one non-empty positional value", what)
	case len(hint.Kwargs) > 0:
		return f.fail(StageParse, hint.at, "@rename_from on %s does not accept keyword arguments", what)
	}
	return nil
}

func (f *file) propertyAnnotations(d *decl, p *prop, byName map[string]*prop) *SourceError {
	what := "property " + d.name + "." + p.name
	if err := f.oneText(p.annotations, "description", what); err != nil {
		return err
	}
	if err := f.renameFrom(p.annotations, what); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, a := range p.annotations {
		if err := f.annotationFits(d, p, a); err != nil {
			return err
		}
		relational := slices.Contains(propertyConstraints, a.Name)
		if relational && a.Value != nil {
			return f.fail(StageParse, a.at, "@%s on %s.%s does not accept a value", a.Name, d.name, p.name)
		}
		if (relational || a.Name == "embed") && seen[a.Name] {
			return f.fail(StageParse, a.at, "property %s.%s declares @%s multiple times", d.name, p.name, a.Name)
		}
		seen[a.Name] = true
		if a.Name == "embed" {
			if err := f.embed(d, p, a, byName); err != nil {
				return err
			}
		}
	}
	return nil
}

// annotationFits refuses an annotation for the type or the owner of its
// property.
func (f *file) annotationFits(d *decl, p *prop, a annotation) *SourceError {
	switch a.Name {
	case "key", "unique", "index", "embed":
	case "instruction":
		return f.fail(StageParse, a.at, "@instruction is only supported on node and edge types (property %s.%s)", d.name, p.name)
	default:
		return nil
	}
	kind := ""
	switch {
	case p.typ.List:
		kind = "list"
	case p.typ.Scalar.Name == "Vector" && (a.Name == "key" || a.Name == "unique"):
		kind = "vector"
	case p.typ.Scalar.Name == "Blob":
		kind = "blob"
	}
	if kind != "" {
		return f.fail(StageParse, a.at, "@%s is not supported on %s property %s.%s", a.Name, kind, d.name, p.name)
	}
	if d.kind == KindEdge && (a.Name == "key" || a.Name == "embed") {
		return f.fail(StageParse, a.at, "@%s is not supported on edge properties (edge %s.%s)", a.Name, d.name, p.name)
	}
	return nil
}

func (f *file) embed(d *decl, p *prop, a annotation, byName map[string]*prop) *SourceError {
	target := d.name + "." + p.name
	switch {
	case p.typ.Scalar.Name != "Vector":
		return f.fail(StageParse, a.at, "@embed is only supported on vector properties (%s)", target)
	case a.Value == nil:
		return f.fail(StageParse, a.at, "@embed on %s requires a source property name", target)
	case strings.TrimSpace(*a.Value) == "":
		return f.fail(StageParse, a.at, "@embed on %s requires a non-empty source property name", target)
	}
	src, ok := byName[*a.Value]
	if !ok {
		return f.fail(StageParse, a.at, "@embed on %s references unknown source property %s", target, *a.Value)
	}
	if src.typ.List || src.typ.Scalar.Name != "String" {
		return f.fail(StageParse, a.at, "@embed source property %s.%s must be String", d.name, src.name)
	}
	for _, kw := range a.Kwargs {
		if kw[0] != "model" {
			return f.fail(StageParse, a.at, "@embed on %s has unknown argument '%s=' (only 'model' is supported)", target, kw[0])
		}
	}
	return nil
}
