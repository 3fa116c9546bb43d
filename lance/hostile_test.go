package lance_test

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// small is a small dataset on a branch, with a deletion file and base paths:
// the `__manifest` of the demo graph cut down to one version.
func small(t testing.TB) (files map[string][]byte, branch string) {
	t.Helper()
	all := under(graph(t, fixtures.Demo), "__manifest")
	best := ""
	for key := range all {
		if strings.HasPrefix(key, "tree/") && strings.HasSuffix(key, ".manifest") && (best == "" || len(all[key]) < len(all[best])) {
			best = key
		}
	}
	out := map[string][]byte{best: all[best]}
	for key, b := range all {
		if strings.Contains(key, "/data/") || strings.HasPrefix(key, "data/") || strings.Contains(key, "_deletions/") || strings.HasPrefix(key, "_refs/") {
			out[key] = b
		}
	}
	return out, strings.TrimPrefix(path.Dir(path.Dir(best)), "tree/")
}

// use does everything that reading can do with a dataset. Whatever is wrong
// must be an error.
func use(ctx context.Context, t testing.TB, store blob.Store, branch string) {
	t.Helper()
	s, err := lance.Open(ctx, store, "", lance.OpenOptions{Branch: branch})
	if err != nil {
		return
	}
	s.CountRows()
	s.Bases()
	_, _ = s.Transaction(ctx)
	var ids []uint64
	o := lance.ScanOptions{WithRowID: true, WithRowAddress: true, WithVersions: true, OnDamaged: func(*lance.FragmentError) bool { return true }}
	for rec, err := range s.Scan(ctx, o) {
		if err != nil {
			break
		}
		ids = append(ids, uint64(rec.NumRows()))
		rec.Release()
	}
	if rec, err := s.TakeRowIDs(ctx, nil, ids); err == nil {
		rec.Release()
	}
	if _, err := lance.Verify(ctx, s, lance.VerifyOptions{Deep: true}); err != nil {
		t.Fatalf("checking failed instead of finding something: %v", err)
	}
}

// TestFlippedManifests flips every byte of a manifest: whatever comes of it is
// an error or rows, never a panic, and checking always works.
func TestFlippedManifests(t *testing.T) {
	content, branch := small(t)
	var key string
	for k := range content {
		if strings.HasSuffix(k, ".manifest") {
			key = k
		}
	}
	good := content[key]
	store := inMemory(t, "flip", content)
	step := 1
	if testing.Short() || pace.Race {
		step = 29
	}
	for i := 0; i < len(good); i += step {
		bad := slices.Clone(good)
		bad[i] ^= []byte{0x01, 0x80, 0x40, 0xff}[i%4]
		if _, err := store.Put(t.Context(), key, bad); err != nil {
			t.Fatal(err)
		}
		use(t.Context(), t, store, branch)
	}
}

// TestFlippedDeletions flips every byte of a deletion file.
func TestFlippedDeletions(t *testing.T) {
	content, branch := small(t)
	ctx, calls := metered(t)
	use(ctx, t, inMemory(t, "sound", content), branch)
	var key string
	for _, c := range calls() {
		if strings.Contains(c, "_deletions/") {
			key = strings.TrimPrefix(c, "get ")
		}
	}
	good := content[key]
	store := inMemory(t, "flip", content)
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= []byte{0x01, 0x80, 0x40, 0xff}[i%4]
		if _, err := store.Put(t.Context(), key, bad); err != nil {
			t.Fatal(err)
		}
		use(t.Context(), t, store, branch)
	}
}

// crafted is a table of one manifest.
func crafted(t testing.TB, change func(*tablepb.Manifest)) blob.Store {
	t.Helper()
	m := &tablepb.Manifest{
		Version: 1, Fields: []*filepb.Field{{Name: "id", ParentId: -1, LogicalType: "string"}},
		DataFormat: &tablepb.DataStorageFormat{FileFormat: "lance", Version: "2.2"},
		Fragments:  []*tablepb.DataFragment{{Id: 0, PhysicalRows: 2}}, MaxFragmentId: proto.Uint32(0),
	}
	change(m)
	return inMemory(t, "crafted", map[string][]byte{"_versions/" + format.ManifestName(1): frame(t, m)})
}

