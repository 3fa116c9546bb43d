package commit

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// Metadata keys of fields that Lance reserves.
const (
	metaPrimaryKeyAt    = "lance-schema:unenforced-primary-key:position"
	metaClusteringKeyAt = "lance-schema:unenforced-clustering-key:position"
)

// newForm spells the older fields of an UpdateConfig in the newer ones.
func newForm(o *tablepb.UpdateConfig) (*tablepb.UpdateConfig, bool) {
	older := len(o.GetUpsertValues()) > 0 || len(o.GetDeleteKeys()) > 0 || len(o.GetSchemaMetadata()) > 0 || len(o.GetFieldMetadata()) > 0
	newer := o.ConfigUpdates != nil || o.TableMetadataUpdates != nil || o.SchemaMetadataUpdates != nil || len(o.GetFieldMetadataUpdates()) > 0
	if !older || newer {
		return o, !older
	}
	out := &tablepb.UpdateConfig{}
	if len(o.GetUpsertValues()) > 0 || len(o.GetDeleteKeys()) > 0 {
		out.ConfigUpdates = setAll(o.GetUpsertValues(), false)
		for _, k := range o.GetDeleteKeys() {
			out.ConfigUpdates.UpdateEntries = append(out.ConfigUpdates.UpdateEntries, &tablepb.UpdateMapEntry{Key: k})
		}
	}
	if len(o.GetSchemaMetadata()) > 0 {
		out.SchemaMetadataUpdates = setAll(o.GetSchemaMetadata(), true)
	}
	if len(o.GetFieldMetadata()) > 0 {
		out.FieldMetadataUpdates = map[int32]*tablepb.UpdateMap{}
		for id, u := range o.GetFieldMetadata() {
			out.FieldMetadataUpdates[int32(id)] = setAll(u.GetMetadata(), true)
		}
	}
	return out, true
}

func setAll(m map[string]string, replace bool) *tablepb.UpdateMap {
	out := &tablepb.UpdateMap{Replace: replace}
	for k, v := range m {
		out.UpdateEntries = append(out.UpdateEntries, &tablepb.UpdateMapEntry{Key: k, Value: proto.String(v)})
	}
	return out
}

// apply changes a map, and makes it where there is none.
func apply[V string | []byte](m map[string]V, u *tablepb.UpdateMap) map[string]V {
	if u.GetReplace() {
		clear(m)
	}
	for _, e := range u.GetUpdateEntries() {
		if e.Value == nil {
			delete(m, e.GetKey())
			continue
		}
		if m == nil {
			m = map[string]V{}
		}
		m[e.GetKey()] = V(e.GetValue())
	}
	return m
}

func (b *builder) updateConfig(o *tablepb.UpdateConfig) error {
	u, ok := newForm(o)
	if !ok {
		return b.invalid("it mixes the older and the newer form of updates")
	}
	b.m.Config = apply(b.m.Config, u.ConfigUpdates)
	b.m.TableMetadata = apply(b.m.TableMetadata, u.TableMetadataUpdates)
	b.m.SchemaMetadata = apply(b.m.SchemaMetadata, u.SchemaMetadataUpdates)
	if len(u.GetFieldMetadataUpdates()) == 0 {
		return nil
	}
	fields := make([]*filepb.Field, len(b.m.GetFields()))
	for i, f := range b.m.GetFields() {
		fields[i] = proto.CloneOf(f)
	}
	keyed := false
	for _, id := range slices.Sorted(maps.Keys(u.GetFieldMetadataUpdates())) {
		change := u.GetFieldMetadataUpdates()[id]
		at := slices.IndexFunc(fields, func(f *filepb.Field) bool { return f.GetId() == id })
		if at < 0 {
			return b.invalid("it changes metadata of field %d, which the table does not have", id)
		}
		keyed = keyed || slices.ContainsFunc(change.GetUpdateEntries(), func(e *tablepb.UpdateMapEntry) bool {
			return e.GetKey() == format.MetaPrimaryKey || e.GetKey() == metaPrimaryKeyAt || e.GetKey() == metaClusteringKeyAt
		})
		setMetadata(fields[at], change)
	}
	before, after := keys(b.m.GetFields()), keys(fields)
	switch {
	case before != "" && (keyed || before != after):
		return b.invalid("the table's key is set and cannot be changed by metadata")
	case before == "" && keyed && after == "":
		return b.invalid("it sets a key to what is no key")
	}
	b.m.Fields = fields
	return nil
}

// setMetadata changes the metadata of a field, and what is said twice.
func setMetadata(f *filepb.Field, u *tablepb.UpdateMap) {
	f.Metadata = apply(f.Metadata, u)
	f.ExtensionName = string(f.Metadata[format.MetaExtensionName])
	at, err := strconv.ParseUint(string(f.Metadata[metaPrimaryKeyAt]), 10, 32)
	f.UnenforcedPrimaryKeyPosition = uint32(at)
	f.UnenforcedPrimaryKey = err == nil || slices.Contains([]string{"true", "1", "yes"}, strings.ToLower(string(f.Metadata[format.MetaPrimaryKey])))
	at, err = strconv.ParseUint(string(f.Metadata[metaClusteringKeyAt]), 10, 32)
	f.UnenforcedClusteringKeyPosition = uint32(at)
	f.UnenforcedClusteringKey = err == nil
}

// keys spells the fields of the unenforced keys.
func keys(fields []*filepb.Field) string {
	var out []byte
	for _, f := range fields {
		if f.GetUnenforcedPrimaryKey() || f.GetUnenforcedClusteringKey() {
			out = strconv.AppendInt(append(out, ' '), int64(f.GetId()), 10)
			out = strconv.AppendUint(append(out, ':'), uint64(f.GetUnenforcedPrimaryKeyPosition()), 10)
			out = strconv.AppendUint(append(out, ':'), uint64(f.GetUnenforcedClusteringKeyPosition()), 10)
		}
	}
	return string(out)
}

func (b *builder) updateBases(o *tablepb.UpdateBases) error {
	for _, n := range o.GetNewBases() {
		next := uint32(1)
		for _, p := range b.m.GetBasePaths() {
			if (p.Name != nil && n.Name != nil && p.GetName() == n.GetName()) || p.GetPath() == n.GetPath() || n.GetId() != 0 && p.GetId() == n.GetId() {
				return b.invalid("base %d (%s) has the id, name or path of base %d", n.GetId(), n.GetPath(), p.GetId())
			}
			next = max(next, p.GetId()+1)
		}
		n = proto.CloneOf(n)
		if n.GetId() == 0 {
			n.Id = next
		}
		b.m.BasePaths = append(b.m.BasePaths, n)
	}
	return nil
}
