package format

import (
	"strings"

	filepb "github.com/omnideck/omnideck/lance/pb/file"
)

// Metadata keys of fields that change how a column is stored or read.
const (
	MetaExtensionName     = "ARROW:extension:name"
	MetaExtensionMetadata = "ARROW:extension:metadata"
	MetaBlob              = "lance-encoding:blob"
	MetaPrimaryKey        = "lance-schema:unenforced-primary-key"
	ExtBlobV2             = "lance.blob.v2"
	ExtJSON               = "lance.json"
)

// maxDepth bounds the nesting of a schema, and with it every recursion over
// one.
const maxDepth = 64

// SchemaFromProto builds the tree from the flat list of fields in depth-first
// order. Children that a file's own schema gives the id -1 (those of a blob v2
// column) hang below the last field that is a blob.
func SchemaFromProto(fields []*filepb.Field, metadata map[string][]byte) (*Schema, error) {
	s := &Schema{Metadata: textMap(metadata)}
	type node struct {
		f     *Field
		depth int
	}
	byID := make(map[int32]node, len(fields))
	var blob *Field
	for _, p := range fields {
		f := fieldFromProto(p)
		if f.ID == -1 && f.ParentID == -1 && blob != nil {
			f.ParentID = blob.ID
			blob.Children = append(blob.Children, f)
			continue
		}
		if f.ID < 0 {
			return nil, Corruptf("field %q has the id %d; ids are 0 or greater", f.Name, f.ID)
		}
		if prev, dup := byID[f.ID]; dup {
			return nil, Corruptf("fields %q and %q share the id %d", prev.f.Name, f.Name, f.ID)
		}
		n := node{f, 0}
		if f.ParentID == -1 {
			s.Fields = append(s.Fields, f)
		} else {
			parent, ok := byID[f.ParentID]
			if !ok {
				return nil, Corruptf("field %q (id %d) names parent %d, which does not stand before it", f.Name, f.ID, f.ParentID)
			}
			if n.depth = parent.depth + 1; n.depth > maxDepth {
				return nil, Corruptf("field %q lies more than %d levels deep", f.Name, maxDepth)
			}
			parent.f.Children = append(parent.f.Children, f)
		}
		byID[f.ID] = n
		if blob = nil; f.Blob() != NoBlob {
			blob = f
		}
	}
	return s, nil
}

func fieldFromProto(p *filepb.Field) *Field {
	f := &Field{
		ID: p.GetId(), ParentID: p.GetParentId(), Name: p.GetName(), LogicalType: p.GetLogicalType(),
		Nullable: p.GetNullable(), Metadata: textMap(p.GetMetadata()),
	}
	f.PrimaryKey = p.GetUnenforcedPrimaryKey() || truthy(f.Metadata[MetaPrimaryKey])
	if ext := p.GetExtensionName(); ext != "" && f.Metadata[MetaExtensionName] == "" {
		if f.Metadata == nil {
			f.Metadata = map[string]string{}
		}
		f.Metadata[MetaExtensionName] = ext
	}
	return f
}

func truthy(s string) bool {
	switch strings.ToLower(s) {
	case "true", "1", "yes":
		return true
	}
	return false
}

func textMap(m map[string][]byte) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = string(v)
	}
	return out
}

// BlobVersion says how a column keeps large binaries, if it does.
type BlobVersion uint8

// The forms of blob columns.
const (
	NoBlob BlobVersion = iota
	BlobV1             // payloads in the data file, descriptor {position, size}
	BlobV2             // descriptor {kind, position, size, blob_id, blob_uri}
)

// Blob says whether the field is a blob column, and of which form.
func (f *Field) Blob() BlobVersion {
	isStruct := f.LogicalType == "struct"
	switch {
	case isStruct && (f.Metadata[MetaExtensionName] == ExtBlobV2 || truthy(f.Metadata[MetaBlob])):
		return BlobV2
	case f.LogicalType == "blob", !isStruct && truthy(f.Metadata[MetaBlob]):
		return BlobV1
	}
	return NoBlob
}

// Packed reports whether a struct is stored as one column.
func (f *Field) Packed() bool {
	return f.LogicalType == "struct" && (strings.EqualFold(f.Metadata["packed"], "true") || strings.EqualFold(f.Metadata["lance-encoding:packed"], "true"))
}

// Lookup finds a top-level field by name, or nil.
func (s *Schema) Lookup(name string) *Field {
	for _, f := range s.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// ByID finds a field at any depth, or nil.
func (s *Schema) ByID(id int32) *Field {
	var find func(fs []*Field) *Field
	find = func(fs []*Field) *Field {
		for _, f := range fs {
			if f.ID == id {
				return f
			}
			if g := find(f.Children); g != nil {
				return g
			}
		}
		return nil
	}
	return find(s.Fields)
}

// PrimaryKey are the fields of the unenforced primary key, in schema order.
func (s *Schema) PrimaryKey() []*Field {
	var out []*Field
	for _, f := range s.Fields {
		if f.PrimaryKey {
			out = append(out, f)
		}
	}
	return out
}
