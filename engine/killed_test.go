package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/internal/rivals"
	"github.com/omnideck/omnideck/internal/rivals/duel"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// mortal is a writer with one handle that dies: address, number, first write,
// microseconds to live (0 = it makes 40 writes).
func mortal(job []string) error {
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(job[1+i])
	}
	ctx := context.Background()
	g, err := engine.Open(ctx, job[0], engine.Options{Write: true, NoCache: true})
	if err != nil {
		return err
	}
	defer g.Close()
	g.SetGrace(300 * time.Millisecond)
	w := &duel.Writer{Number: n[0], URI: job[0], Do: duel.Warm(g)}
	if n[2] > 0 {
		rivals.Die(time.Duration(n[2]) * time.Microsecond)
		if err := w.Run(ctx, os.Stdout, n[1], 100000); err != nil {
			return err
		}
		select {} // it met what nobody recovers yet: it dies all the same
	}
	return w.Run(ctx, os.Stdout, n[1], 40)
}

// Writers are killed at random moments, in every second round all of them: what
// was acknowledged stays. What they leave stops others when its grace is over; the
// Rust CLI settles it, where it is, and the same graph is written on, else the
// next round begins with another graph. OMNIDECK_KILLS is the number of rounds.
func TestKilledWriters(t *testing.T) {
	rounds := pace.Of(2, 1)
	if n, err := strconv.Atoi(os.Getenv("OMNIDECK_KILLS")); err == nil && n > 0 {
		rounds = n
	}
	for _, where := range []string{"local", "s3"} {
		t.Run(where, func(t *testing.T) {
			uri := func(int) string { return filepath.Join(t.TempDir(), "g") }
			if where == "s3" {
				l := lab.Test(t, lab.Options{})
				uri = func(n int) string { return l.URI(fmt.Sprint("g", n)) }
			}
			killRounds(t, rounds, uri)
		})
	}
}

func killRounds(t *testing.T, rounds int, at func(round int) string) {
	seed := uint64(time.Now().UnixNano())
	dice := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	bin := os.Getenv("OMNIGRAPH_BIN")
	var (
		uri          string
		told         []duel.Told
		deaths, left int
	)
	for round := range rounds {
		if uri == "" || bin == "" {
			uri, told = at(round), nil
			if err := duel.Begin(t.Context(), uri); err != nil {
				t.Fatal(err)
			}
		}
		var jobs []string
		for i := range 2 {
			life := 20_000 + dice.IntN(600_000)
			if i == 1 && round%2 == 1 {
				life = 0
			}
			jobs = append(jobs, fmt.Sprintf("%s %d %d %d", uri, i, round*1000, life))
		}
		said, killed := rivals.RunKilled(t, jobs...)
		for _, lines := range said {
			told = append(told, duel.Parse(t, lines)...)
		}
		deaths += killed
		rules := duel.Rules{Untold: deaths, Foreign: bin != "", Pending: true, Recovered: true} // an old record is recovered by the next writer
		duel.Check(t, uri, told, rules)
		if pending, err := duel.Pending(t.Context(), uri); err != nil {
			t.Fatal(err)
		} else if pending > 0 {
			left++
		}
		if bin == "" {
			continue
		}
		if out, err := exec.CommandContext(t.Context(), bin, "snapshot", uri).CombinedOutput(); err != nil {
			t.Fatalf("round %d: the Rust CLI does not recover: %v: %s", round, err, out)
		}
		rules.Pending = false
		duel.Check(t, uri, told, rules)
	}
	t.Logf("%d rounds, %d killed, records left in %d, last: %s", rounds, deaths, left, duel.Summary(told))
	if deaths < rounds {
		t.Errorf("only %d were killed", deaths)
	}
}
