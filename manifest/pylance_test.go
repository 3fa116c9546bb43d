package manifest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// takeOver validates the last versions of a dataset, prints its rows, and
// publishes: a merge-insert as the Rust engine's, of a commit of its own after
// the head that it reads.
const takeOver = `
import json, sys, lance, pyarrow as pa
ds = lance.dataset(sys.argv[1])
for v in ds.versions()[-25:]:
    ds.checkout_version(v["version"]).validate()
system = ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"]
all = ds.scanner(columns=[f.name for f in ds.schema] + system).to_table().to_pylist()
print(json.dumps([{k: v for k, v in r.items() if v is not None} for r in all]))
rows = {r["object_id"]: r for r in all}
head = json.loads(rows["graph_head:main"]["metadata"])["head_commit_id"]
new = sys.argv[2]
base = {f.name: None for f in ds.schema}
commit = dict(base, object_id=new, object_type="graph_commit", table_key="", table_version=ds.version + 1,
    metadata=json.dumps({"parent_commit_id": head, "created_at": 1764425009000000}))
top = dict(base, object_id="graph_head:main", object_type="graph_head", table_key="", metadata=json.dumps({"head_commit_id": new, "parent_commit_id": head}))
ds.merge_insert("object_id").when_matched_update_all().when_not_matched_insert_all().execute(pa.Table.from_pylist([commit, top], schema=ds.schema))
`

// python runs a script; without pylance the test is skipped.
func python(t *testing.T, script string, args ...string) []byte {
	t.Helper()
	for _, py := range []string{os.Getenv("OMNIDECK_PYTHON"), "python3"} {
		if py == "" || exec.CommandContext(t.Context(), py, "-c", "import importlib.util, sys; sys.exit(not importlib.util.find_spec('lance'))").Run() != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), py, append([]string{"-W", "ignore", "-c", script}, args...)...)
		var problem bytes.Buffer
		cmd.Stderr = &problem
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("pylance: %v\n%s", err, problem.String())
		}
		return out
	}
	t.Skip("SKIPPED: no Python with pylance; set OMNIDECK_PYTHON to one (pip install pylance==10.0.0)")
	return nil
}

// pylance finds every version of a __manifest valid that we published, made by
// us or by the Rust engine, reads the rows that we read, and publishes on it; and
// we go on after it.
func TestPylanceTakesOver(t *testing.T) {
	for _, name := range []string{"", fixtures.Demo} {
		t.Run("graph "+name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "g")
			files := map[string][]byte{}
			if name != "" {
				files = graph(t, name)
			}
			w := newWriter(t, nil, "", 11)
			w.on = local(t, root, files)
			if name == "" {
				if _, err := manifest.Create(t.Context(), w.on, w.beginning()); err != nil {
					t.Fatal(err)
				}
			}
			for range 30 {
				v := w.fresh()
				w.publish(w.options(v, w.random(v)...))
			}
			before, id := w.fresh(), w.ulid()
			sameRows(t, python(t, takeOver, filepath.Join(root, manifest.Folder), id), before.Snapshot)
			p := w.publish(w.options(w.fresh()))
			if p.Parent != id || p.Version != before.Version+2 {
				t.Errorf("after pylance: %+v", p)
			}
			if diff := manifest.Diff(p.View, w.fresh()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fresh is what is there.
func (w *writer) fresh() *manifest.View {
	w.t.Helper()
	v, err := manifest.Open(w.t.Context(), w.on, manifest.Options{Branch: w.branch, ReadDeletions: true})
	if err != nil || len(v.Problems) > 0 {
		w.t.Fatalf("%v %v", err, v.Problems)
	}
	return v
}

func sameRows(t *testing.T, theirs []byte, s *lance.Snapshot) {
	t.Helper()
	ours, err := json.Marshal(scanned(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decode[[]map[string]any](t, theirs), decode[[]map[string]any](t, ours)); diff != "" {
		t.Errorf("the rows differ (-pylance +ours):\n%s", diff)
	}
}
