package engine_test

import (
	"context"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/txn/sidecar"
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

// Every recovery record is told: one that may be that of a writer at work
// leaves a graph clean, one that was left behind or cannot be read does not.
func TestVerifyTellsRecords(t *testing.T) {
	data, err := os.ReadFile("../txn/sidecar/testdata/mutation-armed.json")
	if err != nil {
		t.Fatal(err)
	}
	rec, problems, err := sidecar.Parse("__recovery/01M8KXRNSMKJSQZA1CVYM8QQ2J.json", data)
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	began, ok := rec.IDTime()
	if !ok {
		t.Fatalf("%s is no id", rec.OperationID)
	}
	key := "__recovery/" + rec.OperationID + ".json"
	for _, c := range []struct {
		name     string
		data     []byte
		age      time.Duration
		severity engine.Severity
		says     []string
	}{
		{"young", data, 29 * time.Second, engine.SeverityInfo, []string{"Mutation " + rec.OperationID + " on branch", "phase Armed", "started "}},
		{"left", data, 31 * time.Second, engine.SeverityWarn, []string{"Mutation " + rec.OperationID, "recovery will undo", rec.Pins[0].Alias}},
		{"cut", data[:len(data)/2], time.Second, engine.SeverityWarn, []string{key + " cannot be read", "every write to the graph is refused"}},
	} {
		for _, deep := range []bool{false, true} {
			store := memory(t, memstore.Options{Name: "g"}, with(graphFiles(t, "midlife"), map[string][]byte{key: c.data}))
			g := openAt(t, store.Properties().URL, engine.Options{Store: store, Clock: func() time.Time { return began.Add(c.age) }})
			v, err := g.Verify(t.Context(), engine.VerifyOptions{Deep: deep})
			if err != nil {
				t.Fatal(err)
			}
			if len(v.Problems) != 1 || v.Clean != (c.severity == engine.SeverityInfo) {
				t.Fatalf("%s, deep %v: clean %v, %+v", c.name, deep, v.Clean, v.Problems)
			}
			if p := v.Problems[0]; p.ID != "recovery-pending" || p.Severity != c.severity || p.Key != key {
				t.Errorf("%s, deep %v: %+v", c.name, deep, p)
			}
			says(t, c.name, v.Problems[0].Found, c.says...)
			waits, refused := time.Time{}, c.name == "cut"
			if c.name == "young" {
				waits = began.Add(30 * time.Second)
			}
			if info, err := g.Info(t.Context(), engine.At{}); err != nil || len(info.PendingRecovery) != 1 {
				t.Errorf("%s: %+v, %v", c.name, info, err)
			} else if p := info.PendingRecovery[0]; !p.WaitUntil.Equal(waits) || p.Refused != refused {
				t.Errorf("%s: it waits until %v, refused is %v", c.name, p.WaitUntil, p.Refused)
			} else if list, err := g.PendingRecords(t.Context()); err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], p) {
				t.Errorf("%s: %+v, %v; info says %+v", c.name, list, err, p)
			}
		}
	}
}
