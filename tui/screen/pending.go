package screen

import (
	"context"
	"slices"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Left is what is known of the recovery records of the graph.
type Left struct {
	Records []LeftRecord
	// Locked: the lock of a schema apply is there, and every write is refused. A look
	// at the records alone does not tell.
	Locked bool
}

// LeftRecord is one of them, in the few facts that every look at it gives.
type LeftRecord struct {
	Key     string
	Began   time.Time // zero = not known
	Until   time.Time // when it stops counting as that of a writer at work; zero = it has
	Refused bool      // nobody acts on it as it is
}

// AskPending asks for the recovery records, where no screen reads them anyway: one
// request when there is none.
func (s *Session) AskPending(e *Env) Request {
	r := s.Pending.ask(e, func(ctx context.Context, ws workspace.Workspace) ([]engine.Pending, error) {
		return ws.PendingRecords(ctx)
	})
	r.Alone = true
	return r
}

// notePending takes what any answer says of recovery records.
func (s *Session) notePending(data any) {
	switch v := data.(type) {
	case *engine.Info:
		if v != nil && !slices.Contains(v.Unread, engine.UnreadRecovery) {
			s.Left = leftOf(v.PendingRecovery)
			s.Left.Locked = slices.ContainsFunc(v.Findings, func(f engine.Finding) bool { return f.ID == lockFinding })
		}
	case []engine.Pending:
		was := s.Left
		s.Left = leftOf(v)
		s.Left.Locked = was != nil && was.Locked
	case *engine.RecoveryPlan:
		if v != nil {
			s.Left = leftIn(v)
		}
	}
}

func leftOf(list []engine.Pending) *Left {
	l := &Left{}
	for _, p := range list {
		l.Records = append(l.Records, LeftRecord{p.Key, p.StartedAt, p.WaitUntil, p.Refused})
	}
	return l
}

func leftIn(p *engine.RecoveryPlan) *Left {
	l := &Left{Locked: p.Lock != nil}
	for i := range p.Records {
		r := &p.Records[i]
		refused := r.Stops(r.WaitUntil, engine.RecoverOptions{Now: true, Moved: true}) == engine.RecoveryRefused
		l.Records = append(l.Records, LeftRecord{r.Key, r.StartedAt, r.WaitUntil, refused})
	}
	return l
}

// lockFinding is the one about the lock of a schema apply.
const lockFinding = "G14"

// Len is how many records there are; 0 where nothing is known.
func (l *Left) Len() int {
	if l == nil {
		return 0
	}
	return len(l.Records)
}

// Has says that a record is there, as far as is known.
func (l *Left) Has(key string) bool {
	return l != nil && slices.ContainsFunc(l.Records, func(r LeftRecord) bool { return r.Key == key })
}

// Next is when the next record stops counting as that of a writer at work; zero
// when none does.
func (l *Left) Next(now time.Time) time.Time {
	var next time.Time
	if l == nil {
		return next
	}
	for _, r := range l.Records {
		if r.Until.After(now) && (next.IsZero() || r.Until.Before(next)) {
			next = r.Until
		}
	}
	return next
}

// Oldest is when the first of the operations began; zero where no record tells.
func (l *Left) Oldest() time.Time {
	var at time.Time
	if l == nil {
		return at
	}
	for _, r := range l.Records {
		if !r.Began.IsZero() && (at.IsZero() || r.Began.Before(at)) {
			at = r.Began
		}
	}
	return at
}

// Chip is what the header says: how many, and what is most pressing: that one
// is refused, how old the oldest is that may be acted on, or else how long it
// takes until one may be.
func (l *Left) Chip(t *theme.Theme, now time.Time) part.Watched {
	n := l.Len()
	if n == 0 {
		return part.Watched{}
	}
	g := t.Glyph
	role, mark := theme.Warn, g.Warn
	long, short := "", ""
	refused := 0
	for _, r := range l.Records {
		if r.Refused {
			refused++
		}
	}
	ripe := slices.ContainsFunc(l.Records, func(r LeftRecord) bool { return !r.Until.After(now) })
	switch {
	case refused > 0:
		role, mark = theme.Bad, g.Bad
		long, short = ", refused", " refused"
		if refused < n {
			long = ", " + part.Count(refused) + " refused"
			short = long
		}
	case ripe:
		if age := part.Ago(now, l.Oldest()); age != "" {
			long, short = ", "+age+" old", " "+age
		}
	default:
		left := Countdown(l.Next(now).Sub(now))
		long, short = ", may be acted on in "+left, " in "+left
	}
	count := part.Count(n)
	return part.Watched{
		Long:  part.R(role, mark+" "+part.Plural(n, "recovery", "recoveries")+" pending"+long),
		Short: part.R(role, mark+" "+count+" recov"+short),
	}
}

// Countdown writes the time that is left, to the second that has begun.
func Countdown(left time.Duration) string {
	s := int((left + time.Second - 1) / time.Second)
	if s >= 120 {
		return part.Count(s/60) + " m " + part.Count(s%60) + " s"
	}
	return part.Count(s) + " s"
}

// NextSecond is how long the text of a countdown stays true.
func NextSecond(left time.Duration) time.Duration {
	if left <= 0 {
		return 0
	}
	return (left-1)%time.Second + 1
}
