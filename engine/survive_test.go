package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/rivals"
	"github.com/omnideck/omnideck/internal/rivals/duel"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// process is what a process of these tests does, by the first word of its job.
func process(job []string) error {
	switch job[0] {
	case "survivor":
		return survivor(job[1:])
	case "recoverer":
		return recoverer(job[1:])
	}
	return mortal(job)
}

// shortGrace is that of processes that die every second or so, on a machine on
// which a write takes less.
const shortGrace = 400 * time.Millisecond

// survivor writes, and asks first what became of the write during which the
// process before it was killed: address, number, first write, one after the last,
// patience.
func survivor(job []string) error {
	var n [4]int
	for i := range n {
		n[i], _ = strconv.Atoi(job[1+i])
	}
	ctx := context.Background()
	g, err := hasty(ctx, job[0], n[3])
	if err != nil {
		return err
	}
	defer g.Close()
	fmt.Println("ready")
	w := &duel.Writer{Number: n[0], URI: job[0], Do: duel.Warm(g), Asks: true, Tries: 200, Recover: func(ctx context.Context) error {
		r, err := g.Recover(ctx, engine.RecoverOptions{})
		return errors.Join(err, r.Refused())
	}}
	return w.Run(ctx, os.Stdout, n[1], n[2]-n[1])
}

// hasty is a graph whose records are soon old.
func hasty(ctx context.Context, uri string, patience int) (*engine.Graph, error) {
	g, err := engine.Open(ctx, uri, engine.Options{Write: true, NoCache: true})
	if err == nil {
		g.SetGrace(time.Duration(patience) * shortGrace)
	}
	return g, err
}

// recoverer recovers what is old, again and again, until it is killed: address,
// milliseconds between, patience. It prints how many records it settled.
func recoverer(job []string) error {
	every, _ := strconv.Atoi(job[1])
	patience, _ := strconv.Atoi(job[2])
	ctx := context.Background()
	g, err := hasty(ctx, job[0], patience)
	if err != nil {
		return err
	}
	fmt.Println(0)
	for {
		r, err := g.Recover(ctx, engine.RecoverOptions{})
		if err := errors.Join(err, r.Refused()); err != nil {
			return err
		}
		if n := len(r.Settled); n > 0 {
			fmt.Println(n)
		}
		time.Sleep(time.Duration(every) * time.Millisecond)
	}
}

// Four writers and a recoverer, each in a process of its own that is killed again
// and again at random moments and started anew: what was acknowledged is there,
// nothing is there twice, nearly all is acknowledged in the end, in one chain.
// OMNIDECK_SURVIVE is the number of writes, OMNIDECK_LIFE the milliseconds that a
// process lives at most after it has begun.
func TestKilledAndRecovered(t *testing.T) {
	for _, where := range []string{"local", "s3"} {
		t.Run(where, func(t *testing.T) {
			writes := environ("OMNIDECK_SURVIVE", pace.Of(40, 20))
			uri, life := filepath.Join(t.TempDir(), "g"), min(max(1000, 5*writes), 10_000)
			if where == "s3" { // where a new process reads a version's file for each write before
				uri, life = lab.Test(t, lab.Options{}).URI("g"), min(max(1000, 15*writes), 30_000)
			}
			survive(t, uri, writes, life)
		})
	}
}

func survive(t *testing.T, uri string, writes, life int) {
	if err := duel.Begin(t.Context(), uri); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	began := time.Now()
	s := &surviving{uri: uri, seed: seed, life: environ("OMNIDECK_LIFE", life), patience: 1}
	ctx, cancel := context.WithCancel(t.Context())
	var recoverers, writers sync.WaitGroup
	recoverers.Go(func() { s.recoverers(ctx) })
	for number := range 4 {
		writers.Go(func() { s.writer(ctx, number, writes/4) })
	}
	writers.Wait()
	took := time.Since(began)
	cancel()
	recoverers.Wait()
	for _, err := range s.errs {
		t.Error(err)
	}
	told := duel.Parse(t, s.lines)
	t.Logf("seed %d: %v, %d processes were killed, %d of them recoverers, which settled %d records; patience %d; %s",
		seed, took.Round(time.Second), s.killed, s.fallen, s.settled, s.patience, duel.Summary(told))
	if len(told) != writes/4*4 || s.killed == 0 {
		t.Errorf("%d writes were told of, expected %d; %d processes were killed", len(told), writes/4*4, s.killed)
	}
	s.recovered(t)
	duel.Share(t, told)
	duel.Check(t, uri, told, duel.Rules{Recovered: true})
}

// recovered settles what is left, and a second time nothing.
func (s *surviving) recovered(t *testing.T) {
	t.Helper()
	g, err := hasty(t.Context(), s.uri, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for n := range 2 {
		r, err := g.Recover(t.Context(), engine.RecoverOptions{Now: true})
		if err := errors.Join(err, r.Refused()); err != nil || n == 1 && len(r.Settled) > 0 {
			t.Errorf("recovery %d: %v, %+v", n, err, r.Settled)
		}
	}
}

// surviving is such a fight under way.
type surviving struct {
	uri  string
	seed uint64
	life int

	mu                      sync.Mutex
	lines                   []string
	errs                    []error
	killed, fallen, settled int

	patience int // times the lives and the grace of a quick machine
	idle     int // lives of writers in a row that ended before a write did
}

// lives draws how long a process lives after it has begun, and with which patience.
func (s *surviving) lives(dice *rand.Rand) (time.Duration, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.patience*(50+dice.IntN(s.life))) * time.Millisecond, s.patience
}

// lived notes what came of the life of a writer. Where eight end before any write
// does, a write takes longer than a process lives, or than others wait before they
// take its writer for dead, and it might go on so for ever.
func (s *surviving) lived(writes int) {
	if s.idle++; writes > 0 {
		s.idle = 0
	}
	if s.idle == 8 {
		s.idle, s.patience = 0, 2*s.patience
	}
}

// writer is one writer, process after process.
func (s *surviving) writer(ctx context.Context, number, writes int) {
	dice := rand.New(rand.NewPCG(s.seed, uint64(number)))
	for next := 0; next < writes; {
		life, patience := s.lives(dice)
		lines, killed, err := rivals.Life(ctx, fmt.Sprintf("survivor %s %d %d %d %d", s.uri, number, next, writes, patience), life)
		s.mu.Lock()
		first := next
		for _, line := range lines {
			if json.Valid([]byte(line)) { // the last may be broken off: it is asked for again
				s.lines = append(s.lines, line)
				next++
			}
		}
		s.lived(next - first)
		if killed {
			s.killed++
		} else if err == nil && next < writes {
			err = fmt.Errorf("writer %d ended before write %d of %d: %s", number, next, writes, strings.Join(lines[max(0, len(lines)-1):], ""))
		}
		if err != nil {
			s.errs = append(s.errs, err)
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// recoverers is one recoverer, process after process.
func (s *surviving) recoverers(ctx context.Context) {
	dice := rand.New(rand.NewPCG(s.seed, 1<<40))
	for ctx.Err() == nil {
		life, patience := s.lives(dice)
		lines, killed, err := rivals.Life(ctx, fmt.Sprintf("recoverer %s %d %d", s.uri, 50+dice.IntN(300), patience), life)
		s.mu.Lock()
		for _, line := range lines {
			n, _ := strconv.Atoi(line)
			s.settled += n
		}
		if killed {
			s.killed++
			s.fallen++
		}
		if err != nil {
			s.errs = append(s.errs, err)
		}
		s.mu.Unlock()
	}
}
