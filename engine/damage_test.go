package engine_test

import (
	"encoding/binary"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/lance/format"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// rewriteManifest changes the message of a manifest file and frames it anew.
func rewriteManifest(t testing.TB, file []byte, change func(*tablepb.Manifest)) []byte {
	t.Helper()
	n := len(file)
	pos := binary.LittleEndian.Uint64(file[n-16:])
	m := new(tablepb.Manifest)
	if err := proto.Unmarshal(file[pos+4:n-16], m); err != nil {
		t.Fatal(err)
	}
	change(m)
	block, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(file[:pos])
	out = binary.LittleEndian.AppendUint32(out, uint32(len(block)))
	out = append(out, block...)
	return append(out, file[n-16:]...)
}

// newestManifest is the key of the newest version below a folder.
func newestManifest(t testing.TB, files map[string][]byte, dataset string) string {
	t.Helper()
	var keys []string
	for k := range files {
		if path.Dir(k) == dataset+"/_versions" && strings.HasSuffix(k, ".manifest") {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		t.Fatalf("no manifest in %s", dataset)
	}
	return slices.Min(keys)
}

// with is files with changes; nil removes.
func with(files map[string][]byte, changes map[string][]byte) map[string][]byte {
	out := maps.Clone(files)
	for k, v := range changes {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	return out
}

// findingOf picks the finding of an id.
func findingOf(t testing.TB, info *engine.Info, id string) engine.Finding {
	t.Helper()
	for _, f := range info.Findings {
		if f.ID == id {
			if f.Title == "" || len(f.Evidence) == 0 || f.Action == nil {
				t.Errorf("finding %s lacks a sentence, evidence or next step: %+v", id, f)
			}
			return f
		}
	}
	t.Fatalf("no finding %s among %+v", id, info.Findings)
	return engine.Finding{}
}

// says reports words that a text lacks.
func says(t testing.TB, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q does not say %q", what, text, w)
		}
	}
}

func manifestName(version uint64) string { return format.ManifestName(version) }

func setVersion(v uint64) func(*tablepb.Manifest) {
	return func(m *tablepb.Manifest) { m.Version = v }
}

// cloneTo is a manifest of main as that of a branch forked from it.
func cloneTo(t testing.TB, file []byte, branch string) []byte {
	t.Helper()
	return rewriteManifest(t, file, func(m *tablepb.Manifest) {
		m.Branch = &branch
		m.ReaderFeatureFlags |= 16
		m.BasePaths = []*tablepb.BasePath{{Id: 0, IsDatasetRoot: true, Path: "s3://lab/midlife/__manifest"}}
		for _, f := range m.Fragments {
			for _, d := range f.Files {
				d.BaseId = new(uint32)
			}
		}
	})
}
