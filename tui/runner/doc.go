// Package runner is a change of the graph on the screen, from its draft to its
// receipt:
//
//	draft → plan → review → confirm → run → receipt
//
// A Runner is a state machine. Keys and answers go in, a Do comes out, which
// says what the root is to do: ask for the plan, run it, cancel, copy. It does no
// I/O and knows no graph; Progress alone is touched from the outside, by the
// goroutine that writes.
//
// # Steps
//
//	Draft     the query or the file is chosen (mutation.go, loading.go). Writes
//	          that a screen made, such as a form's, have none
//	Planning  the graph is read: what would be done
//	Refused   nothing was written, and why
//	Review    what would be done, and how it is confirmed (review.go)
//	Running   phases and requests (progress.go)
//	Written   the receipt
//	Stuck     something stands, or may, and recovery or the user goes on
//
// A recovery of what other operations left (recover.go) takes the same steps, but
// for a draft: its review is a list of records beside what each means, in which
// records are taken in and left out.
//
// A plan is pinned to the head that it was made on. When the graph moved
// meanwhile the run is refused by the engine, planned anew, and reviewed anew,
// with what became different.
//
// # Confirmation
//
// The key that opens a write never runs it, and no key of moving does:
//
//	1  adds only: enter on Run; the focus begins on Cancel
//	2  changes or removes: a letter that the plan draws, so that no hand learns it
//	3  overwrites: the number of rows that go, or the name of the branch, typed
//
// A recovery is of level 2. What it would do changes while one looks, when a young
// record becomes old enough: then it is planned anew, the letter is drawn anew, and
// the keys are quiet again. A graph that was moved asks for its name besides.
//
// For its first moments a review takes no key but esc, and no paste.
package runner

import (
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
)

// Step is where a write stands.
type Step uint8

// The steps.
const (
	Draft Step = iota
	Planning
	Refused
	Review
	Running
	Written
	Stuck
)

// Do is what the root is to do.
type Do struct {
	Plan  bool // ask for the plan
	Run   bool // the user confirmed
	Stop  bool // cancel the plan or the write
	Close bool // the runner has ended
	Hide  bool // the write goes on unseen
	// Confirm: the user wants it to run, and is first asked for the graph's name.
	Confirm bool
	Unlock  bool // ask for what unlocks the graph
	Show    action.ID
	Copy    *screen.Copy
	Copies  []screen.Copy // one of which is chosen
	Menu    *screen.Menu
	Ask     []screen.Request
	Note    string
}

// Runner is one write.
type Runner struct {
	Write  screen.Write // as it is planned and run
	Branch string       // "" = main
	verb   string

	step   Step
	draft  drafter           // nil: a screen made the write
	plan   *engine.WritePlan // nil: of a load in chunks there is none
	split  *engine.ChunkPlan // of a load in chunks
	moved  *engine.WritePlan // the plan before the graph moved; nil = it did not
	err    error
	ask    confirmation
	prog   *Progress
	rec    *recovery // of a recovery; nil: it is a write
	out    *engine.Receipt
	chunks *engine.ChunkedReceipt
	began  time.Time // the step
	took   time.Duration
	used   used // of requests
	top    int
}

// used is what was asked of the store for the plan and for the write.
type used struct{ plan, write int64 }

// Step is where the write stands.
func (r *Runner) Step() Step { return r.step }

// Verb is mutate, load or recovery.
func (r *Runner) Verb() string { return r.verb }

// Plan is the plan that is reviewed, or was run; nil before there is one.
func (r *Runner) Plan() *engine.WritePlan { return r.plan }

// Progress hears of the running write.
func (r *Runner) Progress() *Progress { return r.prog }

func (r *Runner) enter(s Step, now time.Time) {
	r.step, r.began, r.top = s, now, 0
}
