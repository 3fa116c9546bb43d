package recovery

import (
	"context"
	"fmt"
	"time"

	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/recovery/promote"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// Options of Look and Execute. The zero value looks at every record, and acts on
// those that are old and lie where they were written.
type Options struct {
	Mode  txn.Mode
	Only  []string // operations, or keys of records; nil = all
	Now   bool     // act also on a record that may still be that of a writer at work
	Moved bool     // act also on records of a graph that was moved since (decisions 41)
	// Grace is that of txn.Options: 0 = 30 s, negative = none.
	Grace time.Duration

	Open lance.OpenOptions
	// Known are views of branches that somebody had, and gets those that are read: a
	// fragment of `__manifest` is so read once. nil = each call has its own.
	Known   *manifest.Known
	Clock   func() time.Time // nil = time.Now
	IDs     *txn.IDs         // nil = those of the process
	Backoff func(ctx context.Context, n int) error
	Events  func(Event) // on the goroutine that executes
}

// Plan is what the records of a graph mean, oldest operation first.
type Plan struct {
	Items  []Item
	Others []string             // names in `__recovery/` that no program reads
	Lock   *Lock                // of a schema apply; nil = it is not held
	Staged []string             // keys of staged schema files
	Left   *promote.LeftStaging // what is right about staged schema files that no record owns; nil = there are none
}

// Lock is the ref that a schema apply holds while it runs, and leaves when it
// dies (decisions 28).
type Lock struct {
	Key   string
	Since time.Time
}

// Item is one record.
type Item struct {
	Key      string // object, as listed: the one that is retired
	Size     int64
	Modified time.Time

	Operation string // id that the record tells; Stem when it tells none
	Stem      string // id that the name of the object promises
	Kind      sidecar.Kind
	Branch    string // "" = main
	Actor     *string
	Phase     string        // sidecar.Armed, sidecar.EffectsConfirmed; "" of an Optimize
	Began     time.Time     // by its id; else by started_at; zero = unknown
	Left      time.Duration // rest of the grace when it was looked at; 0 = it was left behind

	Record *sidecar.Record // nil: nothing of it could be read
	Err    error           // it cannot be read in full (*sidecar.ParseError), or breaks a rule (sidecar.Problem)

	Place        sidecar.Place
	RecordedRoot string // that its paths name; "" = several or none

	Verdict txn.Verdict // Refuse, with a text, when Err is set or it is another graph's
	Tables  []Table     // in the order of the record
	Removes []string    // keys that go beside the record, in the order of their going
}

// Table is a table of a record, as it is now.
type Table struct {
	Alias     string
	Branch    string     // "" = main
	Expected  uint64     // published when the operation began
	Planned   uint64     // first version that it makes
	Confirmed uint64     // 0 = it was not confirmed
	Published uint64     // now; 0 = it is not
	Head      uint64     // newest; 0 = there is none
	Chain     []txn.Link // of the versions above Expected
	Verdict   txn.TableVerdict
}

// Acts reports whether executing the item under the options would do something
// to it, and why not otherwise.
func (i *Item) Acts(o Options) error {
	switch {
	case i.Err != nil:
		return &RefusedError{i.Key, i.Operation, "its record cannot be acted upon: " + sidecar.Why(i.Err)}
	case i.Place == sidecar.Moved && !o.Moved:
		return &MovedError{i.Key, i.Operation, i.RecordedRoot}
	case i.Verdict.Do == txn.Refuse:
		return &RefusedError{i.Key, i.Operation, i.Verdict.Text}
	case i.Left > 0 && !o.Now:
		return &YoungError{i.Key, i.Operation, i.Left}
	}
	if v := i.Verdict.Under(o.Mode); v.Do == txn.Defer {
		return &RefusedError{i.Key, i.Operation, v.Text}
	}
	return nil
}

// Event tells how far an execution has come.
type Event struct {
	Step      Step
	Operation string
	Table     string // alias
	Commit    string // Published, Forbade
	Key       string // Removed
}

// Step is one thing that was done.
type Step string

// The steps.
const (
	StepJudged    Step = "judged"    // the record was looked at afresh
	StepRemoved   Step = "removed"   // an object that only the operation made
	StepDecided   Step = "decided"   // the roll-back is written down
	StepForbade   Step = "forbade"   // a commit without a table, behind which its writer cannot publish
	StepRestored  Step = "restored"  // a table
	StepPublished Step = "published" // a commit
	StepPromoted  Step = "promoted"  // staged schema files took their places
	StepAudited   Step = "audited"
	StepRetired   Step = "retired" // the record is gone
)

// Settled is what came of one item.
type Settled struct {
	Item      *Item // as it was shown
	Do        txn.Do
	RolledTo  txn.Do             // of a Finalize: Forward or Back
	Gone      bool               // it had vanished: another settled it
	Commit    string             // that holds the outcome; "" = none
	Published bool               // this execution published it
	Outcomes  []txn.TableOutcome // as audited
	Removed   []string           // keys
	Err       error              // the record stays: *ChangedError, *YoungError, *MovedError, *RefusedError, or why it failed
}

// Report is what came of all of them.
type Report struct {
	Settled   []Settled
	Staging   error // why staged schema files that no record owns are still there; nil = they are not, or were not to be settled
	Remaining *Plan // a last look; nil when it failed
}

// ChangedError: what is right about a record is not what was shown.
type ChangedError struct {
	Key, Operation string
	Shown, Now     string
}

func (e *ChangedError) Error() string {
	if e.Operation == "" {
		return fmt.Sprintf("settling %s: shown was %q, there are now %s; nothing was changed: look again", e.Key, e.Shown, e.Now)
	}
	return fmt.Sprintf("recovering operation %s: shown was %q, right is now %q; the record %s was left as it is: look again", e.Operation, e.Shown, e.Now, e.Key)
}

// Is: whoever decided on what was shown decides anew.
func (e *ChangedError) Is(target error) bool { return target == txn.ErrCaller }

// YoungError: a record may still be that of a writer at work.
type YoungError struct {
	Key, Operation string
	Left           time.Duration
}

func (e *YoungError) Error() string {
	return fmt.Sprintf("%s may still be at work for %s: %s was left as it is: wait, or recover at once when its writer is known to be gone", whose(e.Operation), e.Left.Round(time.Second), e.Key)
}

// Is: it may be tried again.
func (e *YoungError) Is(target error) bool { return target == txn.ErrCaller }

// whose names an operation; without a record there is none.
func whose(operation string) string {
	if operation == "" {
		return "a schema apply without a record"
	}
	return "operation " + operation
}

// MovedError: the graph was moved since, and nobody confirmed that it is the
// same (decisions 41).
type MovedError struct {
	Key, Operation, Root string
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("operation %s was begun when this graph lay at %s: its record %s was left as it is: confirm that the graph was moved or copied from there before it is recovered", e.Operation, e.Root, e.Key)
}

// Because is why, without the rest of the sentence.
func (e *MovedError) Because() string {
	return "it was begun when this graph lay at " + e.Root + ", and that the graph was moved or copied from there is not confirmed"
}

// Is: whoever knows decides.
func (e *MovedError) Is(target error) bool { return target == txn.ErrCaller }

// RefusedError: nobody may act on a record.
type RefusedError struct {
	Key, Operation string
	Why            string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s cannot be recovered: %s; nothing was changed, and %s stays", whose(e.Operation), e.Why, e.Key)
}

// Because is why, without the rest of the sentence.
func (e *RefusedError) Because() string { return e.Why }

// Is: recovery cannot help.
func (e *RefusedError) Is(target error) bool { return target == txn.ErrRecovery }
