package format_test

import (
	"errors"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance/format"
)

// manifests calls f with every manifest file of the embedded graph and, where
// they are, of the shared archives.
func manifests(t testing.TB, f func(key string, files map[string][]byte)) {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	each(files, f)
	for _, name := range [][]string{{"lance", "fixtures.tar.gz"}, {"lance", "index-fixtures.tar.gz"}, {"graphs", "maintained.tar.gz"}, {"graphs", "diverged.tar.gz"}} {
		archive, err := fixtures.Shared(name...)
		if err != nil {
			t.Logf("NOT CHECKED: %v", err)
			continue
		}
		if files, err = fixtures.Unpack(archive); err != nil {
			t.Fatal(err)
		}
		each(files, f)
	}
}

func each(files map[string][]byte, f func(string, map[string][]byte)) {
	for key := range files {
		if strings.HasSuffix(key, ".manifest") {
			f(key, files)
		}
	}
}

// TestRealManifests checks what every manifest of another program promises.
func TestRealManifests(t *testing.T) {
	seen, inline, ops := 0, 0, map[string]int{}
	manifests(t, func(key string, files map[string][]byte) {
		seen++
		m, err := format.ParseManifest(files[key])
		if err != nil {
			t.Errorf("%s: %v", key, err)
			return
		}
		if v, kind := format.ParseManifestName(path.Base(key)); v != m.Version || kind != format.NameV2 {
			t.Errorf("%s: version %d, content says %d", key, v, m.Version)
		}
		if _, known := m.Rows(); !known || m.Timestamp.IsZero() || m.Writer.Library != "lance" || m.FileFormat != "lance" {
			t.Errorf("%s: rows known %v, time %v, writer %+v", key, known, m.Timestamp, m.Writer)
		}
		if _, err := m.Schema.Arrow(); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if _, err := m.Indexes(); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		tx, err := m.Transaction()
		if err != nil || tx == nil || !tx.Inline || tx.UUID == "" {
			t.Errorf("%s: no sound inline transaction, %v", key, err)
			return
		}
		inline++
		ops[tx.Operation.Name]++
		beside(t, key, m, tx, files)
	})
	t.Logf("%d manifests, operations %v", seen, ops)
	if seen == 0 || inline != seen || ops["None"] > 0 {
		t.Errorf("%d manifests, %d with an inline transaction", seen, inline)
	}
}

// beside compares the inline transaction with the file, if that still exists,
// and the files of the manifest with what lies in its folder.
func beside(t *testing.T, key string, m *format.Manifest, tx *format.Transaction, files map[string][]byte) {
	dir := path.Dir(path.Dir(key))
	if b, ok := files[format.Join(dir, format.TransactionPath(m.TransactionFile))]; ok {
		again, err := format.ParseTransaction(b)
		if err != nil || again.Inline || !proto.Equal(again.Proto, tx.Proto) {
			t.Errorf("%s: its transaction file %s differs, %v", key, m.TransactionFile, err)
		}
	}
	for i := range m.Fragments {
		f := &m.Fragments[i]
		for k := range f.Files {
			d := &f.Files[k]
			if b, ok := files[format.Join(dir, d.DataPath())]; ok && !d.Base.Set && uint64(len(b)) != d.Size {
				t.Errorf("%s: %s has %d bytes, recorded are %d", key, d.Path, len(b), d.Size)
			}
		}
		if d := f.Deletion; d != nil && !d.Base.Set {
			if _, ok := files[format.Join(dir, format.DeletionPath(f.ID, d))]; !ok {
				t.Errorf("%s: no deletion file %s", key, format.DeletionPath(f.ID, d))
			}
		}
	}
}

