package file

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/format"
)

// rewritten are files of 2.2 that pylance wrote, written again by us: those of
// the fixtures but for blobs, which are read as descriptors and written as
// payloads.
func rewritten(t *testing.T, f func(name string, rec arrow.RecordBatch, out *Written, theirs int64)) {
	files, cases := fixtures(t)
	for _, c := range cases {
		if c.Version != "2.2" || strings.HasPrefix(c.Case, "blob") {
			continue
		}
		for i, o := range files.open(t, c, Options{}) {
			fields := []*format.Field{}
			for _, col := range o.cols {
				fields = append(fields, col.Field)
			}
			rec := scanAll(t, o, ScanOptions{To: -1})
			w, err := NewWriter(fields, WriteOptions{})
			if err == nil && rec.NumRows() > 0 {
				err = w.Write(rec)
			}
			var out *Written
			if err == nil {
				out, err = w.Finish()
			}
			if errors.Is(err, format.ErrUnsupported) {
				t.Logf("%s is refused: %v", c.name(), err)
			} else if err != nil {
				t.Errorf("%s: %v", c.name(), err)
			} else {
				f(c.name()+strings.Repeat("+", i), rec, out, int64(len(files[o.path])))
			}
			rec.Release()
		}
	}
}

// TestRewriteFixtures reads what we make of pylance's files.
func TestRewriteFixtures(t *testing.T) {
	ours, theirs, n := int64(0), int64(0), 0
	rewritten(t, func(name string, rec arrow.RecordBatch, out *Written, was int64) {
		n++
		ours, theirs = ours+out.Size, theirs+was
		o := openBytes(t, name, out.Bytes(), Options{})
		got := scanAll(t, o, ScanOptions{To: -1})
		v := &viewer{}
		diff(t, name, namesOf(rec), v.rows(got), v.rows(rec))
		got.Release()
		hinted := strings.HasPrefix(name, "meta_zstd") || strings.HasPrefix(name, "meta_lz4") || strings.HasPrefix(name, "meta_fsst")
		if out.Size > was*11/10+256 && !hinted { // hints in the metadata of fields are not followed
			t.Errorf("%s: %d bytes, pylance needs %d", name, out.Size, was)
		}
	})
	t.Logf("%d files: %d bytes, pylance's have %d", n, ours, theirs)
	if n < 10 || ours > theirs*11/10 {
		t.Errorf("%d files of %d bytes, pylance's have %d", n, ours, theirs)
	}
}

// TestPylanceReadsRewritten lets pylance read them.
func TestPylanceReadsRewritten(t *testing.T) {
	python(t)
	r := &readback{dir: t.TempDir()}
	rewritten(t, func(name string, rec arrow.RecordBatch, out *Written, _ int64) {
		if strings.Contains(name, "fsl_struct") {
			r.addDataset(t, name, rec, out)
		} else {
			r.add(t, name, rec, out)
		}
	})
	r.run(t)
}
