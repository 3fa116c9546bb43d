package manifest

import (
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/internal/ojson"
	"github.com/omnideck/omnideck/lance/format"
)

// registrationRow, versionRow and so on are the rows of each kind, as the Rust
// engine writes them.
func registrationRow(r Registration) Row {
	return tableKindRow(KindTable, r.Identity, r.Alias, func(row *Row) { row.Location = Text{r.Location, true} })
}

func updateRow(u *Update) Row {
	return tableKindRow(KindVersion, u.Identity, u.Alias, func(row *Row) {
		row.Version, row.Rows, row.Metadata = Number{u.Version, true}, Number{u.Rows, true}, Text{u.Meta.json(), true}
		row.Branch = Text{u.Owner, u.Owner != ""}
	})
}

func tombstoneRow(t Tombstone) Row {
	return tableKindRow(KindTombstone, t.Identity, t.Alias, func(row *Row) { row.Version = Number{t.Version, true} })
}

func tableKindRow(kind string, id Identity, alias string, more func(*Row)) Row {
	row := Row{Kind: kind, Alias: alias, Table: Number{id.Table, true}, Incarnation: Number{id.Incarnation, true}}
	more(&row)
	row.ObjectID = row.canonicalID(id)
	return row
}

func commitRowOf(c *Commit) Row {
	var m []ojson.Member
	for _, p := range []struct{ name, id string }{{"parent_commit_id", c.Parent}, {"merged_parent_commit_id", c.MergedParent}} {
		if p.id != "" {
			m = append(m, ojson.Member{Name: p.name, Value: ojson.Str(p.id)})
		}
	}
	if c.Actor != nil {
		m = append(m, ojson.Member{Name: "actor_id", Value: ojson.Str(*c.Actor)})
	}
	m = append(m, ojson.Member{Name: "created_at", Value: ojson.Int(c.CreatedAt)})
	return Row{ObjectID: c.ID, Kind: KindCommit, Version: Number{c.ManifestVersion, true}, Branch: Text{c.Branch, c.Branch != ""}, Metadata: Text{object(m), true}}
}

func headRowOf(c *Commit) Row {
	m := []ojson.Member{{Name: "head_commit_id", Value: ojson.Str(c.ID)}}
	if c.Parent != "" {
		m = append(m, ojson.Member{Name: "parent_commit_id", Value: ojson.Str(c.Parent)})
	}
	return Row{ObjectID: headPrefix + orMain(c.Branch), Kind: KindHead, Metadata: Text{object(m), true}}
}

func object(m []ojson.Member) string { return string(ojson.Obj(m...).Append(nil)) }

// json is the metadata of a version row: four members, always.
func (m TableMeta) json() string {
	size := ojson.Value{}
	if m.ManifestSize != nil {
		size = ojson.Uint(*m.ManifestSize)
	}
	return object([]ojson.Member{
		{Name: "manifest_path", Value: ojson.Str(m.ManifestPath)}, {Name: "manifest_size", Value: size},
		{Name: "e_tag", Value: ojson.OptStr(m.ETag)}, {Name: "naming_scheme", Value: ojson.OptStr(m.NamingScheme)},
	})
}

func allocator(o Options) memory.Allocator {
	if o.Lance.Allocator == nil {
		return memory.DefaultAllocator
	}
	return o.Lance.Allocator
}

// writtenField is a column of `__manifest` as this program writes it.
type writtenField struct {
	name, logical string
	id            int32
	nullable      bool
}

// layout are the columns of `__manifest`; base_objects is reserved and null.
var layout = []writtenField{
	{"object_id", "string", 0, false}, {"object_type", "string", 1, false}, {"location", "string", 2, true},
	{"metadata", "string", 3, true}, {"base_objects", "list", 4, true}, {"table_key", "string", 6, false},
	{"stable_table_id", "uint64", 7, true}, {"table_incarnation_id", "uint64", 8, true}, {"table_version", "uint64", 9, true},
	{"table_branch", "string", 10, true}, {"row_count", "uint64", 11, true},
}

func sameField(f *format.Field, w writtenField) bool {
	return f.Name == w.name && f.LogicalType == w.logical && f.ID == w.id && f.Nullable == w.nullable && f.PrimaryKey == (w.name == "object_id")
}

// laidOut says that a schema has these columns and no others.
func laidOut(s *format.Schema) bool {
	return len(s.Fields) == len(layout) && slices.EqualFunc(s.Fields, layout, sameField)
}

// schemaOf is the schema of a new `__manifest`.
func schemaOf() *format.Schema {
	s := &format.Schema{Metadata: map[string]string{StampKey: strconv.Itoa(CurrentStamp)}}
	for _, w := range layout {
		f := &format.Field{ID: w.id, ParentID: -1, Name: w.name, LogicalType: w.logical, Nullable: w.nullable}
		if w.logical == "list" {
			f.Children = []*format.Field{{ID: w.id + 1, ParentID: w.id, Name: "item", LogicalType: "string", Nullable: true}}
		}
		if w.name == "object_id" {
			f.PrimaryKey, f.Metadata = true, map[string]string{format.MetaPrimaryKey: "true"}
		}
		s.Fields = append(s.Fields, f)
	}
	return s
}

// batchOf makes a record of rows with the columns of a schema. Columns that no
// row has anything for are null.
func batchOf(rows []Row, schema *arrow.Schema, mem memory.Allocator) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i, f := range schema.Fields() {
		for k := range rows {
			r := &rows[k]
			switch to := b.Field(i).(type) {
			case *array.StringBuilder:
				appendText(to, r.text(f.Name))
			case *array.Uint64Builder:
				appendNumber(to, r.number(f.Name))
			default:
				to.AppendNull()
			}
		}
	}
	return b.NewRecordBatch()
}

func appendText(to *array.StringBuilder, t Text) {
	if !t.Set {
		to.AppendNull()
		return
	}
	to.Append(t.V)
}

func appendNumber(to *array.Uint64Builder, n Number) {
	if !n.Set {
		to.AppendNull()
		return
	}
	to.Append(n.V)
}

// text is what stands in a column of text.
func (r *Row) text(column string) Text {
	switch column {
	case "object_id":
		return Text{r.ObjectID, true}
	case "object_type":
		return Text{r.Kind, true}
	case "location":
		return r.Location
	case "metadata":
		return r.Metadata
	case "table_key":
		return Text{r.Alias, true}
	case "table_branch":
		return r.Branch
	}
	return Text{}
}

// number is what stands in a column of numbers.
func (r *Row) number(column string) Number {
	switch column {
	case "stable_table_id":
		return r.Table
	case "table_incarnation_id":
		return r.Incarnation
	case "table_version":
		return r.Version
	case "row_count":
		return r.Rows
	}
	return Number{}
}
