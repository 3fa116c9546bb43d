package txn_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// foreign is a commit of the graph, of another branch.
const foreign = "01M8KXQQE8END3M4BPEV3PD4VY"

// twists are killed states with another record than the one that was left, and
// what the Rust engine has to do to them.
var twists = map[string]struct {
	op   string
	k    int
	want txn.Do
	edit func(*sidecar.Record)
}{
	"as it was, confirmed":             {"insert-edge", 5, txn.Forward, func(*sidecar.Record) {}},
	"as it was, part of three tables":  {"load-merge", 8, txn.Back, func(*sidecar.Record) {}},
	"as it was, a merge":               {"merge", 5, txn.Forward, func(*sidecar.Record) {}},
	"as it was, a new table":           {"schema-apply", 13, txn.Forward, func(*sidecar.Record) {}},
	"as it was, an optimize":           {"optimize", 91, txn.Forward, func(*sidecar.Record) {}},
	"as it was, published":             {"update-node", 10, txn.Finalize, func(*sidecar.Record) {}},
	"confirmed, head moved":            {"insert-edge", 5, txn.Back, func(r *sidecar.Record) { r.Plan.Authority.GraphHead = actor(foreign) }},
	"confirmed, no head then":          {"insert-edge", 5, txn.Back, func(r *sidecar.Record) { r.Plan.Authority.GraphHead = nil }},
	"confirmed, schema moved":          {"load-merge", 12, txn.Back, func(r *sidecar.Record) { r.Plan.Authority.IRHash = "sha256:00" }},
	"confirmed, domain moved":          {"update-node", 7, txn.Back, func(r *sidecar.Record) { r.Plan.Authority.IdentityDomain = "01M8" }},
	"merge, head moved":                {"merge", 5, txn.Back, func(r *sidecar.Record) { r.Plan.Authority.GraphHead = actor(foreign) }},
	"new table, head moved":            {"schema-apply", 13, txn.Back, func(r *sidecar.Record) { r.Plan.Authority.GraphHead = actor(foreign) }},
	"new table, roll-back decided":     {"schema-apply", 13, txn.Back, func(r *sidecar.Record) { r.Plan.RollingBack = true }},
	"new table, another target":        {"schema-apply", 13, txn.Refuse, func(r *sidecar.Record) { r.TargetIRHash = "sha256:00" }},
	"effects of somebody else":         {"insert-edge", 5, txn.Discard, func(r *sidecar.Record) { transactions(r, "x") }},
	"effects of somebody else, merge":  {"merge", 5, txn.Refuse, func(r *sidecar.Record) { transactions(r, "x") }},
	"effects of somebody else, schema": {"schema-apply", 13, txn.Refuse, func(r *sidecar.Record) { transactions(r, "x") }},
	"one table is somebody else's":     {"load-merge", 12, txn.Refuse, func(r *sidecar.Record) { e := &r.Plan.Effects[0]; e.Planned[0].UUID, e.Confirmed.UUID = "x", "x" }},
	"its branch is gone":               {"insert-edge", 5, txn.OrphanDiscard, func(r *sidecar.Record) { r.Branch, r.Plan.Lineage.Branch = "gone", "gone" }},
	"its branch was made anew": {"insert-edge", 5, txn.Refuse, func(r *sidecar.Record) {
		r.Plan.Authority.Branch = []sidecar.Fork{{Version: 1, UUID: strings.Repeat("0", 32)}}
	}},
	"published by another parent":                     {"update-node", 10, txn.Refuse, func(r *sidecar.Record) { r.Plan.Authority.GraphHead = actor(foreign) }},
	"published at another time":                       {"update-node", 10, txn.Refuse, func(r *sidecar.Record) { r.Plan.Lineage.CreatedAt++ }},
	"published with other rows":                       {"update-node", 10, txn.Refuse, func(r *sidecar.Record) { r.Plan.Delta.Updates[0].Confirmed.Rows++ }},
	"its roll-back is visible, and was never decided": {"insert-edge", 5, txn.Finalize, func(r *sidecar.Record) { r.Plan.Rollback = *r.Plan.Authority.GraphHead }},
	"its roll-back is visible":                        {"insert-edge", 5, txn.Finalize, func(r *sidecar.Record) { r.Plan.Rollback, r.Plan.RollingBack = *r.Plan.Authority.GraphHead, true }},
	"both commits are visible":                        {"update-node", 10, txn.Refuse, func(r *sidecar.Record) { r.Plan.Rollback = *r.Plan.Authority.GraphHead }},
}

