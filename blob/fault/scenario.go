package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/blob"
)

// Ending is what was told to whoever asked for a write.
type Ending string

// The endings.
const (
	Done    Ending = "done"    // it was acknowledged
	Refused Ending = "refused" // nothing of it was done, and nothing is left to settle
	Unclear Ending = "unclear" // something may have been done, and somebody has to settle it
	Died    Ending = "died"    // nobody was told: the process halted
)

// Scenario is one writer: what it begins with, what it does, and what must be
// true of the store afterwards whatever went wrong on the way. Sweep and Weather
// need no list of places: a call that the writer does not make yet is met as
// soon as it does.
type Scenario struct {
	// Start makes the store that the writer finds, for one run alone.
	Start func() (blob.Store, error)
	// Run is the writer. No error is an acknowledgement.
	Run func(ctx context.Context, s blob.Store) error
	// Means says what an error of Run tells: Refused or Unclear.
	Means func(err error) Ending
	// Check looks at what is there afterwards, through the store itself.
	Check func(ctx context.Context, s blob.Store, o *Outcome) error
	// Rivals are other writers, by name. Each goes its whole way, on the store
	// itself, before one call of Run. What it was told is told to Check.
	Rivals map[string]func(ctx context.Context, s blob.Store) error
}

// Outcome is what one run came to.
type Outcome struct {
	Fault  string // its name, or that of a weather; "" = nothing went wrong
	At     int    // index of the call among those that the fault can befall, or the seed
	Met    bool   // something did go wrong, at First for the first time
	First  Call
	Ending Ending
	Err    error // of Run
	// RivalErr is what a rival was told: nil = that its write is done.
	RivalErr error
}

func (o *Outcome) String() string {
	if o.Fault == "" {
		return "with nothing in its way"
	}
	s := fmt.Sprintf("%s at %d", o.Fault, o.At)
	if o.First.Op != "" {
		s += fmt.Sprintf(" (%s %s)", o.First.Op, o.First.Key)
	}
	if o.Ending != "" {
		s += ", " + string(o.Ending)
	}
	if o.RivalErr != nil {
		s += fmt.Sprintf(", the rival was told %q", o.RivalErr)
	}
	return s
}

// Fault is what can go wrong at a call.
type Fault struct {
	Name  string
	Match func(Call) bool // the calls that it can befall; nil = every one
	Burst int             // so many of them, one after the other; 0 = one
	Do    Action

	rival func(ctx context.Context, s blob.Store) error
}

// Faults are all kinds of them.
func Faults() []Fault {
	return []Fault{
		{Name: "death", Do: Halt},
		{Name: "death, call done", Match: Writes, Do: DoAndHalt},
		{Name: "failure", Do: Fail},
		{Name: "lost answer", Match: Writes, Do: LoseAnswer},
		{Name: "throttling", Burst: 4, Do: SlowDown},
		{Name: "short read", Match: gets, Do: CutHalf},
	}
}

func gets(c Call) bool { return c.Op == blob.OpGet }

// Plan says how much of a sweep is run.
type Plan struct {
	Faults []Fault // nil = Faults and the Contenders
	// Places bounds how many places of each fault are tried, spread over all of
	// them; Seed says which. 0 = all.
	Places int
	Seed   uint64
	Limit  int // of places of one fault, beyond which a writer is held to go on for ever; 0 = 1000
}

// Line is what came of one fault, or of one weather.
type Line struct {
	Fault   string
	Places  int // that there are; of a weather, runs
	Ran     int // runs that met it
	Endings map[Ending]int
}

// Report is what came of all, a line a fault.
type Report struct{ Lines []Line }

