package tui

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// stage feeds a root model without a program: it runs commands and hands what
// they bring to Update, until none is left.
type stage struct {
	ctx     context.Context
	m       *model
	width   int // commands that run side by side
	queue   []tea.Cmd
	running int
	came    chan tea.Msg
	all     sync.WaitGroup
	left    bool // a command asked to end the program
}

// errLeft: the program was left, and shows nothing any more.
var errLeft = errors.New("there is no screen then")

// sideBySide is how many commands of a screen run at once.
const sideBySide = 64

func newStage(ctx context.Context, m *model, oneByOne bool) *stage {
	s := &stage{ctx: ctx, m: m, width: sideBySide, came: make(chan tea.Msg)}
	if oneByOne {
		s.width = 1
	}
	return s
}

func (s *stage) later(cmd tea.Cmd) {
	if cmd != nil {
		s.queue = append(s.queue, cmd)
	}
}

// send gives a message to the model. It draws after it, as a program does: a
// screen learns its size when it is drawn.
func (s *stage) send(msg tea.Msg) {
	_, cmd := s.m.Update(msg)
	s.later(cmd)
	_ = s.m.View()
}

// settle runs commands and what comes of them until none is left. It ends
// early when the context does, at a crash, or when the program is left. An answer
// may come just when the context ends, perhaps because it did: then too it is the
// context that has ended.
func (s *stage) settle() error {
	for {
		for s.running < s.width && len(s.queue) > 0 {
			s.start(s.queue[0])
			s.queue = s.queue[1:]
		}
		if s.running == 0 {
			return nil
		}
		select {
		case msg := <-s.came:
			s.running--
			s.take(msg)
		case <-s.ctx.Done():
		}
		switch {
		case s.m.crash != nil:
			return s.m.crash.write(s.m.opt)
		case s.left:
			return errLeft
		case s.ctx.Err() != nil:
			return context.Cause(s.ctx)
		}
	}
}

// start runs a command in a goroutine, which ends with the stage at the
// latest.
func (s *stage) start(cmd tea.Cmd) {
	s.running++
	end := s.m.ctx.Done()
	cmd = safely("running a command", cmd)
	s.all.Go(func() {
		msg := cmd()
		select {
		case s.came <- msg:
		case <-end:
		}
	})
}

// several are the messages of commands that had to run in order.
type several []tea.Msg

// take hands on what a command brought.
func (s *stage) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.later(c)
		}
	case several:
		for _, one := range msg {
			s.take(one)
		}
	case tea.QuitMsg, tea.InterruptMsg, tea.SuspendMsg:
		s.left = true
	default:
		if cmds, ok := sequence(msg); ok {
			s.later(inOrder(cmds))
			return
		}
		s.send(msg)
	}
}

// sequence reads the message of tea.Sequence, whose type has no name outside
// of Bubble Tea.
func sequence(msg tea.Msg) ([]tea.Cmd, bool) {
	v, want := reflect.ValueOf(msg), reflect.TypeFor[[]tea.Cmd]()
	if v.Kind() != reflect.Slice || !v.CanConvert(want) {
		return nil, false
	}
	return v.Convert(want).Interface().([]tea.Cmd), true
}

func inOrder(cmds []tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		var out several
		for _, c := range cmds {
			if c != nil {
				out = append(out, c())
			}
		}
		return out
	}
}

// deaf is how long a command may run on after its context has ended.
const deaf = time.Second

// close ends what still runs, and waits for it.
func (s *stage) close() {
	s.m.end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.all.Wait()
	}()
	t := time.NewTimer(deaf)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
