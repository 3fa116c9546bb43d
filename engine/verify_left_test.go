package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine"
)

// problemsOf verifies a graph and picks the problems of one id.
func problemsOf(t *testing.T, files map[string][]byte, id string, deep bool) (clean bool, out []engine.Problem) {
	t.Helper()
	v, err := openFiles(t, files).Verify(context.Background(), engine.VerifyOptions{Deep: deep})
	if err != nil {
		t.Fatal(err)
	}
	return v.Clean, slices.DeleteFunc(slices.Clone(v.Problems), func(p engine.Problem) bool { return p.ID != id })
}

// The newest version of `__manifest` is gone and nothing but its transaction
// and a table above its published version tell. A recovery record that may be
// about the table explains it.
func TestVerifyLostManifest(t *testing.T) {
	files := graphFiles(t, "midlife")
	lost := with(files, map[string][]byte{newestManifest(t, files, "__manifest"): nil})
	clean, got := problemsOf(t, lost, "transaction", false)
	if clean || len(got) != 1 || got[0].Severity != engine.SeverityInfo || !strings.HasPrefix(got[0].Key, "__manifest/_transactions/14-") || got[0].Version != 14 {
		t.Errorf("transactions: clean %v, %+v", clean, got)
	}
	_, got = problemsOf(t, lost, "head-not-explained", false)
	if len(got) != 1 || got[0].Severity != engine.SeverityWarn || got[0].Table != "node:Vessel" || got[0].Branch != "main" || got[0].Version != 6 {
		t.Fatalf("heads: %+v", got)
	}
	says(t, "problem", got[0].Found, "6", "no recovery record")
	says(t, "problem", got[0].Expected, "5, which version 14", "not explained")
	_, got = problemsOf(t, with(lost, map[string][]byte{"__recovery/01M8KY0SB6JD72FG6GRYCYT9A5.json": []byte("{")}), "head-not-explained", false)
	if len(got) != 0 {
		t.Errorf("with a record that may be about it: %+v", got)
	}
}

// A branch whose ref is lost is shown nowhere; verify tells of its folder. One
// version may be what a killed creation left and leaves a graph clean, six were
// written by somebody.
func TestVerifyLostRef(t *testing.T) {
	files := graphFiles(t, "midlife")
	for ref, want := range map[string]struct {
		folder   string
		severity engine.Severity
		clean    bool
	}{
		"archive":            {"__manifest/tree/archive", engine.SeverityInfo, true},
		"review%2Fnew-calls": {"__manifest/tree/review", engine.SeverityWarn, false},
	} {
		key := "__manifest/_refs/branches/" + ref + ".json"
		if files[key] == nil {
			t.Fatalf("no %s", key)
		}
		clean, got := problemsOf(t, with(files, map[string][]byte{key: nil}), "branch-leftover", false)
		got = slices.DeleteFunc(got, func(p engine.Problem) bool { return p.Table != "__manifest" })
		if len(got) != 1 || got[0].Key != want.folder || got[0].Severity != want.severity || clean != want.clean {
			t.Fatalf("%s: clean %v, %+v", ref, clean, got)
		}
		says(t, "problem", got[0].Found, "killed create or delete", "lost ref", "not shown")
	}
}

// The ref of a table's branch is lost although the graph's branch publishes it.
func TestVerifyLostTableRef(t *testing.T) {
	files := graphFiles(t, "midlife")
	tried := 0
	for key := range files {
		table, ref, ok := strings.Cut(key, "/_refs/branches/")
		if !ok || table == "__manifest" {
			continue
		}
		tried++
		_, got := problemsOf(t, with(files, map[string][]byte{key: nil}), "branch-leftover", false)
		folder, _, _ := strings.Cut(strings.TrimSuffix(ref, ".json"), "%2F")
		if len(got) != 1 || got[0].Key != table+"/tree/"+folder || got[0].Table == "__manifest" {
			t.Errorf("%s: %+v", key, got)
		}
	}
	if tried == 0 {
		t.Error("no table has a branch")
	}
}

// A descriptor of a blob that points past its file is found, by file, property
// and number of rows.
func TestVerifyBlobDescriptor(t *testing.T) {
	files := graphFiles(t, "midlife")
	const folder = "nodes/0000000000000003-0000000000000029/data/"
	key := ""
	for k := range files {
		if strings.HasPrefix(k, folder+"1111001001111") {
			key = k
		}
	}
	flipped := slices.Clone(files[key])
	flipped[5833] ^= 0xff
	clean, got := problemsOf(t, with(files, map[string][]byte{key: flipped}), "blob", true)
	if clean || len(got) == 0 || got[0].Key != key || got[0].RowsAffected == 0 || got[0].Severity != engine.SeverityError {
		t.Fatalf("clean %v, %+v", clean, got)
	}
	says(t, "problem", got[0].Found, "column ", "1 blobs", "past the end of its object")
}
