package schema

// checkRules refuses constraints on columns that do not exist or cannot bear
// them. accepted lets pass what a graph made before 0.10 may have: @unique in a
// body over a Blob.
func (f *file) checkRules(accepted bool) *SourceError {
	for _, d := range f.decls {
		if d.kind == KindInterface {
			continue
		}
		byName := map[string]*prop{}
		for _, p := range d.props { // of a name that stands twice the last counts
			byName[p.name] = p
		}
		keys := 0
		for _, r := range d.rules {
			if d.kind == KindEdge && (r.kind == "key" || r.kind == "range" || r.kind == "check") {
				return f.fail(StageParse, r.at, "@%s constraint is not supported on edges (edge %s)", r.kind, d.name)
			}
			if r.kind == "key" {
				if keys++; keys > 1 {
					return f.fail(StageParse, r.at, "node type %s has multiple @key constraints; only one is supported", d.name)
				}
			}
			for _, column := range r.columns {
				if d.kind == KindEdge && (column == "src" || column == "dst") {
					continue
				}
				p, ok := byName[column]
				if !ok {
					return f.fail(StageParse, r.at, "@%s on %s references unknown property '%s'", r.kind, d.name, column)
				}
				if err := f.ruleFits(d, r, p, accepted); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ruleFits refuses a constraint for the type of a property in it.
func (f *file) ruleFits(d *decl, r rule, p *prop, accepted bool) *SourceError {
	t := p.typ
	kind := ""
	switch {
	case r.kind == "key" && t.Nullable:
		return f.fail(StageParse, r.at, "@key property %s.%s cannot be nullable", d.name, p.name)
	case r.kind == "range" && !t.numeric():
		return f.fail(StageParse, r.at, "@range on %s.%s requires a numeric type, got %s", d.name, p.name, t.display())
	case r.kind == "check" && t.Scalar.Name != "String":
		return f.fail(StageParse, r.at, "@check on %s.%s requires String type, got %s", d.name, p.name, t.display())
	case r.kind == "key" && t.List:
		kind = "list"
	case r.kind == "key" && t.Scalar.Name == "Vector":
		kind = "vector"
	case t.Scalar.Name == "Blob" && (r.kind != "unique" || !accepted):
		kind = "blob"
	}
	if kind != "" {
		return f.fail(StageParse, r.at, "@%s is not supported on %s property %s.%s", r.kind, kind, d.name, p.name)
	}
	return nil
}

// numeric reports an integer or float, be it the type of a list's items.
func (t PropType) numeric() bool {
	switch t.Scalar.Name {
	case "I32", "I64", "U32", "U64", "F32", "F64":
		return true
	}
	return false
}
