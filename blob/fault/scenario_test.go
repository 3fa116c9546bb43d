package fault_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
)

// pair is a writer of two objects that shall be seen both or not at all: readers
// look at what "now" names. careless leaves the order that makes it so.
func pair(t *testing.T, careless bool) *fault.Scenario {
	return &fault.Scenario{
		Start: func() (blob.Store, error) {
			s := mem(t)
			_, err := s.Put(t.Context(), "now", []byte("old"))
			return s, err
		},
		Run: func(ctx context.Context, s blob.Store) error {
			if _, err := s.Get(ctx, "now", blob.All); err != nil {
				return err
			}
			order := []string{"new/a", "new/b", "now"}
			if careless {
				order = []string{"now", "new/a", "new/b"}
			}
			for _, key := range order {
				if _, err := s.Put(ctx, key, []byte("new")); err != nil {
					return err
				}
			}
			return nil
		},
		Means: func(err error) fault.Ending {
			if errors.Is(err, blob.ErrAmbiguous) {
				return fault.Unclear
			}
			return fault.Refused
		},
		Check: func(ctx context.Context, s blob.Store, o *fault.Outcome) error {
			now, err := s.Get(ctx, "now", blob.All)
			if err != nil {
				return err
			}
			if string(now.Data) == "old" {
				if o.Ending == fault.Done {
					return errors.New("acknowledged and lost")
				}
				return nil
			}
			for _, key := range []string{"new/a", "new/b"} {
				if _, err := s.Head(ctx, key); err != nil {
					return fmt.Errorf("half of it is seen: %w", err)
				}
			}
			return nil
		},
	}
}

// A writer that keeps its word passes at every place; one that does not is found,
// with the place and what it was told.
func TestScenario(t *testing.T) {
	r, err := pair(t, false).Sweep(t.Context(), fault.Plan{})
	if err != nil {
		t.Error(err)
	}
	want := `death: 4 places, 4 tried: 4 died
death, call done: 3 places, 3 tried: 3 died
failure: 4 places, 4 tried: 4 refused
lost answer: 3 places, 3 tried: 3 unclear
throttling: 4 places, 4 tried: 1 refused 3 unclear
short read: 1 places, 1 tried: 1 done`
	if r.String() != want {
		t.Errorf("%s\nwant\n%s", r, want)
	}
	r, err = pair(t, true).Sweep(t.Context(), fault.Plan{})
	if err == nil || !strings.Contains(err.Error(), "death at 2 (put new/a), died: half of it is seen") || !strings.Contains(err.Error(), "the writer was told") {
		t.Errorf("a careless writer: %v\n%s", err, r)
	}
}

// A scenario that cannot go well is no scenario; nor is a writer without an end.
func TestScenarioThatCannotBe(t *testing.T) {
	sc := pair(t, false)
	sc.Run = func(context.Context, blob.Store) error { return errors.New("never") }
	if _, err := sc.Sweep(t.Context(), fault.Plan{}); err == nil || !strings.Contains(err.Error(), "nothing in its way") {
		t.Errorf("%v", err)
	}
	sc = pair(t, false)
	sc.Check = func(context.Context, blob.Store, *fault.Outcome) error { return nil }
	if _, err := sc.Sweep(t.Context(), fault.Plan{Limit: 1, Faults: []fault.Fault{{Name: "failure", Do: fault.Fail}}}); err == nil || !strings.Contains(err.Error(), "after 1 places there are more") {
		t.Errorf("%v", err)
	}
}

// Rivals go their way before each call, and a sample is spread over all places.
func TestScenarioRivalsAndSample(t *testing.T) {
	sc := pair(t, false)
	went := 0
	refused := errors.New("refused")
	sc.Rivals = map[string]func(context.Context, blob.Store) error{"theirs": func(ctx context.Context, s blob.Store) error {
		went++
		if went%2 == 0 {
			return refused
		}
		_, err := s.Put(ctx, "theirs", nil)
		return err
	}}
	told := map[bool]int{}
	check := sc.Check
	sc.Check = func(ctx context.Context, s blob.Store, o *fault.Outcome) error {
		if o.Fault != "" {
			told[errors.Is(o.RivalErr, refused)]++
			if _, err := s.Head(ctx, "theirs"); (err == nil) != (o.RivalErr == nil && o.Met) {
				return fmt.Errorf("the rival was told %w", o.RivalErr)
			}
		}
		return check(ctx, s, o)
	}
	r, err := sc.Sweep(t.Context(), fault.Plan{Faults: sc.Contenders()})
	if err != nil || went != 4 || told[true] != 2 || r.String() != "rival, theirs: 4 places, 4 tried: 4 done" {
		t.Errorf("%v, %d times, %v\n%s", err, went, told, r)
	}
	var at []int
	sc = pair(t, false)
	check = sc.Check
	sc.Check = func(ctx context.Context, s blob.Store, o *fault.Outcome) error {
		if o.Met {
			at = append(at, o.At)
		}
		return check(ctx, s, o)
	}
	for seed, want := range []string{"[0 2]", "[0 2]", "[1 3]", "[1 3]", "[0 2]"} {
		at = nil
		r, err = sc.Sweep(t.Context(), fault.Plan{Places: 2, Seed: uint64(seed), Faults: []fault.Fault{{Name: "failure", Do: fault.Fail}}})
		if err != nil || fmt.Sprint(at) != want || r.Lines[0].Places != 4 || r.Lines[0].Ran != 2 {
			t.Errorf("seed %d: %v at %v\n%s", seed, err, at, r)
		}
	}
}

// In every weather the writer that keeps its word does; a cut read of "now" is one
// that it may not look at.
func TestScenarioWeather(t *testing.T) {
	for _, w := range fault.Weathers(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }) {
		r, err := pair(t, false).Weather(t.Context(), w, 1, 2, 3, 4, 5, 6, 7, 8)
		if err != nil || r.Lines[0].Ran != 8 {
			t.Errorf("%s: %v", w.Name, err)
		}
		_, err = pair(t, true).Weather(t.Context(), w, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
		if fails := w.Name == "failing" || w.Name == "throttling"; (err != nil) != fails {
			t.Errorf("a careless writer, %s: %v", w.Name, err)
		}
	}
}