func TestManifestNames(t *testing.T) {
	for name, want := range map[string]struct {
		version uint64
		kind    format.NameKind
	}{
		"18446744073709551614.manifest":          {1, format.NameV2},
		"18446744073709551611.manifest":          {4, format.NameV2},
		"1.manifest":                             {1, format.NameV1},
		"12.manifest":                            {12, format.NameV1},
		"d9223372036854775809.manifest":          {1<<63 + 1, format.NameDetached},
		"d5.manifest":                            {},
		"01.manifest":                            {},
		"18446744073709551611.manifest#1":        {},
		"18446744073709551611.manifest.bak":      {},
		".tmp_7.manifest_8f6c":                   {},
		"#18446744073709551611.manifest":         {},
		"99999999999999999999.manifest":          {},
		"-1.manifest":                            {},
		"+1.manifest":                            {},
		".manifest":                              {},
		"latest_version_hint.json":               {},
		"manifest":                               {},
		"1e3.manifest":                           {},
		"18446744073709551611.18446744.manifest": {},
		"118446744073709551611.manifest":         {},
	} {
		if v, kind := format.ParseManifestName(name); v != want.version || kind != want.kind {
			t.Errorf("%q: version %d, kind %d, want %+v", name, v, kind, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64Range(1, math.MaxInt64).Draw(t, "version")
		if got, kind := format.ParseManifestName(format.ManifestName(v)); got != v || kind != format.NameV2 {
			t.Fatalf("V2 name of %d reads as %d", v, got)
		}
		if got, kind := format.ParseManifestName(format.ManifestNameV1(v)); got != v || kind != format.NameV1 {
			t.Fatalf("V1 name of %d reads as %d", v, got)
		}
		if got, kind := format.ParseManifestName(format.DetachedName(v | 1<<63)); got != v|1<<63 || kind != format.NameDetached {
			t.Fatalf("detached name of %d reads as %d", v, got)
		}
		if w := v - 1; w > 0 && format.ManifestName(v) >= format.ManifestName(w) {
			t.Fatalf("the name of %d does not sort before that of %d", v, w)
		}
	})
}

func TestFlags(t *testing.T) {
	known := format.Flags(1 | 2 | 4 | 8 | 16 | 32)
	if err := known.CheckReadable(); err != nil {
		t.Error(err)
	}
	for f, want := range map[format.Flags]string{
		64: "bit 6 (value 64, data overlay files)", 1 << 7: "bit 7 (value 128, not defined", 2 | 1<<63: "bit 63",
	} {
		err := f.CheckReadable()
		var fe *format.FlagError
		if !errors.As(err, &fe) || !errors.Is(err, format.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", f, err)
		}
	}
	if got := format.Flags(3 | 1<<40).String(); got != "deletion files, stable row ids, bit 40 (unknown)" {
		t.Error(got)
	}
}

func TestDeletionPath(t *testing.T) {
	d := &format.DeletionFile{ReadVersion: 2, ID: 10752151657340681661}
	if got := format.DeletionPath(0, d); got != "_deletions/0-2-10752151657340681661.arrow" {
		t.Error(got)
	}
	d.Kind = format.DeletionBitmap
	if got := format.DeletionPath(7, d); got != "_deletions/7-2-10752151657340681661.bin" {
		t.Error(got)
	}
}

// one is a real manifest with fragments, an index section and a transaction.
func one(t testing.TB) []byte {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	var best []byte
	for key, b := range files {
		if strings.HasSuffix(key, ".manifest") && strings.Contains(key, "tree/") && (best == nil || len(b) < len(best)) {
			best = b
		}
	}
	if best == nil {
		t.Fatal("no manifest of a branch in the graph")
	}
	return slices.Clone(best)
}

func TestFramingIsStrict(t *testing.T) {
	good := one(t)
	if _, err := format.ParseManifest(good); err != nil {
		t.Fatal(err)
	}
	n := len(good)
	for what, b := range map[string][]byte{
		"empty":              {},
		"half":               good[:n/2],
		"cut by one":         good[:n-1],
		"one byte behind":    append(slices.Clone(good), 0),
		"padding in between": slices.Concat(good[:n-16], []byte{0}, good[n-16:]),
		"sixteen bytes":      good[n-16:],
		"position behind":    slices.Concat(good[:n-16], []byte{0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0}, good[n-8:]),
		"negative position":  slices.Concat(good[:n-16], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, good[n-8:]),
	} {
		if _, err := format.ParseManifest(b); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestEveryByteFlipped: an error or a value, never a panic.
func TestEveryByteFlipped(t *testing.T) {
	b := one(t)
	if len(b) > 40000 {
		t.Fatalf("the smallest manifest has %d bytes", len(b))
	}
	for i := range b {
		for _, x := range []byte{1, 0x80, 0xff} {
			b[i] ^= x
			use(t, b)
			b[i] ^= x
		}
	}
}

// use parses a manifest and everything in it.
func use(t *testing.T, b []byte) {
	t.Helper()
	m, err := format.ParseManifest(b)
	if err != nil {
		if !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrUnsupported) {
			t.Fatalf("%v wraps neither ErrCorrupt nor ErrUnsupported", err)
		}
		return
	}
	m.Rows()
	for _, err := range []error{second(m.Indexes()), second(m.Transaction()), second(m.Schema.Arrow())} {
		if err != nil && !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrUnsupported) {
			t.Fatalf("%v wraps neither ErrCorrupt nor ErrUnsupported", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func FuzzParseManifest(f *testing.F) {
	f.Add(one(f))
	f.Fuzz(func(t *testing.T, b []byte) { use(t, b) })
}

func FuzzParseTransaction(f *testing.F) {
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		f.Fatal(err)
	}
	for key, b := range files {
		if strings.HasSuffix(key, ".txn") && len(b) < 1000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := format.ParseTransaction(b); err != nil && !errors.Is(err, format.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
