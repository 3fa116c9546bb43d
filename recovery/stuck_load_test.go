package recovery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// stuckText is lines of entities of two node types, n of each.
func stuckText(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"type":"Port","data":{"code":"P%04d","name":"Port %d","country":"NL"}}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"Company","data":{"slug":"c%04d","name":"Company %d","listed":true}}`+"\n", i, i)
	}
	return b.Bytes()
}

// stuckImage is a copy of the graph while a load was paused before a request.
type stuckImage struct {
	before string // request
	store  blob.Store
	taken  time.Time
}

// stuckImages lets a load run to its end, and copies the whole graph before each
// of its writing requests.
func stuckImages(t testing.TB, start blob.Store, n int) (images []stuckImage, finished blob.Store) {
	t.Helper()
	finished = stuck.Clone(start)
	var mu sync.Mutex
	watched := fault.New(finished, fault.Rule{Match: fault.Writes, Every: true, Do: func(ctx context.Context, a *fault.Attempt) error {
		mu.Lock()
		defer mu.Unlock()
		images = append(images, stuckImage{string(a.Op) + " " + a.Key, stuck.Clone(finished), time.Now()})
		return a.Perform(ctx)
	}})
	r, err := stuck.Writable(t, watched).Load(context.Background(), engine.LoadOptions{Mode: "append", Input: lines(string(stuckText(n)))})
	if err != nil || r.Commit == nil || r.Warning != nil || r.Nodes != 2*n {
		t.Fatalf("%+v, %v", r, err)
	}
	return images, finished
}

// Case 3 of the field, image A: a long load of two node types, paused before each
// of its writes. Whoever only reads sees the rows as before; what is pending is
// told; recovery makes all of the load visible or nothing of it, and once; then
// main and another branch are written on.
func TestStuckLoadPausedAnywhere(t *testing.T) {
	n := 1500
	if stuck.Full() {
		n = 4000
	}
	start := stuck.StoreOf(t, stuck.Root, stuck.One(t, "load-merge", 0).Base)
	images, finished := stuckImages(t, start, n)
	old, whole := stuck.RowsOf(t, stuck.Graph(t, start)), stuck.RowsOf(t, stuck.Graph(t, finished))
	if whole["main"].Rows != old["main"].Rows+2*n {
		t.Fatalf("%d rows, with the load %d", old["main"].Rows, whole["main"].Rows)
	}
	seen := map[string]int{}
	for _, image := range pace.Every(t, 4, images) {
		seen[stuckPaused(t, image, old, whole)]++
	}
	for _, what := range []string{"no record", "discard", "back", "forward", "finalize"} {
		if seen[what] == 0 && !pace.Race {
			t.Errorf("no image whose load was %s: %v", what, seen)
		}
	}
	t.Logf("%d images: %v", len(images), seen)
}

// stuckPaused checks one image and says how it was settled.
func stuckPaused(t *testing.T, image stuckImage, old, whole map[string]stuck.Rows) string {
	t.Helper()
	keys := stuck.Keys(t, image.store, sidecar.Folder)
	published := stuck.View(t, image.store, "").Version > 5
	visible := old
	if published {
		visible = whole
	}
	g := stuck.Graph(t, blob.ReadOnly(image.store))
	if rows := stuck.RowsOf(t, g); !maps.Equal(rows, visible) {
		t.Errorf("paused before %s: rows\n%v, expected\n%v", image.before, rows, visible)
	}
	p := stuckLook(t, image.store, recovery.Options{Clock: func() time.Time { return image.taken }})
	if len(p.Items) != len(keys) || len(keys) > 1 {
		t.Fatalf("paused before %s: %d records, shown are %+v", image.before, len(keys), p.Items)
	}
	if len(keys) == 0 {
		stuckGoOn(t, "paused before "+image.before, image.store, false)
		return "no record"
	}
	stuckStatus(t, image, &p.Items[0], published)
	rep := stuckRecover(t, "paused before "+image.before, image.store, recovery.Options{Now: true})
	do := rep.Settled[0].Do
	want := old
	if do == txn.Forward || do == txn.Finalize {
		want = whole
	}
	if rows := stuck.RowsOf(t, stuck.Graph(t, image.store)); !maps.Equal(rows, want) {
		t.Errorf("paused before %s, %s: rows\n%v, expected\n%v", image.before, do, rows, want)
	}
	stuckIdle(t, "paused before "+image.before, image.store, recovery.Options{Now: true})
	stuckGoOn(t, "paused before "+image.before, image.store, false)
	return do.String()
}

// stuckStatus: operation, start with its zone, kind, phase, branch, and of each
// table the versions expected, planned and there.
func stuckStatus(t *testing.T, image stuckImage, i *recovery.Item, published bool) {
	t.Helper()
	o, err := image.store.Get(context.Background(), i.Key, blob.All)
	if err != nil {
		t.Fatal(err)
	}
	rec, problems, err := sidecar.Parse(i.Key, o.Data)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	if i.Operation != rec.OperationID || i.Kind != sidecar.Load || i.Branch != "" || i.Phase != rec.Phase {
		t.Errorf("paused before %s: shown is %+v", image.before, i)
	}
	if at, ok := rec.IDTime(); !ok || !i.Began.Equal(at) || i.Began.Location() != time.UTC || time.Since(i.Began) > time.Hour {
		t.Errorf("paused before %s: shown to have begun at %s, the id says %s", image.before, i.Began, at)
	}
	if i.Left <= 0 {
		t.Errorf("paused before %s: a load of now is shown as old", image.before)
	}
	view := stuck.View(t, image.store, "")
	if len(i.Tables) != 2 {
		t.Fatalf("paused before %s: tables %+v", image.before, i.Tables)
	}
	for _, table := range i.Tables {
		e, _ := view.Table(table.Alias)
		head := stuck.Newest(t, image.store, e.Location, "")
		if table.Published != e.Version || table.Head != head || table.Planned != table.Expected+1 || !published && table.Expected != e.Version || (table.Confirmed != 0) != (rec.Phase == sidecar.EffectsConfirmed) {
			t.Errorf("paused before %s: published is %d, newest %d, shown is %+v", image.before, e.Version, head, table)
		}
	}
}

// lastRecord is the record that the images saw last: the confirmed one.
func lastRecord(t *testing.T, images []stuckImage) (key string, data []byte, rec *sidecar.Record) {
	t.Helper()
	for _, image := range images {
		if keys := stuck.Keys(t, image.store, sidecar.Folder); len(keys) > 0 {
			o, err := image.store.Get(context.Background(), keys[0], blob.All)
			if err != nil {
				t.Fatal(err)
			}
			key, data = keys[0], o.Data
		}
	}
	rec, _, err := sidecar.Parse(key, data)
	if err != nil || rec.Phase != sidecar.EffectsConfirmed {
		t.Fatal(rec, err)
	}
	return key, data, rec
}

// Case 3 of the field, images B to F: the record of a finished load put back, under
// its own name, under another, cut, of a newer version, and with another commit.
func TestStuckRecordsPutBack(t *testing.T) {
	start := stuck.StoreOf(t, stuck.Root, stuck.One(t, "load-merge", 0).Base)
	images, finished := stuckImages(t, start, 20)
	own, data, rec := lastRecord(t, images)
	with := func(old, new string) []byte { return bytes.ReplaceAll(data, []byte(old), []byte(new)) }
	for _, c := range []struct {
		image, key string
		data       []byte
		refused    []string // words of why
	}{
		{"B", own, data, nil},
		{"C", "__recovery/old-copy.json", data, nil},
		{"D", own, data[:10], []string{"10 bytes"}},
		{"E", own, with(`"schema_version": 9`, `"schema_version": 99`), []string{"99"}},
		{"F", own, with(rec.CommitID, "01M8KXVDFMTG9KY9PQSS1CAEEP"), []string{"published at version 3", "was at 2"}},
	} {
		store := stuck.Clone(finished)
		if _, err := store.Put(context.Background(), c.key, c.data); err != nil {
			t.Fatal(err)
		}
		rows, before := stuck.RowsOf(t, stuck.Graph(t, store)), stuck.Objects(t, store)
		if want := stuck.RowsOf(t, stuck.Graph(t, finished)); !maps.Equal(rows, want) {
			t.Errorf("%s: the finished load reads as %v, not %v", c.image, rows, want)
		}
		p := stuckLook(t, store, recovery.Options{})
		if len(p.Items) != 1 || p.Items[0].Key != c.key {
			t.Fatalf("%s: shown are %+v", c.image, p.Items)
		}
		i := p.Items[0]
		rep, err := recovery.Execute(context.Background(), store, p, recovery.Options{Now: true})
		if err != nil || len(rep.Settled) != 1 {
			t.Fatalf("%s: %+v, %v", c.image, rep, err)
		}
		after, x := stuck.Objects(t, store), rep.Settled[0]
		if c.refused == nil {
			if i.Verdict.Do != txn.Finalize || x.Err != nil || x.Commit != rec.CommitID || i.Operation != rec.OperationID || i.Stem != path.Base(strings.TrimSuffix(c.key, sidecar.Suffix)) {
				t.Errorf("%s: shown is %+v, settled %+v", c.image, i, x)
			}
			delete(before, c.key)
			maps.DeleteFunc(after, func(k string, _ []byte) bool { return strings.HasPrefix(k, stuck.AuditTable) })
			if d := stuck.Differ(before, after); d != "" {
				t.Errorf("%s: beside the record and the audit row: %s", c.image, d)
			}
			continue
		}
		if e := (*recovery.RefusedError)(nil); !errors.As(x.Err, &e) || !strings.Contains(x.Err.Error(), c.key) {
			t.Errorf("%s: settled %+v", c.image, x)
		}
		for _, word := range c.refused {
			if !strings.Contains(x.Err.Error(), word) {
				t.Errorf("%s: %q is missing in: %v", c.image, word, x.Err)
			}
		}
		if d := stuck.Differ(before, after); d != "" {
			t.Errorf("%s: refused, and %s", c.image, d)
		}
	}
}
