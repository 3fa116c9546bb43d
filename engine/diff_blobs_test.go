package engine_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// rewritten is midlife with a version 3 of Inspection, whose one data file is a
// copy of that of version 2. change changes the copy; forget takes the records
// away that say which version wrote a row.
func rewritten(t testing.TB, forget bool, change func(data []byte)) (files map[string][]byte, blobBytes []byte) {
	t.Helper()
	const dataset = "nodes/0000000000000003-0000000000000029"
	files = graphFiles(t, "midlife")
	var photo bytes.Buffer
	if _, err := openFiles(t, files).BlobGet(context.Background(), &photo, "node", "Inspection", "insp-006", "photo", engine.At{}); err != nil {
		t.Fatal(err)
	}
	extra := map[string][]byte{}
	for key, data := range files {
		if name, ok := strings.CutPrefix(key, dataset+"/data/"); ok {
			data = slices.Clone(data)
			change(data)
			extra[dataset+"/data/copy-"+name] = data
		}
	}
	extra[dataset+"/_versions/"+manifestName(3)] = rewriteManifest(t, files[newestManifest(t, files, dataset)], func(m *tablepb.Manifest) {
		m.Version = 3
		for _, f := range m.Fragments {
			f.Files[0].Path = "copy-" + f.Files[0].Path
			if forget {
				f.LastUpdatedAtVersionSequence, f.CreatedAtVersionSequence = nil, nil
			}
		}
	})
	return with(files, extra), photo.Bytes()
}

// A row that was written anew with the blob of before is no change, and one
// whose blob has other bytes of the same size is. Bytes are read only where the
// dataset does not say itself that a row is the same.
func TestDiffOfBlobs(t *testing.T) {
	same := func([]byte) {}
	_, photo := rewritten(t, false, same)
	other := func(data []byte) {
		i := bytes.Index(data, photo[:64])
		if i < 0 {
			t.Fatal("the bytes of the blob are not in the data file")
		}
		data[i+40] ^= 1
	}
	for name, c := range map[string]struct {
		forget bool
		change func([]byte)
		reads  bool
		want   []string
	}{
		"moved, and recorded so": {false, same, false, nil},
		"written anew":           {true, same, true, nil},
		"other bytes":            {true, other, true, []string{"insp-006"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, _ := rewritten(t, c.forget, c.change)
			var v *engine.VersionDiff
			_, calls := traced(t, files, func(ctx context.Context, g *engine.Graph) (err error) {
				v, err = g.DiffVersions(ctx, "Inspection", "", 2, 3, engine.DiffOptions{})
				return err
			})
			var got []string
			for _, x := range v.Changes {
				got = append(got, x.ID)
				if x.Op != "update" || !bytes.Equal(x.Before, x.After) || !bytes.Contains(x.After, []byte(`"5000 bytes"`)) {
					t.Errorf("%s: %s → %s", x.Op, x.Before, x.After)
				}
			}
			if !slices.Equal(got, c.want) || v.Count.Updated != uint64(len(c.want)) || v.Count.Physical != (c.want == nil) || v.Added != 1 || v.Removed != 1 {
				t.Errorf("changed are %q, want %q; %+v", got, c.want, v.Count)
			}
			// Each side's file is small, and read whole once; blobs are read by range.
			ranged := slices.ContainsFunc(calls, func(c blob.Call) bool {
				return c.Op == blob.OpGet && c.Range != blob.All && strings.Contains(c.Key, "0029/data/") && c.Range.Len == 5000
			})
			if ranged != c.reads {
				t.Errorf("bytes of blobs were read: %v, want %v: %+v", ranged, c.reads, calls)
			}
		})
	}
	// Bytes that cannot be read leave open whether they differ, and that is said.
	files, _ := rewritten(t, true, same)
	for key := range files {
		if strings.Contains(key, "0029/data/copy-") {
			delete(files, key)
		}
	}
	var part *engine.IncompleteError
	if v, err := openFiles(t, files).DiffVersions(context.Background(), "Inspection", "", 2, 3, engine.DiffOptions{}); !errors.As(err, &part) || v.Count.Physical {
		t.Errorf("a lost file: %+v, %v", v, err)
	}
}
