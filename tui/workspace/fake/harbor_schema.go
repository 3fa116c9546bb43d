package fake

import (
	"bytes"
	"time"

	"github.com/omnideck/omnideck/engine"
)

const harborSource = `// Ports, and the ships that call at them.
interface Named {
    name: String
}

node Port implements Named {
    code: String @key
    name: String @index
    cranes: I32?
    depth_m: F64?
    embedding: Vector(8)?
    notes: String?
    open: Bool
    photo: Blob?
    tags: [String]?
    updated: DateTime?
    @range(depth_m, 0.0..200.0)
}

node Vessel {
    imo: U64 @key
    kind: enum(container, tanker, bulk)
}

node Carrier {
    slug: String @key
}

edge CallsAt: Vessel -> Port {
    arrived: DateTime
    cargo_t: I64?
}

edge Registered: Vessel -> Port @card(0..1)

edge Feeds: Port -> Port
`

// harborSchema is the accepted schema of the sample graph.
func harborSchema() *engine.Schema {
	p := func(name, typ string, nullable bool) engine.SchemaProperty {
		return engine.SchemaProperty{Name: name, Type: typ, Nullable: nullable}
	}
	key := func(name, typ string) engine.SchemaProperty {
		return engine.SchemaProperty{Name: name, Type: typ, Key: true}
	}
	return &engine.Schema{Source: harborSource, ShapeHash: "5d41402abc4b2a76", IRHash: "7d793037a0760186", Types: []engine.SchemaType{
		{Kind: "node", Name: "Port", Implements: []string{"Named"}, Constraints: []string{"@key(code)", "@index(name)", "@range(depth_m, 0.0..200.0)"}, Properties: []engine.SchemaProperty{
			key("code", "String"), p("name", "String", false), p("cranes", "I32", true), p("depth_m", "F64", true), p("embedding", "Vector(8)", true),
			p("notes", "String", true), p("open", "Bool", false), p("photo", "Blob", true), p("tags", "[String]", true), p("updated", "DateTime", true),
		}},
		{Kind: "node", Name: "Vessel", Constraints: []string{"@key(imo)"}, Properties: []engine.SchemaProperty{key("imo", "U64"), p("kind", "enum(container, tanker, bulk)", false)}},
		{Kind: "node", Name: "Carrier", Constraints: []string{"@key(slug)"}, Properties: []engine.SchemaProperty{key("slug", "String")}},
		{Kind: "edge", Name: "CallsAt", From: "Vessel", To: "Port", Constraints: []string{}, Properties: []engine.SchemaProperty{p("arrived", "DateTime", false), p("cargo_t", "I64", true)}},
		{Kind: "edge", Name: "Registered", From: "Vessel", To: "Port", Constraints: []string{"@card(0..1)"}, Properties: []engine.SchemaProperty{}},
		{Kind: "edge", Name: "Feeds", From: "Port", To: "Port", Constraints: []string{}, Properties: []engine.SchemaProperty{}},
	}}
}

func idSegments() []engine.IndexSegment {
	return []engine.IndexSegment{
		{UUID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", Version: 31, CreatedAt: Epoch.Add(-39 * time.Hour), Fragments: 30, Bytes: ptr(uint64(1 << 20))},
		{UUID: "9b2d6c1e-3f2a-4c77-8a45-0f2b1de0c3aa", Version: 38, CreatedAt: Epoch.Add(-18 * time.Hour), Fragments: 15, Missing: 2, Bytes: ptr(uint64(311 << 10))},
	}
}

func ivfSegments() []engine.IndexSegment {
	return []engine.IndexSegment{{UUID: "16fd2706-8baf-433b-82eb-8c7fada847da", Version: 42, CreatedAt: Epoch.Add(-6 * time.Hour), Fragments: 61, Base: "s3://acme-graphs/harbor.omni/nodes/1f/tree/review/ports"}}
}

// harborLayouts are the layouts of all tables; that of edge:Registered has
// nothing in it, and nobody knows that of node:Carrier.
func harborLayouts() map[string]*engine.Fragments {
	calls := &engine.Fragments{Table: "edge:CallsAt", Branch: "main", Version: 89, Small: 2, TargetRows: 1 << 20, Rows: 912004, Bytes: 88 << 20,
		Histogram: []engine.Bucket{{From: 65536, To: 1<<20 - 1, Count: 2}},
		Indexes:   []engine.TableIndex{{Name: "src_btree", Kind: "btree", Fields: []string{"src"}, CoveredFragments: 2, CoveredRows: 912004, Segments: []engine.IndexSegment{}}},
		Fragments: []engine.Fragment{{ID: 3, Rows: 500_000, Files: []engine.FragmentFile{{Path: "data/aa.lance", Bytes: 44 << 20, Version: "2.1"}}}, {ID: 4, Rows: 412_004, Files: []engine.FragmentFile{{Path: "data/bb.lance", Bytes: 44 << 20, Version: "2.1"}}}},
	}
	empty := &engine.Fragments{Table: "edge:Registered", Branch: "main", Version: 1, TargetRows: 1 << 20, Fragments: []engine.Fragment{}, Indexes: []engine.TableIndex{}}
	vessels := &engine.Fragments{Table: "node:Vessel", Branch: "main", Version: 18, Small: 1, TargetRows: 1 << 20, Rows: 3908, Bytes: 2 << 20, Indexes: []engine.TableIndex{},
		Fragments: []engine.Fragment{{ID: 0, Rows: 3908, Files: []engine.FragmentFile{{Path: "data/cc.lance", Bytes: 2 << 20, Version: "2.1"}}}}}
	return map[string]*engine.Fragments{"node:Port": portLayout(), "edge:CallsAt": calls, "edge:Registered": empty, "node:Vessel": vessels}
}

// manifestBytes look like the beginning of a manifest.
func manifestBytes() []byte {
	b := append([]byte{0x2c, 0x03, 0x00, 0x00}, "\x08\x2a\x12\x24nodes/1f\x1b[31m/Port.lance"...)
	for i := range 96 {
		b = append(b, byte(i*37))
	}
	return append(bytes.Clone(b), "LANC"...)
}
