package schema

// maxProperties bounds the properties of a schema with those that interfaces
// inject: a short text may ask for any number of them.
const maxProperties = 1 << 15

// inject gives every node the properties of its interfaces, and refuses names
// that collide with the columns id, src and dst.
func (f *file) inject() *SourceError {
	interfaces := map[string]*decl{}
	total := 0
	for _, d := range f.decls {
		total += len(d.props)
		if d.kind == KindInterface {
			interfaces[d.name] = d
		}
		if total > maxProperties {
			return f.tooMany(d.at)
		}
	}
	for _, d := range f.decls {
		if d.kind != KindNode {
			continue
		}
		byName := d.byName()
		for _, n := range d.implements {
			i, ok := interfaces[n.text]
			if !ok {
				return f.fail(StageParse, n.at, "node %s implements unknown interface '%s'", d.name, n.text)
			}
			if total += len(i.props); total > maxProperties {
				return f.tooMany(n.at)
			}
			if err := f.fulfil(d, i, byName); err != nil {
				return err
			}
		}
	}
	return f.columnsAreFree()
}

func (f *file) tooMany(at int) *SourceError {
	return f.fail(StageParse, at, "the schema has more than %d properties with those of interfaces", maxProperties)
}

// fulfil makes a node satisfy one interface.
func (f *file) fulfil(d, i *decl, byName map[string]*prop) *SourceError {
	for _, want := range i.props {
		have, ok := byName[want.name]
		if !ok {
			have = &prop{name: want.name, at: want.at, typ: want.typ, annotations: want.annotations, injected: true}
			byName[want.name] = have
			d.props = append(d.props, have)
			d.addOwnRules([]*prop{have})
		} else if !have.typ.equal(want.typ) {
			return f.fail(StageParse, have.at, "node %s property '%s' has type %s but interface %s declares it as %s",
				d.name, want.name, have.typ.display(), i.name, want.typ.display())
		}
		have.satisfies = append(have.satisfies, PropRef{OwnerName: i.name, Name: want.name})
	}
	return nil
}

// columnsAreFree refuses properties that are named as a column that every table
// has (defect D12: the Rust engine fails later, and may leave files behind).
func (f *file) columnsAreFree() *SourceError {
	for _, d := range f.decls {
		for _, p := range d.props {
			taken := d.kind != KindInterface && p.name == "id" || d.kind == KindEdge && (p.name == "src" || p.name == "dst")
			if taken {
				return f.fail(StageParse, p.at, "property %s.%s has the name of a column that every %s has; choose another name", d.name, p.name, d.kind)
			}
		}
	}
	return nil
}
