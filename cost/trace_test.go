package cost_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/cost"
)

// TestTrace: calls stand in order of beginning with their hops, and every one
// is in the matrix of classes, in the order of cost.Classes.
func TestTrace(t *testing.T) {
	s := memstore.New(memstore.Options{})
	ctx, scope := cost.WithTrace(t.Context())
	if _, err := s.Put(ctx, "_schema.pg", []byte("12345")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, "_schema.pg", blob.All); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, "__manifest/_versions/1.manifest", blob.All); !errors.Is(err, blob.ErrNotExist) {
		t.Fatal(err)
	}
	for range s.List(ctx, blob.ListOptions{Prefix: "nodes/1/_versions/"}) {
		t.Error("an entry")
	}
	got := scope.Trace()
	want := []string{"put _schema.pg schema 0 5 1 1", "get _schema.pg schema 5 0 2 1", "get __manifest/_versions/1.manifest manifest.open 0 0 3 1", "list nodes/1/_versions/ data.open 0 0 4 1"}
	if len(got.Calls) != len(want) || got.Dropped != 0 {
		t.Fatalf("%d calls, %d dropped", len(got.Calls), got.Dropped)
	}
	for i, c := range got.Calls {
		if line := fmt.Sprint(c.Op, " ", c.Key, " ", c.Class, " ", c.Read, " ", c.Written, " ", c.Hop, " ", c.Attempt); line != want[i] {
			t.Errorf("call %d is %s, want %s", i, line, want[i])
		}
		if (c.Err != "") != (i == 2) || c.Failed || c.End.Before(c.Start) || c.Start.IsZero() {
			t.Errorf("call %d: %+v", i, c)
		}
	}
	classes := fmt.Sprint(got.Classes)
	if classes != "[{manifest.open {1 0 0 0 0 0}} {data.open {0 0 1 0 0 0}} {schema {1 0 0 1 0 0}}]" {
		t.Errorf("classes %s", classes)
	}
}

// TestTraceKeepsTheNewest: a scope that remembers holds 512 calls, counts the
// rest, and one that does not remember holds none.
func TestTraceKeepsTheNewest(t *testing.T) {
	outer, plain := cost.WithScope(t.Context())
	ctx, scope := cost.WithTrace(outer)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 150 {
				blob.Begin(ctx, blob.Call{Op: blob.OpGet, Key: "__manifest/data/1.lance"}).End(7, 0, nil)
			}
		})
	}
	wg.Wait()
	blob.Begin(ctx, blob.Call{Op: blob.OpDelete, Key: "x", Attempt: 2}).End(0, 0, errors.New("no route"))
	got := scope.Trace()
	if len(got.Calls) != 512 || got.Dropped != 601-512 {
		t.Errorf("%d calls kept, %d dropped", len(got.Calls), got.Dropped)
	}
	for i := 1; i < len(got.Calls); i++ {
		if got.Calls[i].Start.Before(got.Calls[i-1].Start.Add(-time.Second)) {
			t.Fatal("not in order of beginning")
		}
	}
	last := got.Calls[len(got.Calls)-1]
	if last.Err != "no route" || !last.Failed || last.Attempt != 2 {
		t.Errorf("the last call is %+v", last)
	}
	total := int64(0)
	for _, c := range got.Classes {
		total += c.Ops.Total()
	}
	if total != 601 {
		t.Errorf("the matrix holds %d requests of 601", total)
	}
	if p := plain.Trace(); len(p.Calls) != 0 || p.Dropped != 601 || len(p.Classes) != 2 {
		t.Errorf("a scope that remembers nothing: %d calls, %d dropped, %d classes", len(p.Calls), p.Dropped, len(p.Classes))
	}
}

// TestTraceWhileCounting: a trace may be taken at any time.
func TestTraceWhileCounting(t *testing.T) {
	ctx, scope := cost.WithTrace(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 {
			blob.Begin(ctx, blob.Call{Op: blob.OpHead, Key: "_schema.pg"}).End(0, 0, nil)
		}
	}()
	for seen := int64(0); seen < 2000; {
		tr := scope.Trace()
		n := int64(len(tr.Calls)) + tr.Dropped
		if n < seen {
			t.Fatalf("%d calls after %d", n, seen)
		}
		seen = n
	}
	<-done
}
