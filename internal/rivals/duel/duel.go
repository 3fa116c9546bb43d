// Package duel is what processes do that write to one graph at once, and what
// must be true of the graph afterwards, whoever they are.
//
// A writer makes numbered writes, each with a marker of its own, a row of a table
// without keys, so that a write that was made twice shows. Every second write
// also moves the one key that all writers share. What a write does decides how it
// meets others:
//
//	0 of 4  insert of the marker, update of the shared key    strict; first table shared
//	1 of 4  insert of the marker                              additive; another first table
//	2 of 4  insert of the marker, insert of the shared key    additive, an upsert
//	3 of 4  insert of the marker into a table of the writer   additive; no table in common
//
// A writer makes a write again that was certainly not made, a bounded number of
// times. When that is not known, it looks for the marker, as a user would.
package duel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/txn"
)

// Schema is that of the graph. It has a table for each of two writers; of four,
// two share one.
const Schema = `node Key { slug: String @key
 last: String? }
node Mark { text: String }
node Own0 { text: String }
node Own1 { text: String }
`

const (
	keys      = "node:Key"
	sharedKey = "shared"
)

// Write is one write.
type Write struct {
	Marker string
	Shared bool // it moves the shared key
	Source string
}

// NewWrite is write i of a writer.
func NewWrite(writer, i int) Write {
	w := Write{Marker: fmt.Sprintf("w%d-%d", writer, i), Shared: i%2 == 0}
	what := fmt.Sprintf("insert Mark { text: %q }", w.Marker)
	switch i % 4 {
	case 0:
		what += fmt.Sprintf(" update Key set { last: %q } where slug = %q", w.Marker, sharedKey)
	case 2:
		what += fmt.Sprintf(" insert Key { slug: %q, last: %q }", sharedKey, w.Marker)
	case 3:
		what = fmt.Sprintf("insert Own%d { text: %q }", writer%2, w.Marker)
	}
	w.Source = "query q() { " + what + " }"
	return w
}

// End is what became of a write.
type End string

// The ends.
const (
	Acked   End = "acknowledged"
	Found   End = "found"   // its outcome was not known, and it was there
	Refused End = "refused" // it was certainly not made, however often it was tried
	Stuck   End = "stuck"   // not known, not there, and a record stands: recovery decides
	Unknown End = "unknown" // not there, not acknowledged, and nothing says that it will not come
)

// Try is one try: a call of a method, a run of a verb.
type Try struct {
	Commit   string        `json:"commit,omitempty"`
	Attempts int           `json:"attempts,omitempty"` // inside, when it was acknowledged
	Not      bool          `json:"not,omitempty"`      // it says that nothing was written
	Stands   bool          `json:"stands,omitempty"`   // and that another operation's record is in the way
	Err      string        `json:"err,omitempty"`
	Took     time.Duration `json:"took"`
}

// Told is what a writer says of a write.
type Told struct {
	Marker string
	Shared bool
	End    End
	Commit string `json:",omitempty"`
	Tries  []Try
}

// tries bounds how often a write is tried.
const tries = 20

// Writer is one writer.
type Writer struct {
	Number int
	URI    string
	Do     func(context.Context, Write) Try // one try
	// Recover settles what stopped part-way; nil = nobody does.
	Recover func(context.Context) error
	// Asks looks, before the first write, whether it is there already: an earlier
	// process may have died while it wrote it.
	Asks bool
	// Tries bounds how often a write is tried; 0 = 20.
	Tries int
}

// stands is what an error says when another operation's record stops it.
const stands = "stands in the way"

// Run makes n writes from number first on, and says a line of each. It ends early
// when recovery is due, which nobody does meanwhile.
func (w *Writer) Run(ctx context.Context, out io.Writer, first, n int) error {
	for i := first; i < first+n; i++ {
		t, err := w.write(ctx, NewWrite(w.Number, i), w.Asks && i == first)
		if err != nil {
			return err
		}
		line, err := json.Marshal(t)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil || t.End == Stuck || t.End == Refused && w.Recover == nil && strings.Contains(t.Tries[len(t.Tries)-1].Err, stands) {
			return err
		}
	}
	return nil
}

