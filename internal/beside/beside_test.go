package beside_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnideck/omnideck/internal/beside"
)

// The error is that of the first part in order, whichever failed first.
func TestTheFirstInOrderHasTheSay(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	for name, took := range map[string][2]time.Duration{
		"in order": {1, 2}, "at once": {1, 1}, "the other way round": {2, 1},
	} {
		for _, limit := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%s, %d", name, limit), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					err := beside.Each(t.Context(), 3, limit, func(ctx context.Context, i int) error {
						switch i {
						case 1:
							return after(ctx, took[0]*time.Second, first)
						case 2:
							return after(ctx, took[1]*time.Second, second)
						}
						return after(ctx, 3*time.Second, nil)
					})
					if err != first {
						t.Errorf("%v, want first", err)
					}
				})
			})
		}
	}
}

// A part that fails ends those after it, and begins no more.
func TestWhatComesAfterIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, bad := time.Now(), errors.New("bad")
		g := beside.New(t.Context(), 0)
		before := error(context.Canceled)
		g.Go(func(ctx context.Context) error { before = after(ctx, 2*time.Second, nil); return before })
		g.Go(func(ctx context.Context) error { return after(ctx, time.Second, bad) })
		g.Go(func(ctx context.Context) error { return after(ctx, time.Hour, nil) })
		time.Sleep(time.Second)
		synctest.Wait()
		g.Go(func(context.Context) error { t.Error("a part was begun after one had failed"); return nil })
		if err := g.Wait(); err != bad || before != nil {
			t.Errorf("%v, and the part before ended with %v", err, before)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v: the part before was to end by itself, the one after at once", took)
		}
	})
}

// A part that waits for what a later one fetches does not fail because that was
// ended.
func TestWhatPartsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		fetched := make(chan error, 1)
		g := beside.New(t.Context(), 0)
		g.Go(func(context.Context) error { return <-fetched })
		g.Go(func(ctx context.Context) error { return after(ctx, time.Second, bad) })
		g.Go(func(ctx context.Context) error {
			err := fmt.Errorf("fetching: %w", after(ctx, time.Hour, nil))
			fetched <- err
			return err
		})
		if err := g.Wait(); err != bad {
			t.Errorf("%v, want bad", err)
		}
	})
}

// All ends nothing.
func TestAllRunToTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make([]bool, 5)
		err := beside.All(5, 2, func(i int) error {
			time.Sleep(time.Duration(5-i) * time.Second)
			ended[i] = true
			if i == 0 || i == 4 {
				return fmt.Errorf("part %d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "part 0" || slices.Contains(ended, false) {
			t.Errorf("%v, ended: %v", err, ended)
		}
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := beside.Each(t.Context(), 7, 3, func(ctx context.Context, _ int) error { return after(ctx, time.Second, nil) }); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("seven seconds, three at once, took %v", took)
		}
	})
}

func after(ctx context.Context, d time.Duration, err error) error {
	select {
	case <-time.After(d):
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
