package cli

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

// whole is a document that holds all its members, "uri" included.
func (c *call) whole(v any, human func(*out.Text)) error { return c.shared(v, human) }

// shared is a document of a verb that the Rust CLI has too: nothing is added
// but rpc, and that only on demand.
func (c *call) shared(v any, human func(*out.Text)) error {
	return c.answer([]out.Member{out.All(v)}, human)
}

// own is a document of a verb of ours: "uri" first.
func (c *call) own(v any, human func(*out.Text)) error {
	return c.answer([]out.Member{out.M("uri", c.uri), out.All(v)}, human)
}

// answer prints a whole answer: a document, or text for people.
func (c *call) answer(doc []out.Member, human func(*out.Text)) error {
	if c.boolean("json") {
		return out.Document(c.out, append(doc, c.rpc()...)...)
	}
	t := c.paper()
	human(t)
	c.tellRPC()
	return t.Err()
}

// rpc is the member that --rpc adds.
func (c *call) rpc() []out.Member {
	if !c.has("rpc") || !c.boolean("rpc") {
		return nil
	}
	return []out.Member{out.M("rpc", cost.RPC(c.meter))}
}

// tellRPC is --rpc for people, on stderr so that the data stays as it is.
func (c *call) tellRPC() {
	if !c.has("rpc") || !c.boolean("rpc") {
		return
	}
	t := c.meter.Totals()
	var ops []string
	for _, op := range blob.Ops {
		if n := t.Ops[op]; n > 0 {
			ops = append(ops, fmt.Sprintf("%s %d", op, n))
		}
	}
	by := ""
	if len(ops) > 0 {
		by = " (" + strings.Join(ops, ", ") + ")"
	}
	fmt.Fprintf(c.env.Stderr, "rpc: %s%s, %s, %s read, %s written, %s\n",
		part.Plural(t.Requests, "request", "requests"), by, part.Plural(t.Hops, "hop", "hops"),
		part.Bytes(t.BytesRead), part.Bytes(t.BytesWritten), part.Plural(t.Retries, "retry", "retries"))
}

// lines prints each value on a line of its own, and the rpc after them.
func lines[T any](c *call, items iter.Seq[T]) error {
	for v := range items {
		line, err := out.Compact(v)
		if err != nil {
			return err
		}
		if _, err := c.out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("print the answer: %w", err)
		}
	}
	return c.lastLine()
}

// lastLine is the line {"rpc":…} of a stream.
func (c *call) lastLine() error {
	m := c.rpc()
	if m == nil {
		return nil
	}
	line, err := out.Object(m...)
	if err != nil {
		return err
	}
	_, err = c.out.Write(append(line, '\n'))
	return err
}

// moment is a time for people.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// severity is a word and its style.
func severity(s engine.Severity) (string, theme.Role) {
	switch s {
	case engine.SeverityError:
		return "error", theme.Bad
	case engine.SeverityWarn:
		return "warn", theme.Warn
	case engine.SeverityInfo:
		return "info", theme.Muted
	case engine.SeverityOK:
	}
	return "ok", theme.OK
}

// findings prints what the doctor sees at a glance. The next step is a command
// line that can be copied.
func findings(t *out.Text, uri string, all []engine.Finding) {
	for _, f := range all {
		word, role := severity(f.Severity)
		t.Raw(fmt.Sprintf("%s %s  %s\n", t.Paint(role, fmt.Sprintf("%-5s", word)), out.Clean(f.ID), out.Clean(f.Title)))
		if f.Trust != "" {
			t.Line("      still true: %s", f.Trust)
		}
		for _, e := range f.Evidence {
			t.Line("      %s: %s", e.Key, e.Fact)
		}
		if f.Action != nil && f.Action.Verb != "" {
			words := append(strings.Fields(f.Action.Verb), uri) // a verb may be two words
			t.Line("      next: %s", shell.Line(append(words, f.Action.Args...)...))
		}
	}
}
