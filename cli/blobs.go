package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func blobGetVerb() *verb {
	return &verb{
		name: "blob get", args: "node|edge TYPE ID PROPERTY", need: 4,
		flags: []string{"branch", "snapshot", "at", "offset", "length", "out-file"}, without: []string{"json"},
		short:   "The bytes of a blob value, on stdout or in a file",
		long:    "The bytes of a blob value, on stdout or in a file. A value that stands outside the graph is not fetched: its\naddress is named. A failure before the first byte leaves the file of --out as it was.",
		example: "blob get demo: node Inspection insp-003 photo --out photo.bin\nblob get --store demo: node Inspection insp-003 photo --offset 0 --length 16",
		run: func(ctx context.Context, c *call) error {
			r := byteRange{from: c.number("offset"), length: math.MaxUint64, given: c.given("offset") || c.given("length")}
			if c.given("length") {
				if r.length = c.number("length"); r.length == 0 {
					return fmt.Errorf("--length is 0, expected at least one byte")
				}
				if r.from > math.MaxUint64-r.length {
					return fmt.Errorf("--offset %d and --length %d reach past the largest offset", r.from, r.length)
				}
			}
			return onBlob(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
				return blobGet(ctx, c, g, at, r)
			})(ctx, c)
		},
	}
}

// onBlob checks the positionals and the place before anything is opened.
func onBlob(f func(context.Context, *call, *engine.Graph, engine.At) error) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) error {
		if k := c.args[0]; k != "node" && k != "edge" {
			return usagef("%q is neither node nor edge", k)
		}
		given := 0
		for _, id := range []string{"branch", "snapshot", "at"} {
			if c.given(id) && id != "at" {
				given++
			}
		}
		if given > 1 || c.given("snapshot") && c.given("at") {
			return usagef("--branch, --snapshot and --at are mutually exclusive here: name one place to read")
		}
		err := reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			if c.given("snapshot") {
				at = engine.At{Commit: c.text("snapshot")}
			}
			return f(ctx, c, g, at)
		})(ctx, c)
		var asked *engine.UsageError
		if errors.As(err, &asked) {
			return errors.New(asked.Error()) // exit 1, as the Rust CLI does for what only the schema can tell
		}
		return err
	}
}

// byteRange selects bytes of a value: length of them from from.
type byteRange struct {
	from, length uint64
	given        bool // a range must begin inside the value
}

func blobGet(ctx context.Context, c *call, g *engine.Graph, at engine.At, r byteRange) error {
	path := c.text("out-file")
	var w io.Writer = c.out
	if path != "" {
		f := &lateFile{path: path}
		defer f.Close()
		w = f
	}
	cut := &cutWriter{w: w, skip: r.from, left: r.length}
	stat, err := g.BlobGet(ctx, cut, c.args[0], c.args[1], c.args[2], c.args[3], at)
	switch {
	case err != nil && stat != nil && stat.Kind == "external":
		return fmt.Errorf("%s.%s of %s stands outside the graph, at %s, and is not fetched; `omnideck blob stat` tells about it", c.args[1], c.args[3], c.args[2], stat.URI)
	case err != nil && !errors.Is(err, errEnough):
		return err
	}
	if err == nil && r.given && r.from >= stat.Size {
		return fmt.Errorf("read from byte %d of %s.%s of %s: the value has %d bytes", r.from, c.args[1], c.args[3], c.args[2], stat.Size)
	}
	if f, ok := w.(*lateFile); ok {
		if err := f.finish(); err != nil {
			return err
		}
	}
	c.tellRPC()
	return nil
}

// errEnough ends a transfer when the range is complete.
var errEnough = errors.New("the range is complete")

// cutWriter passes on a range of what is written to it.
type cutWriter struct {
	w          io.Writer
	skip, left uint64
}

