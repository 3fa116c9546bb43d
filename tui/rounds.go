package tui

import (
	"reflect"
	"sync/atomic"
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
	calm   *time.Timer // becomes calm when it fires
	isCalm atomic.Bool
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
	r := &rounds{ticker: t}
	r.isCalm.Store(true)
	r.calm = time.AfterFunc(calmAfter, func() {
		r.isCalm.Store(true)
		t.Reset(roundCalm)
	})
	return r
}

// hurry is told of every new frame.
func (r *rounds) hurry() {
	if r != nil {
		r.calm.Reset(calmAfter)
		if r.isCalm.Swap(false) {
			r.ticker.Reset(roundBusy)
		}
	}
}

func (r *rounds) stop() {
	if r != nil {
		r.calm.Stop()
	}
}