// further are the twists about which Interpret goes further than the Rust engine:
// the writer came back after its roll-back, and what it did since is restored.
// The Rust engine refuses a record without outcomes, and leaves the table.
var further = map[string]bool{"its roll-back is visible, and was never decided": true, "its roll-back is visible": true}

// transactions gives the planned ones other ids.
func transactions(r *sidecar.Record, prefix string) {
	for i := range r.Plan.Effects {
		e := &r.Plan.Effects[i]
		for n := range e.Planned {
			e.Planned[n].UUID = prefix + e.Planned[n].UUID
		}
		if e.Confirmed != nil {
			e.Confirmed.UUID = prefix + e.Confirmed.UUID
		}
	}
}

// Records that we twisted beside tables that the Rust engine really moved: its
// recovery does what Interpret says, and refuses what Interpret refuses.
func TestTheRustEngineRecoversTwistedRecords(t *testing.T) {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("SKIPPED: OMNIGRAPH_BIN is not set; the Rust CLI would recover twisted records")
	}
	dir := t.TempDir()
	n := 0
	for what, c := range twists {
		n++
		r := rustGraph{t, bin, filepath.Join(dir, fmt.Sprint(n))}
		r.twist(what, c.op, c.k, c.edit)
		g := r.open("")
		key, p := r.pending(what)
		vis := g.visible(p)
		vis.Gone = p.Base.Branch == "gone"
		v := txn.Interpret(p, g.observe(p), vis)
		if v.Do != c.want {
			t.Errorf("%s: %s (%s: %s), want %s", what, v.Do, v.Reason, v.Text, c.want)
			continue
		}
		if further[what] {
			if !v.Mint || len(v.Tables) != 1 || v.Tables[0].Do != txn.Restore || v.Tables[0].To != p.Actions[0].Pin || !v.RolledBack {
				t.Errorf("%s: %+v", what, v)
			}
			continue
		}
		version, tables := g.forecast(p, v)
		err := r.cli("mutate", "rename_vessel", "-e", `query rename_vessel() { update Port set { country: "x" } where code = "nobody" }`, "--store", r.root)
		_, left := os.Stat(filepath.Join(r.root, filepath.FromSlash(key)))
		if refused := err != nil && left == nil; refused != (v.Do == txn.Refuse) || err != nil && v.Do != txn.Refuse && c.op != "schema-apply" {
			t.Errorf("%s: %s; the Rust CLI: %v, the record is there: %v", what, v.Do, err, left == nil)
		}
		after := r.open("")
		now := map[string]uint64{}
		for _, e := range after.view.Tables {
			now[e.Location] = e.Version
		}
		if after.view.Version != version || !maps.Equal(now, tables) {
			t.Errorf("%s: version %d, tables %v; %s (%s) leads to %d, %v", what, after.view.Version, now, v.Do, v.Text, version, tables)
		}
	}
}

// twist puts a killed state on the disk, with its record edited and at home.
func (r rustGraph) twist(what, op string, k int, edit func(*sidecar.Record)) {
	r.t.Helper()
	files := unpack(r.t, stuckFile(r.t, "base.tar.gz"))
	if own, err := fixtures.Shared("graphs", "stuck", op, "base.tar.gz"); err == nil {
		files = unpack(r.t, own)
	}
	maps.Copy(files, unpack(r.t, stuckFile(r.t, op, fmt.Sprintf("%02d.tar.gz", k))))
	for key, data := range files {
		if strings.HasPrefix(key, sidecar.Folder) {
			rec, problems, err := sidecar.Parse(key, data)
			if err != nil || len(problems) > 0 {
				r.t.Fatal(err, problems)
			}
			for i := range rec.Pins {
				rec.Pins[i].Path = r.root + strings.TrimPrefix(rec.Pins[i].Path, stuckRoot)
			}
			edit(rec)
			if data, err = rec.Encode(); err != nil {
				r.t.Fatalf("%s: %v", what, err)
			}
		}
		path := filepath.Join(r.root, filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
}

// pending is the plan of the one record.
func (r rustGraph) pending(what string) (key string, p *txn.PublishPlan) {
	r.t.Helper()
	names, err := filepath.Glob(filepath.Join(r.root, "__recovery", "*.json"))
	if err != nil || len(names) != 1 {
		r.t.Fatalf("%s: records %v, %v", what, names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		r.t.Fatal(err)
	}
	key = sidecar.Folder + filepath.Base(names[0])
	rec, problems, err := sidecar.Parse(key, data)
	if err != nil || len(problems) > 0 {
		r.t.Fatal(err, problems)
	}
	if p, err = txn.FromRecord(rec); err != nil {
		r.t.Fatal(err)
	}
	return key, p
}
