package model_test

import (
	"context"
	"fmt"
	"github.com/omnideck/omnideck/blob"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/omnideck/omnideck/internal/model"
	"github.com/omnideck/omnideck/internal/pace"
)

// run takes a walk in a bubble and judges it.
func run(t *testing.T, w model.Walk, o model.Options) (h *model.History, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if h, err = model.Take(t.Context(), w, o); err == nil {
			err = model.Judge(t.Context(), h)
		}
	})
	return h, err
}

// shrunk is a walk that fails, as small as it gets, and how it fails.
func shrunk(t *testing.T, w model.Walk, o model.Options) (model.Walk, error) {
	t.Helper()
	var last error
	w = model.Shrink(w, func(w model.Walk) bool {
		_, err := run(t, w, o)
		if err != nil {
			last = err
		}
		return err != nil
	})
	if _, err := run(t, w, o); err != nil {
		last = err
	}
	return w, last
}

func environ(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// Walks of several clients end as the model has it. OMNIDECK_WALKS is how many
// there are, from seed OMNIDECK_SEED on; with OMNIDECK_OPS it is that one walk of
// these operations, and its calls are told.
func TestWalk(t *testing.T) {
	seed := uint64(environ("OMNIDECK_SEED", 1))
	if ops := os.Getenv("OMNIDECK_OPS"); ops != "" {
		w, err := model.Parse(seed, ops)
		if err != nil {
			t.Fatal(err)
		}
		h, err := run(t, w, model.Options{})
		t.Logf("%v\n%v\n%s", w, h, strings.Join(h.Calls, "\n"))
		if err != nil {
			t.Error(err)
		}
		return
	}
	n := environ("OMNIDECK_WALKS", pace.Of(60, 20))
	total := map[string]int{}
	for range n {
		w := model.Draw(seed)
		h, err := run(t, w, model.Options{})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			small, why := shrunk(t, w, model.Options{})
			t.Fatalf("%v\n%v", why, small)
		}
		h.Count(total)
		seed++
	}
	t.Logf("%d walks, to seed %d: %v", n, seed-1, total)
	for _, must := range []string{"acknowledged", "killed", "unknown", "a rule"} {
		if total[must] == 0 && n >= 20 {
			t.Errorf("in no walk there was %q: %v", must, total)
		}
	}
}

// The same walk is the same walk each time: the same requests, objects and ends.
func TestWalkRepeatsItself(t *testing.T) {
	for seed := range uint64(6) {
		var first string
		for n := range 3 {
			h, err := run(t, model.Draw(seed), model.Options{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if s := fmt.Sprint(h) + strings.Join(h.Calls, "\n"); n == 0 {
				first = s
			} else if s != first {
				t.Errorf("seed %d: once and then\n%s", seed, differs(first, s))
			}
		}
	}
}

// differs is the first line that two texts do not share.
func differs(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return fmt.Sprintf("%d lines\n%d lines", len(x), len(y))
}

// careless is a store that breaks its promise.
type careless struct {
	blob.Store
	replaces bool // what is there is no reason not to create it
	forgets  int  // which of the files of rows is only told to be written
	made     int
}

func (c *careless) PutIfAbsent(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	if c.replaces {
		return c.Store.Put(ctx, key, data)
	}
	return c.Store.PutIfAbsent(ctx, key, data)
}

func (c *careless) Put(ctx context.Context, key string, data []byte) (blob.Attrs, error) {
	if strings.Contains(key, "/data/") && strings.HasPrefix(key, "nodes/") {
		if c.made++; c.made == c.forgets {
			return blob.Attrs{Size: int64(len(data)), ETag: `"lost"`}, nil
		}
	}
	return c.Store.Put(ctx, key, data)
}

// A store that does not keep what it promises is found out, and what is left of
// the walk is short.
func TestWalkFindsACarelessStore(t *testing.T) {
	for name, c := range map[string]struct {
		store careless
		from  uint64 // seed
		most  int    // operations that are left
	}{
		"creates what is there":       {careless{replaces: true}, 120, 3},
		"tells of what it did not do": {careless{forgets: 2}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			o := model.Options{Under: func(s blob.Store) blob.Store { c := c.store; c.Store = s; return &c }}
			for seed := c.from; ; seed++ {
				w := model.Draw(seed)
				if _, err := run(t, w, o); err == nil {
					if seed == c.from+50 {
						t.Fatal("50 walks did not find it")
					}
					continue
				}
				if _, err := run(t, w, model.Options{}); err != nil {
					t.Fatalf("seed %d, with a store that does: %v", seed, err)
				}
				small, why := shrunk(t, w, o)
				t.Logf("seed %d: %v\n%v", seed, why, small)
				if why == nil || len(small.Ops) > c.most {
					t.Errorf("%d operations are left, expected %d at most", len(small.Ops), c.most)
				}
				again, err := model.Parse(seed, small.Replay())
				if err != nil || again.String() != small.String() {
					t.Errorf("%v: what is printed leads to %v", err, again)
				}
				return
			}
		})
	}
}