func (w *cutWriter) Write(p []byte) (int, error) {
	n := len(p)
	if uint64(len(p)) <= w.skip {
		w.skip -= uint64(len(p))
		return n, nil
	}
	p, w.skip = p[w.skip:], 0
	if uint64(len(p)) >= w.left {
		if _, err := w.w.Write(p[:w.left]); err != nil {
			return 0, err
		}
		w.left = 0
		return 0, errEnough
	}
	w.left -= uint64(len(p))
	_, err := w.w.Write(p)
	return n, err
}

// lateFile is created when the first byte arrives, so that a failure before it
// leaves an existing file alone.
type lateFile struct {
	path string
	f    *os.File
}

func (l *lateFile) Write(p []byte) (int, error) {
	if l.f == nil {
		f, err := os.Create(l.path)
		if err != nil {
			return 0, fmt.Errorf("write the bytes: %w", err)
		}
		l.f = f
	}
	return l.f.Write(p)
}

// finish creates the file of an empty value, and reports what Close would hide.
func (l *lateFile) finish() error {
	if _, err := l.Write(nil); err != nil {
		return err
	}
	err := l.f.Close()
	l.f = nil
	if err != nil {
		return fmt.Errorf("write the bytes: %w", err)
	}
	return nil
}

func (l *lateFile) Close() {
	if l.f != nil {
		l.f.Close()
	}
}

// selector is the value that was asked for, as the Rust CLI prints it.
type selector struct {
	Entity   string `json:"entity"`
	Type     string `json:"type"`
	ID       string `json:"id"`
	Property string `json:"property"`
}

// target is the place that was read.
type target struct {
	Branch   string `json:"branch,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	Resolved string `json:"resolved_snapshot"`
}

// blobStat is the document of blob stat.
type blobStat struct {
	Selector selector `json:"selector"`
	Kind     string   `json:"kind"` // managed or external
	Size     *uint64  `json:"size,omitempty"`
	ETag     string   `json:"etag,omitempty"`
	URI      string   `json:"uri,omitempty"`
	Target   target   `json:"target"`
}

func blobStatVerb() *verb {
	return &verb{
		name: "blob stat", args: "node|edge TYPE ID PROPERTY", need: 4, flags: []string{"branch", "snapshot", "at"},
		short:   "What a blob value is: its size and etag, or where it stands outside the graph",
		example: "blob stat demo: node Inspection insp-003 photo --json",
		run: onBlob(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
			s, err := g.BlobStat(ctx, c.args[0], c.args[1], c.args[2], c.args[3], at)
			if err != nil {
				return err
			}
			if s.Kind == "null" {
				return &engine.NotFoundError{What: "blob", Name: c.args[3], Where: fmt.Sprintf("of %s %q: the value is null", c.args[1], c.args[2])}
			}
			doc := blobStat{
				Selector: selector{c.args[0], c.args[1], c.args[2], c.args[3]}, Kind: "managed", Size: &s.Size, ETag: s.ETag,
				Target: target{Branch: at.Branch, Snapshot: at.Commit, Resolved: s.Resolved},
			}
			if s.Kind == "external" {
				doc.Kind, doc.Size, doc.ETag, doc.URI = "external", nil, "", s.URI
			}
			if s.Note != "" {
				c.note("%s", s.Note)
			}
			return c.shared(doc, func(t *out.Text) { printBlobStat(t, doc) })
		}),
	}
}

func printBlobStat(t *out.Text, d blobStat) {
	t.Line("entity: %s", d.Selector.Entity)
	t.Line("type: %s", d.Selector.Type)
	t.Line("id: %s", d.Selector.ID)
	t.Line("property: %s", d.Selector.Property)
	t.Line("kind: %s", d.Kind)
	if d.Size != nil {
		t.Line("size: %d", *d.Size)
	}
	for _, m := range []struct{ name, value string }{
		{"etag", d.ETag}, {"uri", d.URI}, {"branch", d.Target.Branch}, {"snapshot", d.Target.Snapshot}, {"resolved_snapshot", d.Target.Resolved},
	} {
		if m.value != "" {
			t.Line("%s: %s", m.name, m.value)
		}
	}
}
