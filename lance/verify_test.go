package lance_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
)

// demoTable is a table of the demo graph of several fragments, with a branch,
// and the data file of it that holds a text.
func demoTable(t *testing.T, text string) (files map[string][]byte, key string) {
	t.Helper()
	files = maps.Clone(under(graph(t, fixtures.Demo), "nodes/0000000000000004-000000000000002a"))
	for _, k := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(k, "data/") && bytes.Contains(files[k], []byte(text)) {
			return files, k
		}
	}
	t.Fatalf("no data file of the demo graph's ports holds %q", text)
	return nil, ""
}

// deepProblems are the errors that a deep look at the newest version finds.
func deepProblems(t *testing.T, files map[string][]byte) []lance.Problem {
	t.Helper()
	s := open(t, inMemory(t, "deep", files), "", lance.OpenOptions{})
	rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true, Refs: true, Chains: true})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(rep.Problems, func(p lance.Problem) bool { return p.Severity != "error" })
}

// TestVerifyDecodes: what is wrong inside a page is found though the file
// opens, and once.
func TestVerifyDecodes(t *testing.T) {
	files, key := demoTable(t, "Singapore")
	if got := deepProblems(t, files); len(got) != 0 {
		t.Fatalf("undamaged: %+v", got)
	}
	text := bytes.Clone(files[key])
	text[bytes.Index(text, []byte("Singapore"))+2] ^= 0xff
	damaged := maps.Clone(files)
	damaged[key] = text
	if got := deepProblems(t, damaged); len(got) != 1 || got[0].ID != "text" || got[0].Key != key || got[0].RowsAffected != 1 || !strings.Contains(got[0].Found, "column name: 1 ") {
		t.Errorf("a text that is not UTF-8: %+v", got)
	}
	unseen, cut := 0, 0
	for at := 0; at < len(text); at += 13 {
		page := bytes.Clone(files[key])
		page[at] ^= 0xff
		damaged[key] = page
		var scanned error
		for batch, err := range open(t, inMemory(t, "scan", damaged), "", lance.OpenOptions{}).Scan(t.Context(), lance.ScanOptions{}) {
			if scanned = err; err == nil {
				batch.Release()
			}
		}
		if scanned == nil {
			continue
		}
		cut++
		if got := deepProblems(t, damaged); len(got) != 1 || got[0].ID != "rows" || got[0].Key != key {
			unseen++
			t.Errorf("byte %d: scanning fails (%v), a deep look finds %+v", at, scanned, got)
		}
		if unseen > 3 {
			break
		}
	}
	if cut < 60 {
		t.Errorf("only %d flipped bytes make scanning fail: too few to say anything", cut)
	}
}

// TestVerifyReadsChain: an old manifest that cannot be read is found, on main
// and on branches.
func TestVerifyReadsChain(t *testing.T) {
	files, _ := demoTable(t, "Singapore")
	names := slices.Sorted(maps.Keys(files))
	for prefix, older := range map[string]int{"_versions/": 4, "tree/fix/ports/_versions/": 1} {
		var of []string
		for _, k := range names {
			if strings.HasPrefix(k, prefix) {
				of = append(of, k)
			}
		}
		victim := of[older] // newest first
		damaged := maps.Clone(files)
		damaged[victim] = damaged[victim][:len(damaged[victim])/2]
		if got := deepProblems(t, damaged); len(got) != 1 || got[0].ID != "version-unreadable" || got[0].Key != victim || got[0].Version == 0 {
			t.Errorf("%s cut: %+v", victim, got)
		}
	}
}

// TestVerifyEmptyDeletions: of a deletion file no length is recorded; an empty
// one is found all the same, by a look that reads nothing.
func TestVerifyEmptyDeletions(t *testing.T) {
	files, _ := demoTable(t, "Singapore")
	deletions := open(t, inMemory(t, "whole", files), "", lance.OpenOptions{}).Manifest().Fragments[0].Deletion
	if deletions == nil {
		t.Fatal("the demo graph's ports lost their deletion file")
	}
	victim := ""
	for k := range files {
		if strings.HasPrefix(k, "_deletions/0-10-") {
			victim = k
		}
	}
	damaged := maps.Clone(files)
	damaged[victim] = nil
	rep, err := lance.Verify(t.Context(), open(t, inMemory(t, "empty", damaged), "", lance.OpenOptions{}), lance.VerifyOptions{})
	if err != nil || len(rep.Problems) != 1 || rep.Problems[0].ID != "file-size" || rep.Problems[0].Key != victim || rep.Problems[0].RowsAffected == 0 {
		t.Errorf("%s empty: %+v, %v", victim, rep, err)
	}
}