func TestCraftedManifests(t *testing.T) {
	file := &tablepb.DataFile{Path: "x.lance", Fields: []int32{0}, ColumnIndices: []int32{0}, FileMajorVersion: 2, FileMinorVersion: 2, FileSizeBytes: 10}
	for what, c := range map[string]struct {
		change func(*tablepb.Manifest)
		want   error
	}{
		"unknown flag":            {func(m *tablepb.Manifest) { m.ReaderFeatureFlags = 1 << 20 }, format.ErrUnsupported},
		"overlays":                {func(m *tablepb.Manifest) { m.Fragments[0].Overlays = []*tablepb.DataOverlayFile{{}} }, format.ErrUnsupported},
		"name and version differ": {func(m *tablepb.Manifest) { m.Version = 2 }, format.ErrCorrupt},
		"another branch":          {func(m *tablepb.Manifest) { m.Branch = proto.String("dev") }, format.ErrCorrupt},
		"path out of the root": {func(m *tablepb.Manifest) {
			f := proto.Clone(file).(*tablepb.DataFile)
			f.Path = "../../../etc/passwd"
			m.Fragments[0].Files = []*tablepb.DataFile{f}
		}, format.ErrCorrupt},
		"unknown base": {func(m *tablepb.Manifest) {
			f := proto.Clone(file).(*tablepb.DataFile)
			f.BaseId = proto.Uint32(9)
			m.Fragments[0].Files = []*tablepb.DataFile{f}
		}, format.ErrCorrupt},
		"base out of the root": {func(m *tablepb.Manifest) {
			f := proto.Clone(file).(*tablepb.DataFile)
			f.BaseId = proto.Uint32(0)
			m.Fragments[0].Files = []*tablepb.DataFile{f}
			m.BasePaths = []*tablepb.BasePath{{Name: proto.String("../../x"), IsDatasetRoot: true, Path: "/elsewhere"}}
		}, format.ErrCorrupt},
		"no such file":                {func(m *tablepb.Manifest) { m.Fragments[0].Files = []*tablepb.DataFile{file} }, blob.ErrNotExist},
		"no deletion file":            {func(m *tablepb.Manifest) { m.Fragments[0].DeletionFile = &tablepb.DeletionFile{NumDeletedRows: 1} }, blob.ErrNotExist},
		"stable ids without sequence": {func(m *tablepb.Manifest) { m.ReaderFeatureFlags = 2 }, format.ErrCorrupt},
		"a sequence of 2^60 ids": {func(m *tablepb.Manifest) {
			m.ReaderFeatureFlags = 2
			m.Fragments[0].RowIdSequence = &tablepb.DataFragment_InlineRowIds{InlineRowIds: []byte("\x0a\x0c\x0a\x0a\x10\x80\x80\x80\x80\x80\x80\x80\x80\x10")}
		}, format.ErrCorrupt},
		"unknown type": {func(m *tablepb.Manifest) { m.Fields[0].LogicalType = "quaternion" }, format.ErrUnsupported},
	} {
		store := crafted(t, c.change)
		err := func() error {
			s, err := lance.Open(t.Context(), store, "", lance.OpenOptions{})
			if err != nil {
				return err
			}
			for rec, err := range s.Scan(t.Context(), lance.ScanOptions{WithRowID: true}) {
				if err != nil {
					return err
				}
				rec.Release()
			}
			return nil
		}()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want one that wraps %v", what, err, c.want)
		}
		use(t.Context(), t, store, "")
	}
}

// TestManyNullRows: a fragment without files may claim any number of rows, but
// costs no more than one batch at a time.
func TestManyNullRows(t *testing.T) {
	store := crafted(t, func(m *tablepb.Manifest) { m.Fragments[0].PhysicalRows = 1<<32 - 1; m.Fields[0].Nullable = true })
	s := open(t, store, "", lance.OpenOptions{})
	n := 0
	for rec, err := range s.Scan(t.Context(), lance.ScanOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.NumRows() > 1<<20 {
			t.Errorf("a batch of %d rows", rec.NumRows())
		}
		rec.Release()
		if n++; n == 3 {
			break
		}
	}
}