func (r *Report) String() string {
	var out []string
	for _, l := range r.Lines {
		s := fmt.Sprintf("%s: %d places, %d tried:", l.Fault, l.Places, l.Ran)
		for _, e := range slices.Sorted(maps.Keys(l.Endings)) {
			s += fmt.Sprintf(" %d %s", l.Endings[e], e)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

// failures is how many are told of one sweep.
const failures = 12

// Sweep runs the writer undisturbed, then with each fault at each place. The error
// joins what Check found, each with its place.
func (sc *Scenario) Sweep(ctx context.Context, p Plan) (*Report, error) {
	if p.Limit == 0 {
		p.Limit = 1000
	}
	if p.Faults == nil {
		p.Faults = append(Faults(), sc.Contenders()...)
	}
	r, found := &Report{}, &findings{}
	calm, err := sc.run(ctx, &Outcome{}, func(s blob.Store, _ *Outcome) *Store { return New(s, counters(p.Faults)...) })
	if err != nil {
		return r, err
	}
	for i, f := range p.Faults {
		places := spread(calm.seen[i], p.Places, p.Seed)
		l := Line{Fault: f.Name, Places: calm.seen[i], Endings: map[Ending]int{}}
		for n := 0; p.Places == 0 || n < len(places); n++ {
			at := n
			if p.Places > 0 {
				at = places[n]
			}
			if at == p.Limit {
				found.add(fmt.Errorf("%s: after %d places there are more", f.Name, p.Limit))
				break
			}
			o := &Outcome{Fault: f.Name, At: at}
			_, err := sc.run(ctx, o, func(s blob.Store, o *Outcome) *Store { return New(s, f.at(o)) })
			if found.add(err); !o.Met && p.Places == 0 {
				break
			}
			l.count(o)
		}
		r.Lines = append(r.Lines, l)
	}
	return r, found.err()
}

func (l *Line) count(o *Outcome) {
	if o.Met {
		l.Ran++
		l.Places = max(l.Places, o.At+1)
		l.Endings[o.Ending]++
	}
}

// Weather runs the writer in a weather, once for each seed.
func (sc *Scenario) Weather(ctx context.Context, w Weather, seeds ...uint64) (*Report, error) {
	l, found := Line{Fault: w.Name, Endings: map[Ending]int{}}, &findings{}
	for _, seed := range seeds {
		o := &Outcome{Fault: w.Name, At: int(seed), Met: true}
		_, err := sc.run(ctx, o, func(s blob.Store, _ *Outcome) *Store { return New(w.Over(s, seed)) })
		found.add(err)
		l.count(o)
	}
	l.Places = len(seeds)
	return &Report{Lines: []Line{l}}, found.err()
}

// run is one run and its check.
func (sc *Scenario) run(ctx context.Context, o *Outcome, over func(blob.Store, *Outcome) *Store) (*Store, error) {
	inner, err := sc.Start()
	if err != nil {
		return nil, fmt.Errorf("%s: making the store: %w", o, err)
	}
	defer inner.Close()
	s := over(inner, o)
	o.Err = sc.Run(ctx, s)
	switch {
	case o.Err == nil:
		o.Ending = Done
	case s.Halted():
		o.Ending = Died
	case !o.Met:
		return s, fmt.Errorf("%s it failed: %w", &Outcome{}, o.Err)
	default:
		o.Ending = sc.Means(o.Err)
	}
	if err := sc.Check(ctx, inner, o); err != nil {
		return s, fmt.Errorf("%s: %w; the writer was told: %v", o, err, o.Err)
	}
	return s, nil
}

// Contenders are the scenario's rivals as faults.
func (sc *Scenario) Contenders() (out []Fault) {
	for _, name := range slices.Sorted(maps.Keys(sc.Rivals)) {
		out = append(out, Fault{Name: "rival, " + name, rival: sc.Rivals[name]})
	}
	return out
}

// at is the rule of a fault at the place of an outcome, which it fills in.
func (f *Fault) at(o *Outcome) Rule {
	return Rule{Match: f.Match, At: o.At, Burst: f.Burst, Do: func(ctx context.Context, a *Attempt) error {
		a.store.mu.Lock()
		if !o.Met {
			o.Met, o.First = true, a.Call
		}
		a.store.mu.Unlock()
		if f.rival == nil {
			return f.Do(ctx, a)
		}
		o.RivalErr = f.rival(context.WithoutCancel(ctx), a.store.inner)
		return a.Perform(ctx)
	}}
}

// counters are rules that count what each fault could befall, and do nothing.
func counters(faults []Fault) []Rule {
	out := make([]Rule, len(faults))
	for i, f := range faults {
		out[i] = Rule{Match: f.Match, At: -1}
	}
	return out
}

// spread is most of 0 … n-1, one of each part of them; most 0 = all.
func spread(n, most int, seed uint64) []int {
	if most <= 0 || most > n {
		most = n
	}
	out := make([]int, most)
	for i := range out {
		out[i] = (i*n + int(seed%uint64(n))) / most
	}
	return out
}

// findings are what checks found.
type findings struct {
	all  []error
	more int
}

func (f *findings) add(err error) {
	switch {
	case err == nil:
	case len(f.all) < failures:
		f.all = append(f.all, err)
	default:
		f.more++
	}
}

func (f *findings) err() error {
	if f.more > 0 {
		return errors.Join(append(f.all, fmt.Errorf("and %d more", f.more))...)
	}
	return errors.Join(f.all...)
}
