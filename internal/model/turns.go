package model

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// turns gives the clients of a walk their turns: one call at a time.
type turns struct {
	r     *rand.Rand
	woven bool

	mu      sync.Mutex
	waiting []*turn
	paused  map[int]*pause // by client
	running map[int]int    // operations under way by client
	last    int            // client that had the last turn
	now     int            // turns given so far
	events  int            // operations that ended or paused so far
	left    int            // clients that are not done
	calls   []string       // in their order
}

// note tells of a call.
func (t *turns) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, fmt.Sprintf("%4d ", t.now)+fmt.Sprintf(format, args...))
}

// turn is a call, or the beginning of an operation, that waits.
type turn struct {
	client, op int
	begins     bool
	what       string
	go_        chan struct{}
}

// pause is a client that stands still.
type pause struct {
	events  int // so many must there have been
	until   time.Time
	release chan struct{}
	op      int
}

func newTurns(w Walk, clients int) *turns {
	return &turns{r: rand.New(rand.NewPCG(w.Seed, 1<<40)), woven: w.Woven, paused: map[int]*pause{}, running: map[int]int{}, last: -1, left: clients}
}

// wait returns when it is the client's turn.
func (t *turns) wait(client, op int, begins bool, what string) {
	me := &turn{client, op, begins, what, make(chan struct{})}
	t.mu.Lock()
	t.waiting = append(t.waiting, me)
	t.mu.Unlock()
	<-me.go_
}

// pause stands still, as a fault says.
func (t *turns) pause(client, op int, f Fault) {
	t.mu.Lock()
	t.events++
	p := &pause{events: t.events + f.Until, until: time.Now().Add(f.For), release: make(chan struct{}), op: op}
	t.paused[client] = p
	t.mu.Unlock()
	<-p.release
}

// ended says that an operation did.
func (t *turns) ended(client int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events++
	delete(t.running, client)
}

// done says that a client has no further operation.
func (t *turns) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left--
}

// count is the turns given so far.
func (t *turns) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// pass is how time goes on while everybody waits for it.
const pass = 20 * time.Millisecond

// run gives turns until all clients are done.
func (t *turns) run() {
	for {
		synctest.Wait()
		over, gave := t.give()
		switch {
		case over:
			return
		case gave:
			time.Sleep(time.Millisecond)
		default:
			time.Sleep(pass)
		}
	}
}

// give gives one turn, to whom it belongs.
func (t *turns) give() (over, gave bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == 0 {
		return true, false
	}
	t.now++
	for client := range t.clients() {
		if p := t.paused[client]; t.events >= p.events && !time.Now().Before(p.until) {
			t.unpause(client)
			return false, true
		}
	}
	if next := t.next(); next != nil {
		t.waiting = slices.DeleteFunc(t.waiting, func(x *turn) bool { return x == next })
		if next.begins {
			t.running[next.client] = next.op
		}
		t.last = next.client
		close(next.go_)
		return false, true
	}
	if t.alive() {
		return false, false // somebody sleeps
	}
	for client := range t.clients() { // nothing else can happen
		if p := t.paused[client]; !time.Now().Before(p.until) {
			t.unpause(client)
			return false, true
		}
	}
	return false, false
}

// clients are those that are paused, by their operations.
func (t *turns) clients() iter.Seq[int] {
	var out []int
	for c := range t.paused {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Compare(t.paused[a].op, t.paused[b].op) })
	return slices.Values(out)
}

func (t *turns) unpause(client int) {
	p := t.paused[client]
	delete(t.paused, client)
	t.last = client
	close(p.release)
}

// alive reports whether an operation is under way that is not paused.
func (t *turns) alive() bool {
	for client := range t.running {
		if t.paused[client] == nil {
			return true
		}
	}
	return false
}

// next is whose turn it is; nil = nobody's.
func (t *turns) next() *turn {
	var may []*turn
	alive := t.alive()
	for _, x := range t.waiting {
		if t.paused[x.client] == nil && (!x.begins || t.woven || !alive) {
			may = append(may, x)
		}
	}
	if len(may) == 0 {
		return nil
	}
	slices.SortStableFunc(may, func(a, b *turn) int {
		return cmp.Or(cmp.Compare(a.op, b.op), strings.Compare(a.what, b.what))
	})
	if t.woven {
		return may[t.r.IntN(len(may))]
	}
	for _, x := range may { // whoever is at it goes on
		if x.client == t.last && !x.begins {
			return x
		}
	}
	return may[0]
}
