package engine_test

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/txn"
)

// stuckOps are the operations whose killed states are kept.
var stuckOps = []string{"branch-create", "insert-edge", "load-merge", "merge", "optimize", "schema-apply", "update-node"}

// stuckCase is one state that a killed client left.
type stuckCase struct {
	K       int
	Refused string
	Removed []string
	Pending []string
	After   map[string]struct {
		Rows   int
		SHA256 string
	}
}

func unpackShared(t *testing.T, name ...string) map[string][]byte {
	t.Helper()
	files, err := fixtures.Unpack(shared(t, name...))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// heads are the branches of a graph with the hashes of their exports.
func heads(t *testing.T, g *engine.Graph) map[string]string {
	t.Helper()
	names, err := g.BranchNames(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, n := range names {
		_, out[n] = exportHash(t, g, engine.At{Branch: n})
	}
	return out
}

// newVersions are the branches of which a state has a version of `__manifest`
// that its base has not.
func newVersions(base, state map[string][]byte) map[string]bool {
	out := map[string]bool{}
	for key := range state {
		if _, old := base[key]; old || path.Ext(key) != ".manifest" {
			continue
		}
		if dir, ok := strings.CutSuffix(path.Dir(key), "/_versions"); ok && strings.HasPrefix(dir, "__manifest") {
			name := strings.TrimPrefix(strings.TrimPrefix(dir, "__manifest"), "/tree/")
			out[max(name, map[bool]string{true: "main"}[name == ""])] = true
		}
	}
	return out
}

// Every state that a killed client left opens for looking, and shows the rows
// that were published last: those of the base, unless the new version of
// `__manifest` was already there.
func TestStuckStatesShowTheRowsLastPublished(t *testing.T) {
	for _, op := range stuckOps {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			var doc struct{ Cases []stuckCase }
			if err := json.Unmarshal(shared(t, "graphs", "stuck", op, "cases.json"), &doc); err != nil {
				t.Fatal(err)
			}
			base := unpackShared(t, "graphs", "stuck", "base.tar.gz")
			if own, err := fixtures.Shared("graphs", "stuck", op, "base.tar.gz"); err == nil {
				if base, err = fixtures.Unpack(own); err != nil {
					t.Fatal(err)
				}
			}
			before := heads(t, openStore(t, memory(t, memstore.Options{Name: "harbor"}, base)))
			if len(doc.Cases) == 0 {
				t.Fatal("no cases")
			}
			published := 0
			for _, c := range pace.Every(t, 3, doc.Cases) {
				state := maps.Clone(base)
				maps.Copy(state, unpackShared(t, "graphs", "stuck", op, twoDigits(c.K)+".tar.gz"))
				for _, key := range c.Removed {
					delete(state, key)
				}
				checkStuck(t, op, c, base, state, before)
				if newVersions(base, state)["main"] {
					published++
				}
			}
			if (published > 0) == (op == "branch-create") && !pace.Race {
				t.Errorf("%d of %d states have a new version of __manifest", published, len(doc.Cases))
			}
		})
	}
}

func twoDigits(n int) string { return string(rune('0'+n/10)) + string(rune('0'+n%10)) }

func checkStuck(t *testing.T, op string, c stuckCase, base, state map[string][]byte, before map[string]string) {
	t.Helper()
	g := openStore(t, memory(t, memstore.Options{Name: "harbor"}, state))
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(context.Background(), m)
	moved := newVersions(base, state)
	got := heads(t, g)
	for branch, sum := range got {
		want, source := before[branch], "the base"
		if after, ok := c.After[branch]; ok && moved[branch] {
			want, source = after.SHA256, "the new version"
		}
		if sum != want {
			t.Errorf("%s %d (%s): rows of %s are not those of %s", op, c.K, c.Refused, branch, source)
		}
	}
	for branch := range before {
		if _, ok := got[branch]; !ok {
			t.Errorf("%s %d: branch %s is not listed", op, c.K, branch)
		}
	}
	info, err := g.Info(ctx, engine.At{})
	if err != nil {
		t.Fatalf("%s %d: %v", op, c.K, err)
	}
	var pending []string
	for _, p := range info.PendingRecovery {
		pending = append(pending, p.Key)
		if !slices.ContainsFunc(info.Findings, func(f engine.Finding) bool { return len(f.Evidence) > 0 && f.Evidence[0].Key == p.Key && f.Trust != "" }) {
			t.Errorf("%s %d: no finding is about %s", op, c.K, p.Key)
		}
	}
	if !slices.Equal(pending, c.Pending) {
		t.Errorf("%s %d: pending %v, recorded %v", op, c.K, pending, c.Pending)
	}
	v, err := g.Verify(ctx, engine.VerifyOptions{})
	if err != nil {
		t.Fatalf("%s %d (%s): verify: %v", op, c.K, c.Refused, err)
	}
	var told []string
	for _, p := range v.Problems {
		if p.ID == "recovery-pending" && p.Severity == engine.SeverityWarn {
			told = append(told, p.Key)
		} else if p.Severity != engine.SeverityInfo {
			t.Errorf("%s %d (%s): verify tells %+v", op, c.K, c.Refused, p)
		}
	}
	_, held := state[txn.LockKey]
	if slices.ContainsFunc(v.Problems, func(p engine.Problem) bool { return p.ID == "schema-lock" && p.Key == txn.LockKey }) != held {
		t.Errorf("%s %d (%s): the lock is there: %v; verify tells %+v", op, c.K, c.Refused, held, v.Problems)
	}
	slices.Sort(told)
	if !slices.Equal(told, c.Pending) || v.Clean != (len(c.Pending) == 0) {
		t.Errorf("%s %d (%s): verify tells %v, recorded %v; clean %v", op, c.K, c.Refused, told, c.Pending, v.Clean)
	}
	if n := m.Totals(); n.Ops[blob.OpPut]+n.Ops[blob.OpDelete]+n.Ops[blob.OpCopy] != 0 {
		t.Errorf("%s %d: looking wrote: %v", op, c.K, n.Ops)
	}
}
