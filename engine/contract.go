package engine

import (
	"context"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/schema"
)

// Schema is the accepted schema contract: read side by side with `__manifest`
// and the sidecars, which decide what it must fit. What cannot be trusted is
// in its Finding; the source is given whenever it is there.
func (g *Graph) Schema(ctx context.Context) (*Schema, error) {
	return do(ctx, g, "schema", func(ctx context.Context, o *operation) (*Schema, error) {
		c, pending, err := o.contract(ctx)
		if err != nil {
			return nil, err
		}
		return schemaOf(c, pending), nil
	})
}

// contract reads the contract and checks it against what is published on main.
// pending tells of a recovery record of a schema apply.
func (o *operation) contract(ctx context.Context) (c *schema.Contract, pending bool, err error) {
	var (
		files  = map[string]schema.File{}
		root   *rootListing
		folder *recoveryFolder
		view   *manifest.View
	)
	err = o.together(
		func() error { o.schemaFiles(ctx, schema.Keys, files); return nil },
		func() (err error) { root, err = o.listRoot(ctx); return err },
		func() (err error) { folder, err = o.sidecars(ctx, glanced); return err },
		func() error {
			var err error
			if view, err = o.open(ctx, mainName, 0); err == nil {
				o.commit, _ = view.State.Head("")
			}
			if err != nil && !sayable(err) {
				return err
			}
			return nil // the contract of a damaged graph is still worth showing, and says less
		},
	)
	if err != nil {
		return nil, false, err
	}
	o.schemaFiles(ctx, root.staged(), files)
	return schema.Load(files, published(view, folder.sidecars)), applying(folder), ctx.Err()
}

func schemaOf(c *schema.Contract, pending bool) *Schema {
	out := &Schema{Source: c.Source, Staged: c.Staged, ShapeHash: c.ShapeHash, IRHash: c.IRHash, ir: c.IR}
	if f := schemaFindings(c, pending); len(f) > 0 {
		out.Finding = &f[0]
	}
	if c.IR == nil {
		return out
	}
	for _, t := range c.IR.Nodes {
		out.Types = append(out.Types, typeOf(&t))
	}
	for _, t := range c.IR.Edges {
		out.Types = append(out.Types, typeOf(&t))
	}
	return out
}

func typeOf(t *schema.Type) SchemaType {
	out := SchemaType{Kind: t.Kind.String(), Name: t.Name, From: t.From.Name, To: t.To.Name, Properties: []SchemaProperty{}, Constraints: []string{}}
	key := t.Key()
	for _, c := range t.Columns() {
		if c.Prop == nil {
			continue
		}
		p := SchemaProperty{Name: c.Name, Type: c.Spelled, Nullable: c.Nullable}
		for _, k := range key {
			p.Key = p.Key || k.Name == c.Name
		}
		out.Properties = append(out.Properties, p)
	}
	for _, c := range t.Constraints {
		out.Constraints = append(out.Constraints, c.Spell())
	}
	for _, i := range t.Implements {
		out.Implements = append(out.Implements, i.Name)
	}
	return out
}

// ir reads the accepted types alone, for what does not depend on the rest of
// the contract: nil when they are not there or cannot be understood. A type of
// it is used only where its identity is that of a published table.
func (o *operation) ir(ctx context.Context) (*schema.IR, error) {
	obj, err := o.store.Get(ctx, schema.IRKey, blob.All)
	switch {
	case isGone(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	ir, err := schema.ParseIR(obj.Data)
	if err != nil {
		return nil, nil // `schema show` says why
	}
	return ir, nil
}

// spellings are the types of a table's columns as the schema spells them, by
// column name; nil when it does not know the table.
func spellings(ir *schema.IR, e manifest.Entry) map[string]string {
	if ir == nil {
		return nil
	}
	t, ok := ir.Table(e.Table, e.Incarnation)
	if !ok {
		return nil
	}
	out := map[string]string{}
	for _, col := range t.Columns() {
		out[col.Name] = col.Spelled
	}
	return out
}