func (w *Writer) write(ctx context.Context, x Write, asks bool) (*Told, error) {
	t := &Told{Marker: x.Marker, Shared: x.Shared, End: Refused}
	if asks {
		if end, err := w.known(ctx, x.Marker); err != nil || end != Unknown {
			t.End = end
			return t, err
		}
	}
	for range cmp.Or(w.Tries, tries) {
		began := time.Now()
		a := w.Do(ctx, x)
		a.Took = time.Since(began)
		t.Tries = append(t.Tries, a)
		switch {
		case a.Err == "":
			t.End, t.Commit = Acked, a.Commit
			return t, nil
		case a.Not:
			if t.End = Refused; a.Stands && w.Recover != nil {
				_ = w.Recover(ctx) // whatever stays is met again
			}
			continue
		}
		end, err := w.known(ctx, x.Marker)
		if err != nil {
			return nil, fmt.Errorf("looking for %s after %s: %w", x.Marker, a.Err, err)
		}
		if t.End = end; end != Unknown {
			return t, nil
		}
		// tried again; a late one would be found twice
	}
	return t, nil
}

// known is what became of a write: Found, Stuck or Unknown.
func (w *Writer) known(ctx context.Context, marker string) (End, error) {
	there, pending, err := Look(ctx, w.URI, marker)
	for range cmp.Or(w.Tries, 1) {
		if err != nil || !pending || there || w.Recover == nil || w.Recover(ctx) != nil {
			break
		}
		there, pending, err = Look(ctx, w.URI, marker)
	}
	switch {
	case err != nil:
		return "", err
	case there:
		return Found, nil
	case pending:
		return Stuck, nil
	}
	return Unknown, nil
}

// Look says whether a marker is in the graph, and whether any recovery record is.
func Look(ctx context.Context, uri, marker string) (there, pending bool, err error) {
	g, err := engine.Open(ctx, uri, engine.Options{NoCache: true})
	if err != nil {
		return false, false, err
	}
	defer g.Close()
	info, err := g.Info(ctx, engine.At{})
	if err != nil {
		return false, false, err
	}
	found, err := markers(ctx, g)
	return found[marker] > 0, len(info.PendingRecovery) > 0, err
}

// markers counts the rows of each marker.
func markers(ctx context.Context, g *engine.Graph) (map[string]int, error) {
	found := map[string]int{}
	for _, table := range []string{"node:Mark", "node:Own0", "node:Own1"} {
		page, err := g.Rows(ctx, table, engine.At{}, engine.RowsOptions{Limit: 1 << 20, Columns: []string{"text"}})
		if err != nil {
			return nil, err
		}
		for _, r := range page.Rows {
			found[r.Values[1].Text]++
		}
	}
	return found, nil
}

// Warm is a writer that keeps one handle.
func Warm(g *engine.Graph) func(context.Context, Write) Try {
	return func(ctx context.Context, x Write) Try {
		_, r, err := g.Mutate(ctx, engine.MutateOptions{Source: x.Source})
		if err != nil {
			var stands *txn.RecoveryRequiredError
			return Try{Err: err.Error(), Not: !engine.Wrote(err), Stands: errors.As(err, &stands) && stands.Other}
		}
		return Try{Commit: r.Commit.ID, Attempts: r.Attempts}
	}
}

// Begin makes the graph.
func Begin(ctx context.Context, uri string) error {
	g, err := engine.Open(ctx, uri, engine.Options{Write: true, NoCache: true})
	if err != nil {
		return err
	}
	defer g.Close()
	if _, err := g.Init(ctx, engine.InitOptions{Source: []byte(Schema)}); err != nil {
		return err
	}
	_, _, err = g.Mutate(ctx, engine.MutateOptions{Source: fmt.Sprintf("query q() { insert Key { slug: %q, last: \"nobody\" } }", sharedKey)})
	return err
}
