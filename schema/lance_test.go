package schema

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/format"
)

func spellFields(fields []*format.Field, indent string) (out []string) {
	for _, f := range fields {
		var md []string
		for _, k := range slices.Sorted(maps.Keys(f.Metadata)) {
			md = append(md, k+"="+f.Metadata[k])
		}
		out = append(out, fmt.Sprintf("%s%d<%d %s %s null=%v key=%v %v", indent, f.ID, f.ParentID, f.Name, f.LogicalType, f.Nullable, f.PrimaryKey, md))
		out = append(out, spellFields(f.Children, indent+" ")...)
	}
	return out
}

// The first version of every table is what the Rust engine created for the
// same schema.
func TestLanceSchemaIsWhatTheRustEngineCreated(t *testing.T) {
	graphs := map[string]map[string][]byte{"midlife": fixture(t)}
	if archive, err := fixtures.Shared("graphs", "wide.tar.gz"); err != nil {
		t.Logf("SKIPPED wide: %v", err)
	} else if graphs["wide"], err = fixtures.Unpack(archive); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for name, files := range graphs {
		ir := mustParse(t, string(files[IRKey]))
		for _, types := range [][]Type{ir.Nodes, ir.Edges} {
			for i := range types {
				ty := &types[i]
				key := fmt.Sprintf("%ss/%016x-%016x/_versions/%020d.manifest", ty.Kind, ty.ID, ty.Incarnation, uint64(math.MaxUint64)-1)
				file, ok := files[key]
				if !ok {
					t.Logf("%s keeps no first version of %s", name, ty.Alias())
					continue
				}
				m, err := format.ParseManifest(file)
				if err != nil {
					t.Fatal(err)
				}
				got, want := ty.LanceSchema(), m.Schema
				if g, w := spellFields(got.Fields, ""), spellFields(want.Fields, ""); !slices.Equal(g, w) || len(want.Metadata) != 0 {
					t.Errorf("%s of %s (metadata %v):\n%s\nwant\n%s", ty.Alias(), name, want.Metadata, strings.Join(g, "\n"), strings.Join(w, "\n"))
				}
				compared++
			}
		}
	}
	if compared < 5 {
		t.Errorf("only %d tables were compared", compared)
	}
}

// What Columns tells of a type and what a scan of its table gives agree.
func TestLanceSchemaScansAsColumns(t *testing.T) {
	ir := mustParse(t, string(fixture(t)[IRKey]))
	for _, types := range [][]Type{ir.Nodes, ir.Edges} {
		for i := range types {
			arrow, err := types[i].LanceSchema().Arrow()
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range types[i].Columns() {
				f := arrow.Field(k)
				if f.Name != c.Name || f.Nullable != c.Nullable || !c.Blob && f.Type.Fingerprint() != c.Arrow.Fingerprint() {
					t.Errorf("%s: a scan gives %v, Columns says %+v", types[i].Alias(), f, c)
				}
			}
		}
	}
}
