package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/internal/rivals"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/manifest"
)

// TestMain is also the child of the races: it publishes to a graph and prints
// what it was told.
func TestMain(m *testing.M) { rivals.Main(m, child) }

// child: address, number, publishes. It builds on what it published last, at first
// on the genesis, so that all but one lose once, whoever comes when; and tries again
// with the same commit when it has lost too often. Every second publish moves its
// own table.
func child(job []string) error {
	number, _ := strconv.Atoi(job[1])
	n, err := strconv.Atoi(job[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	store, err := opener.Open(ctx, job[0])
	if err != nil {
		return err
	}
	defer store.Close()
	from, err := manifest.Open(ctx, store, manifest.Options{Version: 1})
	if err != nil {
		return err
	}
	for i := range n {
		o := manifest.PublishOptions{From: from, Rand: rand.NewChaCha8([32]byte{byte(number), byte(i)})}
		o.Commit = &manifest.Intent{ID: fmt.Sprintf("01KB7Q0V1S3F8D1Y3J8%02dE%04d", number, i), CreatedAt: int64(1000*i + number)}
		if i%2 == 1 {
			id := manifest.Identity{Table: uint64(number + 1), Incarnation: uint64(number + 100)}
			alias := fmt.Sprintf("node:T%d", number)
			o.Edits = []manifest.Edit{manifest.Update{Identity: id, Alias: alias, Version: uint64(i + 2), Rows: uint64(i), Meta: meta(i)}}
		}
		for exhausts := 0; ; {
			p, err := manifest.Publish(ctx, store, o)
			var exhausted *manifest.ExhaustedError
			if errors.As(err, &exhausted) {
				o.From = nil
				exhausts++ // at least one attempt was lost
				continue
			}
			if err != nil {
				return err
			}
			fmt.Println(o.Commit.ID, p.Version, p.Attempts+exhausts)
			from = p.View
			break
		}
	}
	return nil
}

// begun makes the graph of a race, with one table for each process.
func begun(t *testing.T, store blob.Store, procs int) {
	t.Helper()
	begin := manifest.CreateOptions{Commit: manifest.Intent{ID: "01KB7Q0V1S3F8D1Y3J8E000000", CreatedAt: 1}}
	for i := range procs {
		begin.Tables = append(begin.Tables, manifest.Update{Identity: manifest.Identity{Table: uint64(i + 1), Incarnation: uint64(i + 100)}, Alias: fmt.Sprintf("node:T%d", i), Version: 1})
	}
	if _, err := manifest.Create(t.Context(), store, begin); err != nil {
		t.Fatal(err)
	}
}

// raced lets the processes publish. told are the ids of the commits that they were
// told, by version; lost is how many attempts went to another.
func raced(t *testing.T, uri string, procs, n int) (told map[uint64]string, lost int) {
	t.Helper()
	jobs := make([]string, procs)
	for i := range jobs {
		jobs[i] = fmt.Sprintf("%s %d %d", uri, i, n)
	}
	told = map[uint64]string{}
	for _, lines := range rivals.Run(t, jobs...) {
		for _, line := range lines {
			var id string
			var version uint64
			var attempts int
			if _, err := fmt.Sscan(line, &id, &version, &attempts); err != nil {
				t.Fatal(err)
			}
			if told[version] != "" {
				t.Errorf("version %d was told twice", version)
			}
			told[version] = id
			lost += attempts - 1
		}
	}
	return told, lost
}

// race lets processes publish to one graph at once, and looks at what they made:
// one chain of commits, each the parent of the next, every acknowledged one in
// the version that it was told, nothing else.
func race(t *testing.T, uri string, procs, n int) {
	t.Helper()
	store, err := opener.Open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	begun(t, store, procs)
	told, lost := raced(t, uri, procs, n)
	v, err := manifest.Open(t.Context(), store, manifest.Options{ReadDeletions: true})
	if err != nil || len(v.Problems) > 0 {
		t.Fatalf("%v %v", err, v.Problems)
	}
	total := procs*n + 1
	if len(told) != total-1 || v.Version != uint64(total) || v.Commits.Len() != total {
		t.Fatalf("%d acknowledged, version %d, %d commits; want %d", len(told), v.Version, v.Commits.Len(), total)
	}
	for i := range total - 1 {
		c := v.Commits.At(i)
		if c.ManifestVersion != uint64(total-i) || told[c.ManifestVersion] != c.ID || c.Parent != v.Commits.ID(i+1) {
			t.Errorf("version %d: %+v, told was %s, before it is %s", total-i, c, told[c.ManifestVersion], v.Commits.ID(i+1))
		}
	}
	for _, e := range v.Tables {
		if want := uint64(n - n%2 + 1); e.Version != want {
			t.Errorf("%s is at %d, want %d", e.Alias, e.Version, want)
		}
	}
	goesOn(t, store, v)
	t.Logf("%d processes, %d publishes, %d attempts lost", procs, total-1, lost)
	if lost < procs-1 {
		t.Errorf("%d attempts were lost, of %d processes that began with the same version", lost, procs)
	}
}

// goesOn publishes once more on the newest version, v, and requires that this is
// then the newest and v no longer.
func goesOn(t *testing.T, store blob.Store, v *manifest.View) {
	t.Helper()
	w := newWriter(t, nil, "", 99) // no child has its dice
	w.on = store
	p := w.publish(w.options(v))
	if latest, newest, err := p.View.Probe(t.Context()); err != nil || !latest || newest != p.Version {
		t.Errorf("what was published is not the newest: %v %d %v", latest, newest, err)
	}
	if latest, newest, err := v.Probe(t.Context()); err != nil || latest || newest != p.Version {
		t.Errorf("what was before is the newest: %v %d %v", latest, newest, err)
	}
	if diff := manifest.Diff(p.View, w.fresh()); diff != "" {
		t.Error(diff)
	}
}

func TestProcessesLocal(t *testing.T) { race(t, t.TempDir(), 4, 12) }

func TestProcessesS3(t *testing.T) {
	lab.Test(t, lab.Options{})
	race(t, "s3://"+lab.Bucket+"/race", 3, 8)
}
