package format

import (
	"strings"

	filepb "github.com/omnideck/omnideck/lance/pb/file"
)

// Proto is the flat list of fields, depth first, and the metadata, as manifests
// and transactions hold them.
func (s *Schema) Proto() (fields []*filepb.Field, metadata map[string][]byte) {
	var add func(fs []*Field)
	add = func(fs []*Field) {
		for _, f := range fs {
			fields = append(fields, f.Proto())
			add(f.Children)
		}
	}
	add(s.Fields)
	return fields, bytesMap(s.Metadata)
}

// IDs are the ids of all fields, depth first.
func (s *Schema) IDs() []int32 {
	fields, _ := s.Proto()
	out := make([]int32, len(fields))
	for i, f := range fields {
		out[i] = f.Id
	}
	return out
}

// Proto is the message of the field itself, without those below it.
func (f *Field) Proto() *filepb.Field {
	return &filepb.Field{
		Name: f.Name, Id: f.ID, ParentId: f.ParentID, LogicalType: f.LogicalType, Nullable: f.Nullable,
		ExtensionName: f.Metadata[MetaExtensionName], Metadata: bytesMap(f.Metadata), UnenforcedPrimaryKey: f.PrimaryKey,
		Encoding: legacyEncoding(f.LogicalType),
	}
}

// legacyEncoding is what the first format said of a type. Nobody reads it.
func legacyEncoding(t string) filepb.Encoding {
	switch t {
	case "struct", "null":
		return filepb.Encoding_NONE
	case "string", "large_string", "binary", "large_binary", "json":
		return filepb.Encoding_VAR_BINARY
	}
	if strings.HasPrefix(t, "dict:") {
		return filepb.Encoding_DICTIONARY
	}
	return filepb.Encoding_PLAIN
}

func bytesMap(m map[string]string) map[string][]byte {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string][]byte, len(m))
	for k, v := range m {
		out[k] = []byte(v)
	}
	return out
}