// TestVerifyFinds: each wrong number is named.
func TestVerifyFinds(t *testing.T) {
	ids := func(from, to byte) *tablepb.DataFragment_InlineRowIds {
		return &tablepb.DataFragment_InlineRowIds{InlineRowIds: []byte{0x0a, 6, 0x0a, 4, 8, from, 0x10, to}}
	}
	for what, c := range map[string]struct {
		change func(*tablepb.Manifest)
		want   string
	}{
		"duplicate fragment": {func(m *tablepb.Manifest) { m.Fragments = append(m.Fragments, m.Fragments[0]) }, "fragment-ids error"},
		"mark too low":       {func(m *tablepb.Manifest) { m.Fragments[0].Id = 4 }, "fragment-ids error"},
		"unsorted": {func(m *tablepb.Manifest) {
			m.MaxFragmentId = proto.Uint32(1)
			m.Fragments = []*tablepb.DataFragment{{Id: 1, PhysicalRows: 1}, {Id: 0, PhysicalRows: 1}}
		}, "fragment-ids warn"},
		"flag missing":     {func(m *tablepb.Manifest) { m.BasePaths = []*tablepb.BasePath{{Path: "/x", IsDatasetRoot: true}} }, "flags error"},
		"config unflagged": {func(m *tablepb.Manifest) { m.Config = map[string]string{"a": "b"} }, "flags warn"},
		"ids without flag": {func(m *tablepb.Manifest) { m.Fragments[0].RowIdSequence = ids(0, 2) }, "flags error"},
		"ids at the mark": {func(m *tablepb.Manifest) {
			m.ReaderFeatureFlags, m.WriterFeatureFlags, m.NextRowId = 2, 2, 1
			m.Fragments[0].RowIdSequence = ids(0, 2)
		}, "row-ids error"},
		"an id twice": {func(m *tablepb.Manifest) {
			m.ReaderFeatureFlags, m.WriterFeatureFlags, m.NextRowId, m.MaxFragmentId = 2, 2, 9, proto.Uint32(1)
			m.Fragments[0].RowIdSequence = ids(0, 2)
			m.Fragments = append(m.Fragments, &tablepb.DataFragment{Id: 1, PhysicalRows: 2, RowIdSequence: ids(1, 3)})
		}, "row-ids error"},
		"versions of the future": {func(m *tablepb.Manifest) {
			m.Fragments[0].CreatedAtVersionSequence = &tablepb.DataFragment_InlineCreatedAtVersions{InlineCreatedAtVersions: []byte{0x0a, 8, 0x0a, 4, 0x0a, 2, 0x10, 2, 0x10, 7}}
		}, "row-versions error"},
		"too many deleted": {func(m *tablepb.Manifest) {
			m.ReaderFeatureFlags, m.WriterFeatureFlags = 1, 1
			m.Fragments[0].DeletionFile = &tablepb.DeletionFile{NumDeletedRows: 3}
		}, "deletions error"},
		"a field twice": {func(m *tablepb.Manifest) {
			f := &tablepb.DataFile{Path: "a", Fields: []int32{0}, ColumnIndices: []int32{0}, FileMajorVersion: 2, FileMinorVersion: 2}
			m.Fragments[0].Files = []*tablepb.DataFile{f, f}
		}, "fields error"},
		"another file format": {func(m *tablepb.Manifest) {
			m.Fragments[0].Files = []*tablepb.DataFile{{Path: "a", FileMajorVersion: 2, FileMinorVersion: 1}}
		}, "file-version warn"},
	} {
		s := open(t, crafted(t, c.change), "", lance.OpenOptions{})
		rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(rep.Problems, func(p lance.Problem) bool { return p.ID+" "+p.Severity == c.want && p.Found != "" && p.Expected != "" }) {
			t.Errorf("%s: %+v", what, rep.Problems)
		}
	}
}

