package lance_test

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// text spells a whole table, row by row.
func text(in table, names ...string) string {
	var rows []string
	for i := range in.rows {
		var cells []string
		for _, n := range names {
			cells = append(cells, value(in.cols[n], i))
		}
		rows = append(rows, strings.Join(cells, ","))
	}
	return strings.Join(rows, " ")
}

func scanText(t *testing.T, s *lance.Snapshot, names ...string) string {
	t.Helper()
	return text(collect(t, s.Scan(t.Context(), lance.ScanOptions{Columns: names})), names...)
}

// TestCase7Refs: leftovers, nested names, a tag without target.
func TestCase7Refs(t *testing.T) {
	store := inMemory(t, "case7", field(t, "refs"))
	list, err := refs.List(t.Context(), store, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range list.Branches {
		names = append(names, b.Name)
		if s := open(t, store, "", lance.OpenOptions{Branch: b.Name}); s.Branch() != b.Name || scanText(t, s, "id") != "a" {
			t.Errorf("branch %s opens as %q", b.Name, s.Branch())
		}
	}
	if want := []string{"A", "a", "f/x", "ünï"}; !slices.Equal(names, want) {
		t.Errorf("branches %q, want %q", names, want)
	}
	rep, err := lance.Verify(t.Context(), open(t, store, "", lance.OpenOptions{}), lance.VerifyOptions{Refs: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range rep.Problems {
		got = append(got, p.ID+" "+p.Key)
	}
	want := []string{
		"ref-case _refs", "tag-branch _refs/tags/keep-dev.json",
		"branch-leftover tree/a b", "branch-leftover tree/a%2Fb", "branch-leftover tree/a:b", "branch-leftover tree/f/_transactions", "branch-leftover tree/f/_versions",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !rep.Clean() {
		t.Error("leftovers are no errors")
	}
	if _, err := lance.Open(t.Context(), store, "", lance.OpenOptions{Branch: "dev"}); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("deleted branch: %v", err)
	}
}

// newestManifest is the key of version 4 of case 8.
const newestManifest = "_versions/18446744073709551611.manifest"

// TestCase8Corrupt: the newest manifest empty or cut.
func TestCase8Corrupt(t *testing.T) {
	good := field(t, "four")
	for what, size := range map[string]int{"empty": 0, "half": len(good[newestManifest]) / 2} {
		bad := maps.Clone(good)
		bad[newestManifest] = good[newestManifest][:size]
		store := inMemory(t, "case8", bad)
		_, err := lance.Open(t.Context(), store, "", lance.OpenOptions{})
		var damaged *lance.DamagedManifestError
		if !errors.As(err, &damaged) || !errors.Is(err, format.ErrCorrupt) {
			t.Fatalf("%s: %v", what, err)
		}
		want := lance.DamagedManifestError{Key: newestManifest, Size: int64(size), Version: 4, Latest: true, NewestReadable: 3, NewestReadableRows: 9, Tried: 1, Err: damaged.Err}
		if *damaged != want {
			t.Errorf("%s: %+v", what, *damaged)
		}
		if s := open(t, store, "", lance.OpenOptions{Version: 3}); scanText(t, s, "id") != "0 1 2 10 11 12 20 21 22" {
			t.Errorf("%s: version 3 has other rows", what)
		}
		if _, err := lance.Open(t.Context(), store, "", lance.OpenOptions{Version: 4}); !errors.As(err, &damaged) || damaged.Latest || damaged.NewestReadable != 0 {
			t.Errorf("%s, version 4 by number: %v", what, err)
		}
		chain, err := lance.Versions(t.Context(), store, "", lance.ListOptions{})
		if err != nil || len(chain.Versions) != 4 {
			t.Fatalf("%s: %d versions, %v", what, len(chain.Versions), err)
		}
		readable := 0
		for s, err := range lance.ReadVersions(t.Context(), store, "", chain.Versions, lance.OpenOptions{}) {
			if s != nil {
				readable++
			} else if !errors.As(err, &damaged) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if readable != 3 {
			t.Errorf("%s: %d versions can be read, want 3", what, readable)
		}
	}
}

// TestCase8AllDamaged: no version can be read, and nothing is made up.
func TestCase8AllDamaged(t *testing.T) {
	bad := field(t, "four")
	for key := range bad {
		if strings.HasSuffix(key, ".manifest") {
			bad[key] = []byte("LANC")
		}
	}
	_, err := lance.Open(t.Context(), inMemory(t, "case8", bad), "", lance.OpenOptions{})
	var damaged *lance.DamagedManifestError
	if !errors.As(err, &damaged) || damaged.NewestReadable != 0 || damaged.Tried != 3 {
		t.Errorf("%v", err)
	}
}

// TestCase8DataFile: a data file empty or gone.
func TestCase8DataFile(t *testing.T) {
	good := field(t, "four")
	s := open(t, inMemory(t, "case8", good), "", lance.OpenOptions{})
	victim := s.Fragments()[2].Files[0].DataPath()
	for what, spoil := range map[string]func(map[string][]byte){
		"empty": func(f map[string][]byte) { f[victim] = nil },
		"gone":  func(f map[string][]byte) { delete(f, victim) },
		"short": func(f map[string][]byte) { f[victim] = f[victim][:100] },
	} {
		bad := maps.Clone(good)
		spoil(bad)
		s := open(t, inMemory(t, "case8", bad), "", lance.OpenOptions{})
		if n, known := s.CountRows(); s.Version() != 4 || n != 12 || !known {
			t.Errorf("%s: version %d with %d rows", what, s.Version(), n)
		}
		checkDamage(t, what, s, victim)
	}
}

func checkDamage(t *testing.T, what string, s *lance.Snapshot, victim string) {
	t.Helper()
	rows := 0
	var fe *lance.FragmentError
	for rec, err := range s.Scan(t.Context(), lance.ScanOptions{}) {
		if err != nil {
			if !errors.As(err, &fe) {
				t.Fatalf("%s: %v", what, err)
			}
			break
		}
		rows += int(rec.NumRows())
		rec.Release()
	}
	wantErr := format.ErrCorrupt
	if what == "gone" {
		wantErr = blob.ErrNotExist
	}
	if fe == nil || rows != 6 || fe.Fragment != 2 || fe.Key != victim || fe.Rows != 3 || !errors.Is(fe, wantErr) || !strings.Contains(fe.Error(), "3 rows affected") {
		t.Errorf("%s: after %d rows: %v", what, rows, fe)
	}
	var skipped []uint64
	o := lance.ScanOptions{Columns: []string{"id"}, OnDamaged: func(e *lance.FragmentError) bool {
		skipped = append(skipped, e.Fragment)
		return true
	}}
	if got := text(collect(t, s.Scan(t.Context(), o)), "id"); got != "0 1 2 10 11 12 30 31 32" || !slices.Equal(skipped, []uint64{2}) {
		t.Errorf("%s: %s, skipped %v", what, got, skipped)
	}
	o = lance.ScanOptions{Columns: []string{"id"}, Fragments: []uint64{3, 1}}
	if got := text(collect(t, s.Scan(t.Context(), o)), "id"); got != "10 11 12 30 31 32" {
		t.Errorf("%s: fragments 1 and 3 are %s", what, got)
	}
	for _, deep := range []bool{false, true} {
		rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: deep})
		if err != nil || len(rep.Problems) != 1 || rep.Problems[0].Key != victim || rep.Problems[0].RowsAffected != 3 || rep.Clean() {
			t.Errorf("%s, deep %v: %+v, %v", what, deep, rep, err)
		}
	}
}

// TestCase10History: which version is the latest, whatever lies about.
func TestCase10History(t *testing.T) {
	good := field(t, "four")
	name := func(v uint64) string { return "_versions/" + format.ManifestName(v) }
	hint := "_versions/" + format.HintName
	set := func(key, text string) func(map[string][]byte) {
		return func(f map[string][]byte) { f[key] = []byte(text) }
	}
	for _, c := range []struct {
		what     string
		change   func(map[string][]byte)
		latest   uint64
		versions []uint64
		findings []string
		aside    int // detached
	}{
		{"nothing", func(map[string][]byte) {}, 4, []uint64{4, 3, 2, 1}, nil, 0},
		{"hint says 2", set(hint, `{"version":2}`), 4, []uint64{4, 3, 2, 1}, []string{"hint-stale info"}, 0},
		{"hint says 9", set(hint, `{"version":9}`), 4, []uint64{4, 3, 2, 1}, []string{"hint-ahead warn"}, 0},
		{"hint is xx", set(hint, `xx`), 4, []uint64{4, 3, 2, 1}, []string{"hint-unreadable info"}, 0},
		{"hint is empty", set(hint, ``), 4, []uint64{4, 3, 2, 1}, []string{"hint-unreadable info"}, 0},
		{"hint is missing", func(f map[string][]byte) { delete(f, hint) }, 4, []uint64{4, 3, 2, 1}, []string{"hint-missing info"}, 0},
		{"manifest 3 missing", func(f map[string][]byte) { delete(f, name(3)) }, 4, []uint64{4, 2, 1}, []string{"gap info"}, 0},
		{"manifest 4 missing", func(f map[string][]byte) { delete(f, name(4)) }, 3, []uint64{3, 2, 1}, []string{"hint-ahead warn"}, 0},
		{"extra names", func(f map[string][]byte) {
			// The last one has the shape of the temporary files of local stores, which hide it.
			for _, n := range []string{name(5) + ".bak", "_versions/.tmp_x", "_versions/#" + path.Base(name(7)), "_versions/0.tmp", name(9) + "#1"} {
				f[n] = []byte("?")
			}
		}, 4, []uint64{4, 3, 2, 1}, []string{"leftover info", "leftover info", "leftover info", "leftover info"}, 0},
		{"detached", func(f map[string][]byte) { f["_versions/"+format.DetachedName(1<<63|5)] = f[name(4)] }, 4, []uint64{4, 3, 2, 1}, []string{"detached info"}, 1},
	} {
		changed := maps.Clone(good)
		c.change(changed)
		dir := t.TempDir()
		write(t, dir, changed)
		store := local(t, dir)
		if s := open(t, store, "", lance.OpenOptions{}); s.Version() != c.latest {
			t.Errorf("%s: opens as %d, want %d", c.what, s.Version(), c.latest)
		}
		chain, err := lance.Versions(t.Context(), store, "", lance.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var versions []uint64
		var findings []string
		for _, v := range chain.Versions {
			versions = append(versions, v.Version)
			if s, err := lance.ReadVersion(t.Context(), store, "", v, lance.OpenOptions{}); err != nil || s.Version() != v.Version {
				t.Errorf("%s: version %d: %v", c.what, v.Version, err)
			}
		}
		for _, f := range chain.Findings {
			findings = append(findings, f.ID+" "+f.Severity)
		}
		if !slices.Equal(versions, c.versions) || !slices.Equal(findings, c.findings) || len(chain.Detached) != c.aside {
			t.Errorf("%s: versions %v, findings %+v, %d detached", c.what, versions, chain.Findings, len(chain.Detached))
		}
	}
}

func write(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := fixtures.Write(dir, files); err != nil {
		t.Fatal(err)
	}
}

// TestCase10OldNames: numbers are compared, not texts; two schemes in one
// folder are refused.
func TestCase10OldNames(t *testing.T) {
	old := field(t, "old")
	store := inMemory(t, "old", old)
	s := open(t, store, "", lance.OpenOptions{})
	if s.Version() != 12 || scanText(t, s, "id") != "0 1 2 3 4 5 6 7 8 9 10 11" {
		t.Errorf("opens as %d", s.Version())
	}
	if s := open(t, store, "", lance.OpenOptions{Version: 9}); s.Version() != 9 || path.Base(s.Object().Key) != "9.manifest" {
		t.Errorf("version 9 opens as %d", s.Version())
	}
	mixed := maps.Clone(old)
	mixed["_versions/"+format.ManifestName(12)] = old["_versions/12.manifest"]
	store = inMemory(t, "mixed", mixed)
	var naming *lance.MixedNamingError
	if _, err := lance.Open(t.Context(), store, "", lance.OpenOptions{}); !errors.As(err, &naming) || naming.V1 != 12 || naming.V2 != 12 {
		t.Errorf("both schemes: %v", err)
	}
	if s := open(t, store, "", lance.OpenOptions{Version: 12}); s.Version() != 12 {
		t.Error("a version by number does not open")
	}
	chain, err := lance.Versions(t.Context(), store, "", lance.ListOptions{})
	if err != nil || chain.Findings[0].ID != "mixed-naming" || chain.Findings[0].Severity != "error" {
		t.Errorf("%+v, %v", chain.Findings, err)
	}
	rep, err := lance.Verify(t.Context(), open(t, store, "", lance.OpenOptions{Version: 12}), lance.VerifyOptions{Refs: true})
	if err != nil || rep.Clean() || rep.Problems[0].ID != "mixed-naming" {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestCase10OneState: a manifest that is replaced between listing and reading
// is noticed.
func TestCase10OneState(t *testing.T) {
	good := field(t, "four")
	store := inMemory(t, "state", good)
	chain, err := lance.Versions(t.Context(), store, "", lance.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), newestManifest, good[newestManifest]); err != nil {
		t.Fatal(err)
	}
	if _, err := lance.ReadVersion(t.Context(), store, "", chain.Versions[0], lance.OpenOptions{}); !errors.Is(err, lance.ErrChanged) {
		t.Errorf("the manifest was written again: %v", err)
	}
	if s := open(t, store, "", lance.OpenOptions{}); s.Version() != 4 {
		t.Error("opening afresh does not help")
	}
}

// TestCase12Schema: columns are bound by id, never by position or name.
func TestCase12Schema(t *testing.T) {
	for _, c := range []struct {
		name, columns, rows string
		retired             []int32
	}{
		{"permuted", "a b s", `1,x,{"p":1,"q":"one"} 2,y,{"p":2,"q":"two"} 3,z,{"p":3,"q":"three"}`, nil},
		{"readded", "a c b z", "1,100,7,(null) 2,200,14,(null) 3,300,21,q", []int32{1}},
		{"nofile", "x", "(null) (null) (null)", nil},
		{"altered", "a b", "1,x 2,y", []int32{0}},
	} {
		s := open(t, inMemory(t, c.name, field(t, c.name)), "", lance.OpenOptions{})
		names := strings.Fields(c.columns)
		if got := scanText(t, s, names...); got != c.rows {
			t.Errorf("%s: %s, want %s", c.name, got, c.rows)
		}
		for _, f := range s.Fragments() {
			for i := range f.Files {
				r, key, err := s.DataFile(t.Context(), &f.Files[i])
				if err != nil || uint64(r.NumRows()) != f.PhysicalRows || key != f.Files[i].DataPath() {
					t.Errorf("%s: data file %s: %v", c.name, key, err)
				}
			}
		}
		for _, n := range names {
			all := collect(t, s.Scan(t.Context(), lance.ScanOptions{Columns: []string{n}, WithRowID: true, WithRowAddress: true}))
			rec, err := s.TakeRowIDs(t.Context(), []string{n}, numbersOf(t, all, lance.ColRowID))
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			same(t, c.name, join(t, []arrow.RecordBatch{rec}), drop(drop(all, lance.ColRowID), lance.ColRowAddress))
		}
		var retired []int32
		for _, f := range s.Fragments() {
			for i := range f.Files {
				retired = append(retired, s.RetiredFields(&f.Files[i])...)
			}
		}
		if !slices.Equal(retired, c.retired) {
			t.Errorf("%s: retired fields %v, want %v", c.name, retired, c.retired)
		}
		rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true, Refs: true})
		if err != nil || !rep.Clean() {
			t.Errorf("%s: %+v, %v", c.name, rep, err)
		}
		if mentioned := fmt.Sprint(rep.Problems); strings.Contains(mentioned, "no data file") != (c.name == "nofile") {
			t.Errorf("%s: %s", c.name, mentioned)
		}
	}
}

// TestIndexOfBranchOfBranch: Lance records a wrong base for the index of a
// branch of a branch. That is said, and is no loss.
func TestIndexOfBranchOfBranch(t *testing.T) {
	store := inMemory(t, "indexed", field(t, "indexed"))
	for branch, want := range map[string]int{"": 0, "one": 0, "two": 2} {
		s := open(t, store, "", lance.OpenOptions{Branch: branch})
		rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true, Refs: true})
		if err != nil || !rep.Clean() || rep.Indexes != 1 {
			t.Errorf("branch %q: %+v, %v", branch, rep, err)
		}
		wrong := 0
		for _, p := range rep.Problems {
			if p.ID == "index" && strings.Contains(p.Key, "_indices/") {
				wrong++
			}
		}
		if wrong != want || scanText(t, s, "id") != "a b c" {
			t.Errorf("branch %q: %d index files at the wrong base, want %d: %+v", branch, wrong, want, rep.Problems)
		}
	}
}
