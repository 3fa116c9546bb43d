package manifest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/manifest"
)

// restamped is the demo graph with another stamp in its newest manifest.
func restamped(t *testing.T, edit func(manifest []byte) []byte) *memstore.Store {
	t.Helper()
	files := graph(t, fixtures.Demo)
	key := open(t, store(t, files), manifest.Options{}).Snapshot.Object().Key
	files[key] = edit(bytes.Clone(files[key]))
	return store(t, files)
}

// stampBytes is the map entry as protobuf has it: key, then tag 2 and one byte
// of value.
var stampBytes = append([]byte(manifest.StampKey), 0x12, 0x01, '6')

func stamp(c byte) func([]byte) []byte {
	return func(data []byte) []byte {
		at := bytes.LastIndex(data, stampBytes)
		data[at+len(stampBytes)-1] = c
		return data
	}
}

// Every generation opens as far as its rows mean what they say; the stamp is
// what is said first.
func TestStamps(t *testing.T) {
	for what, c := range map[string]struct {
		edit    func([]byte) []byte
		version int
		newer   bool
		finding string
	}{
		"current":   {stamp('6'), 6, false, ""},
		"five":      {stamp('5'), 5, false, "internal schema version 5"},
		"newer":     {stamp('7'), 7, true, "up to 6"},
		"no number": {stamp('x'), 0, false, `"x"`},
		"no stamp": {func(b []byte) []byte {
			return bytes.Replace(b, []byte("omnigraph:internal"), []byte("omnigraph:infernal"), -1)
		}, 0, false, "no internal schema stamp"},
		"other layout": {func(b []byte) []byte {
			return bytes.Replace(b, []byte("stable_table_id"), []byte("stable_table_xx"), -1)
		}, 6, false, "lacks the identity columns"},
	} {
		s := restamped(t, c.edit)
		h, err := manifest.Peek(context.Background(), s, manifest.Options{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if h.Stamp.Version != c.version || h.Stamp.Newer() != c.newer || h.Stamp.OK() != (c.finding == "") || !strings.Contains(h.Stamp.Finding(), c.finding) {
			t.Errorf("%s: stamp %+v says %q", what, h.Stamp, h.Stamp.Finding())
		}
		v, err := h.Read(context.Background())
		var refused *manifest.StampError
		switch {
		case c.newer:
			if !errors.As(err, &refused) || !errors.Is(err, format.ErrUnsupported) || refused.Error() != h.Stamp.Finding() {
				t.Errorf("%s: error %v", what, err)
			}
		case err != nil || len(v.Tables) != 9:
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A column that every generation has is gone, or of another type.
func TestColumns(t *testing.T) {
	for what, edit := range map[string][2]string{
		"missing": {"table_key", "table_kex"}, "another type": {"uint64", "uint32"},
	} {
		s := restamped(t, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(edit[0]), []byte(edit[1])) })
		h, err := manifest.Peek(context.Background(), s, manifest.Options{})
		if err != nil || !h.Stamp.OK() {
			t.Errorf("%s: head %v, error %v", what, h, err)
			continue
		}
		if _, err := h.Read(context.Background()); !errors.Is(err, format.ErrCorrupt) || !strings.Contains(err.Error(), "column") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func legacy(t *testing.T, generation string) *memstore.Store {
	t.Helper()
	archive, err := os.ReadFile("testdata/legacy.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for key, data := range unpack(t, archive) {
		if rest, ok := strings.CutPrefix(key, generation+"/"); ok {
			files[rest] = data
		}
	}
	return store(t, files)
}

func TestLegacyLayouts(t *testing.T) {
	for generation, want := range map[string][]string{
		"v1": {"edge:Knows edges/8b1b2c3d4e5f6072 2@dev 5", "node:Person nodes/7a1b2c3d4e5f6071 2@ 3"},
		"v4": {"edge:Knows edges/8b1b2c3d4e5f6072 1@ 0", "node:Person nodes/7a1b2c3d4e5f6071 2@ 3"},
	} {
		v := open(t, legacy(t, generation), manifest.Options{})
		var got []string
		for _, e := range v.Tables {
			got = append(got, fmt.Sprintf("%s %s %d@%s %d", e.Alias, e.Location, e.Version, e.Owner, e.Rows))
			if e.Doubt == "" {
				t.Errorf("%s: %s passes for checked", generation, e.Alias)
			}
		}
		if !slices.Equal(got, want) || len(v.Problems) != 0 {
			t.Errorf("%s: tables %q, want %q; problems %v", generation, got, want, v.Problems)
		}
		if v.Stamp.OK() || v.Stamp.Modern || v.Stamp.Finding() == "" {
			t.Errorf("%s: stamp %+v", generation, v.Stamp)
		}
		id, own := v.State.Head("")
		if commits := map[string]int{"v1": 0, "v4": 2}[generation]; v.Commits.Len() != commits || (v.LineageDoubt != "") != (commits == 0) || own != (commits > 0) || own && id != v.Commits.ID(0) {
			t.Errorf("%s: %d commits, head %s, doubt %q", generation, v.Commits.Len(), id, v.LineageDoubt)
		}
	}
}
