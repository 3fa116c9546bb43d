package fault

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Weather is what a store is like all along. What befalls a call depends on the
// seed, the call, and how often it was made: not on what goes on beside it.
type Weather struct {
	Name string
	Over func(inner blob.Store, seed uint64) blob.Store
}

// Weathers are all kinds of them. sleep waits for what the store takes its time
// for; nil = a timer.
func Weathers(sleep func(context.Context, time.Duration) error) []Weather {
	return []Weather{
		{"slow", func(s blob.Store, seed uint64) blob.Store { return Slow(s, seed, time.Second, sleep) }},
		{"throttling", func(s blob.Store, seed uint64) blob.Store { return Throttling(s, seed, 40, 6) }},
		{"failing", func(s blob.Store, seed uint64) blob.Store { return Failing(s, seed, 20) }},
		{"cutting", func(s blob.Store, seed uint64) blob.Store { return Cutting(s, seed, 20) }},
		{"late", func(s blob.Store, seed uint64) blob.Store { return Late(s, seed, 3) }},
	}
}

// Slow takes up to most for each call, half of it before and half after the store
// has done it. sleep nil = a timer.
func Slow(inner blob.Store, seed uint64, most time.Duration, sleep func(context.Context, time.Duration) error) *Store {
	if sleep == nil {
		sleep = wait
	}
	d := dice{seed: seed}
	return New(inner, Rule{Every: true, Do: func(ctx context.Context, a *Attempt) error {
		a.store.mu.Lock()
		half := time.Duration(d.roll(a.Call)%uint64(most+1)) / 2
		a.store.mu.Unlock()
		if err := sleep(ctx, half); err != nil {
			return err // nothing was sent
		}
		err := a.Perform(ctx)
		if late := sleep(ctx, half); late != nil && err == nil {
			return unheard(a, late)
		}
		return err
	}})
}

// unheard is the error of a call that was done and was not waited for.
func unheard(a *Attempt, why error) error {
	if Writes(a.Call) {
		return fmt.Errorf("%w: %w", blob.ErrAmbiguous, why)
	}
	return why
}

// Throttling answers one of so many calls, and each of the burst that follows, by
// SlowDown.
func Throttling(inner blob.Store, seed uint64, oneIn, burst int) *Store {
	d, left := dice{seed: seed}, 0
	return New(inner, Rule{Every: true, Do: SlowDown, Match: func(c Call) bool {
		if left > 0 {
			left--
			return true
		}
		if d.roll(c)%uint64(oneIn) != 0 {
			return false
		}
		left = burst - 1
		return true
	}})
}

// Failing answers one of so many calls with an error of the server: every second
// one of these was carried out.
func Failing(inner blob.Store, seed uint64, oneIn int) *Store {
	d := dice{seed: seed}
	return New(inner, Rule{Every: true, Match: func(c Call) bool { return d.roll(c)%uint64(oneIn) == 0 }, Do: func(ctx context.Context, a *Attempt) error {
		if half := (dice{seed: ^seed}); half.roll(a.Call)%2 == 0 {
			return answered(a, http.StatusBadGateway, "BadGateway")
		}
		return ServerError(ctx, a)
	}})
}

// Cutting hands over one of so many reads without its second half, and says
// nothing of it.
func Cutting(inner blob.Store, seed uint64, oneIn int) *Store {
	d := dice{seed: seed}
	return New(inner, Rule{Every: true, Do: CutHalf, Match: func(c Call) bool {
		return gets(c) && d.roll(c)%uint64(oneIn) == 0
	}})
}

// dice are thrown for one call after the other. They are not safe for concurrent
// use: a rule's Match is called under the lock of its store.
type dice struct {
	seed  uint64
	times map[Call]uint64
}

// roll is a number for this call, another one each time that it is made.
func (d *dice) roll(c Call) uint64 {
	if d.times == nil {
		d.times = map[Call]uint64{}
	}
	n := d.times[c]
	d.times[c] = n + 1
	h := fnv.New64a()
	_, _ = io.WriteString(h, string(c.Op)+" "+c.Key)
	x := h.Sum64() ^ d.seed*0x9e3779b97f4a7c15 ^ (n+1)*0xbf58476d1ce4e5b9 ^ uint64(c.Page+1)*0x94d049bb133111eb
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // the finaliser of splitmix64
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
