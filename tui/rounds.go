package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// rounds makes the renderer look for a new frame often while there are any, and
// seldom while there are none: at one pace it would either keep a key waiting or
// wake an idle machine all the time. Bubble Tea keeps the ticker to itself; where
// it is not found, the usual pace stays.
type rounds struct {
	ticker *time.Ticker
	calm   *time.Timer // calls quiet when it fires

	mu     sync.Mutex
	until  time.Time // when the last frame has been a while ago
	isCalm bool
}

// Rounds of the renderer: while frames come, and a while after the last one.
const (
	roundBusy = 4 * time.Millisecond
	roundCalm = time.Second / 4
	calmAfter = time.Second
)

// roundsOf finds the ticker of a program that has started its renderer.
func roundsOf(p *tea.Program) *rounds {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() || field.IsNil() {
		return nil
	}
	t := *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr()))
	return newRounds(t)
}

// newRounds expects the usual pace, which is neither.
func newRounds(t *time.Ticker) *rounds {
	r := &rounds{ticker: t, isCalm: true}
	r.calm = time.AfterFunc(calmAfter, r.quiet)
	return r
}

// hurry is told of every new frame.
func (r *rounds) hurry() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(calmAfter)
	r.calm.Reset(calmAfter)
	if r.isCalm {
		r.isCalm = false
		r.ticker.Reset(roundBusy)
	}
}

// quiet is called a while after the last frame, and by a timer that had fired
// already when one more came: that frame is not kept waiting.
func (r *rounds) quiet() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.until) {
		return
	}
	r.isCalm = true
	r.ticker.Reset(roundCalm)
}

func (r *rounds) stop() {
	if r != nil {
		r.calm.Stop()
	}
}
