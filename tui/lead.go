package tui

import (
	"context"
	"sync"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace"
)

// lead is the first question to a moment of a graph of which nothing was read
// yet. Nearly every question reads all of `__manifest`, and those that are
// asked side by side would each fetch it: so the others wait until the lead has
// read it, or has ended, however it does.
type lead struct {
	read  chan struct{}
	once  sync.Once
	meter workspace.Meter
}

func newLead(meter workspace.Meter) *lead { return &lead{read: make(chan struct{}), meter: meter} }

// done lets the others ask.
func (l *lead) done() { l.once.Do(func() { close(l.read) }) }

// patience is how long the others wait while no request of the lead ends. A
// question that hangs holds up no other for longer.
const patience = 800 * time.Millisecond

// lead makes all requests but the first wait, when nothing is known yet, and
// the first too when a question asked before it leads. Those that share no
// request with others never wait.
func (m *model) lead(reqs []screen.Request, meter workspace.Meter) {
	if m.warm {
		return
	}
	for i := range reqs {
		r := &reqs[i]
		switch {
		case r.Aside || r.Alone:
		case m.first == nil || m.first.over():
			m.first = newLead(meter)
			r.Run = m.first.leading(r.Run)
		default:
			r.Run = m.first.behind(r.Run)
		}
	}
}

func (l *lead) over() bool {
	select {
	case <-l.read:
		return true
	default:
		return false
	}
}

// ended counts the requests that have ended.
func (l *lead) ended() int64 {
	r := l.meter.Sample()
	return r.Get + r.Head + r.List + r.Put + r.Delete
}

type question = func(context.Context, workspace.Workspace) (any, error)

func (l *lead) leading(run question) question {
	return func(ctx context.Context, ws workspace.Workspace) (any, error) {
		defer l.done()
		return run(engine.WithReady(ctx, l.done), ws)
	}
}

func (l *lead) behind(run question) question {
	return func(ctx context.Context, ws workspace.Workspace) (any, error) {
		look := time.NewTicker(patience / 8)
		defer look.Stop()
		seen := l.ended()
		for still := 0; still < 8; still++ {
			select {
			case <-l.read:
				return run(ctx, ws)
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-look.C:
			}
			if now := l.ended(); now != seen {
				seen, still = now, -1
			}
		}
		return run(ctx, ws)
	}
}