// TestElsewhere: files of another dataset are read where the manifest says,
// when that is allowed, and the snapshot says so.
func TestElsewhere(t *testing.T) {
	content, branch := small(t)
	main, own := map[string][]byte{}, map[string][]byte{}
	for key, b := range content {
		if strings.HasPrefix(key, "tree/"+branch+"/") || strings.HasPrefix(key, "_refs/") {
			own[key] = b
		} else {
			main[key] = b
		}
	}
	whole := open(t, inMemory(t, "whole", content), "", lance.OpenOptions{Branch: branch})
	want := collect(t, whole.Scan(t.Context(), lance.ScanOptions{}))
	away := inMemory(t, "away", main)
	part := inMemory(t, "part", own)
	s := open(t, part, "", lance.OpenOptions{Branch: branch})
	err := firstError(s.Scan(t.Context(), lance.ScanOptions{}))
	if !errors.Is(err, blob.ErrNotExist) || !strings.Contains(err.Error(), "s3://lab/") || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("not allowed: %v", err)
	}
	var asked []string
	s = open(t, part, "", lance.OpenOptions{Branch: branch, OpenBase: func(_ context.Context, p string) (blob.Store, string, error) {
		asked = append(asked, p)
		return away, "", nil
	}})
	same(t, "elsewhere", collect(t, s.Scan(t.Context(), lance.ScanOptions{})), want)
	if bases := s.Bases(); len(bases) != 1 || !bases[0].Elsewhere || !bases[0].Moved || len(asked) != 1 || asked[0] != bases[0].Recorded {
		t.Errorf("bases %+v, asked %q", bases, asked)
	}
	// A second scan does not look here first any more.
	ctx, calls := metered(t)
	same(t, "again", collect(t, s.Scan(ctx, lance.ScanOptions{WithDeleted: true})), collect(t, whole.Scan(t.Context(), lance.ScanOptions{WithDeleted: true})))
	if got, files := len(calls()), len(s.Fragments()); got != files {
		t.Errorf("%d calls for %d files", got, files)
	}
	rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true})
	if err != nil || !rep.Clean() {
		t.Errorf("%+v, %v", rep, err)
	}
}

func firstError[T any](seq func(func(T, error) bool)) (first error) {
	seq(func(_ T, err error) bool {
		first = err
		return err == nil
	})
	return first
}

// TestSpelling: at its recorded place a dataset has not moved, however that is
// spelled.
func TestSpelling(t *testing.T) {
	content, branch := small(t)
	s := open(t, inMemory(t, "x", content), "", lance.OpenOptions{Branch: branch})
	recorded := s.Bases()[0].Recorded
	for _, c := range []struct {
		path  string
		moved bool
	}{
		{"mem://here/t", false}, {"mem://here/t/", false}, {"mem://here//t/.", false}, {"mem://here/t2", true}, {"/here/t", true}, {recorded, true},
	} {
		changed := maps.Clone(content)
		for key, b := range changed {
			if strings.HasSuffix(key, ".manifest") {
				changed[key] = withBase(t, b, c.path)
			}
		}
		moved := map[string][]byte{}
		for key, b := range changed {
			moved["t/"+key] = b
		}
		s := open(t, inMemory(t, "here", moved), "t", lance.OpenOptions{Branch: branch})
		if got := s.Bases()[0]; got.Moved != c.moved || got.Here != "t" {
			t.Errorf("%q: %+v", c.path, got)
		}
	}
}

// withBase is a manifest file with another recorded base path.
func withBase(t *testing.T, file []byte, path string) []byte {
	t.Helper()
	m, err := format.ParseManifest(file)
	if err != nil {
		t.Fatal(err)
	}
	p := proto.Clone(m.Proto).(*tablepb.Manifest)
	p.IndexSection, p.TransactionSection = nil, nil
	p.BasePaths[0].Path = path
	return frame(t, p)
}
