package manifest_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/manifest"
)

var random = regexp.MustCompile(`[01]{24}[0-9a-f]{26}|[0-9a-f]{8}-[0-9a-f-]{27}|-\d{6,20}\.arrow`)

// masked is a trace without what is drawn at random.
func masked(calls []blob.Call) string { return random.ReplaceAllString(trace(calls), "*") }

// publishing is a publish as traced wants it.
func publishing(t *testing.T, w *writer, o manifest.PublishOptions) func(context.Context, *memstore.Store) error {
	return func(ctx context.Context, s *memstore.Store) error {
		if o.From != nil {
			var err error
			if o.From, err = manifest.Open(context.Background(), s, manifest.Options{Branch: o.Branch}); err != nil {
				return err
			}
		}
		_, err := manifest.Publish(ctx, s, o)
		return err
	}
}

// Warm, a publish is four writes in two waves, the last of which decides, and
// nothing is read; on a branch the ref is read beside the first. Cold, it reads
// what an opening reads before.
func TestTracePublish(t *testing.T) {
	s := store(t, graph(t, "deep"))
	w := newWriter(t, s, "", 1)
	v := open(t, s, manifest.Options{})
	update := w.next(v.Tables[0])
	calls, total := traced(t, s, publishing(t, w, w.options(v, update)))
	newest, next := 1<<64-1-v.Version, 1<<64-2-v.Version
	want := fmt.Sprintf("1 put __manifest/_deletions/%d-%d*\n1 put __manifest/_transactions/%d-*.txn\n1 put __manifest/data/*.lance\n2 put __manifest/_versions/%020d.manifest",
		v.Snapshot.Manifest().Fragments[v.Fragments-1].ID, v.Version, v.Version, next)
	if got := masked(calls); got != want {
		t.Errorf("warm:\n%s\nwant\n%s", got, want)
	}
	if !calls[len(calls)-1].IfAbsent || total.Hops != 2 {
		t.Errorf("warm: %d hops; the last write if absent: %v", total.Hops, calls[len(calls)-1].IfAbsent)
	}
	calls, total = traced(t, s, publishing(t, w, w.options(nil, update)))
	got := masked(calls)
	reads := fmt.Sprintf("1 list __manifest/_versions/\n2 get __manifest/_versions/%020d.manifest\n", newest)
	if n := strings.Count(got, " get __manifest/data/"); !strings.HasPrefix(got, reads) || n != v.Fragments || len(calls) != 2+n+4 {
		t.Errorf("cold: %d requests, %d of them data files of %d:\n%s", len(calls), n, v.Fragments, got)
	}
	if waves := 2 + (v.Fragments+63)/64 + 2; total.Hops != waves {
		t.Errorf("cold: %d hops, want %d", total.Hops, waves)
	}
}

// The budget of a publish does not depend on the depth of history when it is
// warm, nor on what it changes.
func TestBudgetPublish(t *testing.T) {
	for _, name := range graphs {
		s := store(t, graph(t, name))
		w := newWriter(t, s, "", 2)
		v := open(t, s, manifest.Options{})
		var edits []manifest.Edit
		for _, e := range v.Tables {
			edits = append(edits, w.next(e))
		}
		for _, edits := range [][]manifest.Edit{nil, edits} {
			_, total := traced(t, s, publishing(t, w, w.options(v, edits...)))
			if total.Requests > 4 || total.Hops != 2 || total.Ops[blob.OpGet] != 0 {
				t.Errorf("%s, %d edits: %d requests in %d hops", name, len(edits), total.Requests, total.Hops)
			}
		}
	}
	s := store(t, graph(t, "midlife"))
	w := newWriter(t, s, "archive", 2)
	v := open(t, s, manifest.Options{Branch: "archive"})
	calls, total := traced(t, s, publishing(t, w, w.options(v)))
	if got := masked(calls); !strings.HasPrefix(got, "1 get __manifest/_refs/branches/archive.json\n1 put ") || total.Requests > 5 || total.Hops != 2 {
		t.Errorf("branch: %d hops\n%s", total.Hops, got)
	}
}
