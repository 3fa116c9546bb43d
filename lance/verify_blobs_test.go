package lance_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
)

// TestVerifyBlobs: a descriptor that points past its file, and side-cars that
// are cut or gone, are found by a deep look, by column and number of rows.
func TestVerifyBlobs(t *testing.T) {
	pick := func(files map[string][]byte, suffix string) string {
		for _, k := range slices.Sorted(maps.Keys(files)) {
			if strings.HasPrefix(k, "data/") && strings.HasSuffix(k, suffix) {
				return k
			}
		}
		t.Fatalf("no data file ends in %s: %v", suffix, slices.Sorted(maps.Keys(files)))
		return ""
	}
	archive, err := fixtures.Shared("lance", "fixtures.tar.gz")
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	all, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	dedicated, packed := under(all, "lf/blob_v2_dedicated@2.2/data.lance"), under(all, "lf/blob_v2_packed@2.2/data.lance")
	for what, c := range map[string]struct {
		good   map[string][]byte
		victim string
		keep   int // bytes; -1 = gone
		words  string
	}{
		"dedicated, gone":  {dedicated, pick(dedicated, ".blob"), -1, "column b: 1 blobs whose object is missing"},
		"dedicated, short": {dedicated, pick(dedicated, ".blob"), 10, "column b: 1 blobs whose descriptor reaches past the end of its object"},
		"packed, gone":     {packed, pick(packed, ".blob"), -1, "blobs whose object is missing"},
		"packed, short":    {packed, pick(packed, ".blob"), 10, "blobs whose descriptor reaches past the end of its object"},
	} {
		if got := deepProblems(t, c.good); len(got) != 0 {
			t.Fatalf("%s, undamaged: %+v", what, got)
		}
		damaged := maps.Clone(c.good)
		if damaged[c.victim] = c.good[c.victim][:max(c.keep, 0)]; c.keep < 0 {
			delete(damaged, c.victim)
		}
		got := deepProblems(t, damaged)
		if len(got) != 1 || got[0].ID != "blob" || got[0].Key != c.victim || got[0].RowsAffected == 0 || !strings.Contains(got[0].Found, c.words) {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// TestVerifyInlineBlobs: a flip that makes a descriptor point past its file is
// found by a deep look; one inside a payload is not.
func TestVerifyInlineBlobs(t *testing.T) {
	good := under(graph(t, "midlife"), "nodes/0000000000000003-0000000000000029")
	key := ""
	for k := range good {
		if strings.HasPrefix(k, "data/1111001001111") {
			key = k
		}
	}
	column := ""
	for _, f := range open(t, inMemory(t, "good", good), "", lance.OpenOptions{}).Schema().Fields {
		if f.Blob() != format.NoBlob {
			column = f.Name
		}
	}
	if got := deepProblems(t, good); key == "" || column == "" || len(got) != 0 {
		t.Fatalf("undamaged: file %q, blobs in column %q, %+v", key, column, got)
	}
	damaged := maps.Clone(good)
	damaged[key] = slices.Clone(good[key])
	damaged[key][5833] ^= 0xff
	got := deepProblems(t, damaged)
	if len(got) != 1 || got[0].ID != "blob" || got[0].Key != key || got[0].RowsAffected == 0 || !strings.Contains(got[0].Found, "column "+column+": ") || !strings.Contains(got[0].Found, "past the end") {
		t.Errorf("byte 5833: %+v", got)
	}
	// A payload has no check sum: nothing can see this one, and nothing is made up.
	damaged[key] = slices.Clone(good[key])
	damaged[key][514] ^= 0xff
	if got := deepProblems(t, damaged); len(got) != 0 {
		t.Errorf("byte 514, inside a payload: %+v", got)
	}
}
