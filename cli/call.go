package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cli/operator"
	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/theme"
)

// call is one run of a verb.
type call struct {
	env        *Env
	verb       *verb
	cmd        *cobra.Command
	flags      *pflag.FlagSet
	args       []string // positionals, the URI excepted
	uri        string   // of the graph or dataset; "" = none
	positional bool     // the URI stands on the command line by itself
	op         *operator.Config
	out        *bufio.Writer
	meter      *blob.Meter
	began      time.Time

	commit  string // that was read, for the ledger
	session bool   // the workstation ran: its questions have lines of their own
}

// start runs the verb on parsed flags.
func (v *verb) start(env *Env, cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	c := &call{env: env, verb: v, cmd: cmd, flags: cmd.Flags(), op: &operator.Config{}, out: bufio.NewWriterSize(env.Stdout, 32<<10), began: env.Now()}
	if err := c.prepare(args); err != nil {
		return err
	}
	classify := cost.Classify
	if v.place == onDataset {
		classify = cost.ClassifyDataset
	}
	c.meter = blob.NewMeter(classify)
	ctx = blob.WithMeter(ctx, c.meter)
	if c.has("timeout") {
		if d := c.duration("timeout"); d > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, d, &timeoutError{d})
			defer cancel()
		}
	}
	err := v.run(ctx, c)
	if c.uri != "" && !c.session {
		c.record(err)
	}
	if flushed := c.out.Flush(); err == nil && flushed != nil {
		err = fmt.Errorf("print the answer: %w", flushed)
	}
	return withCause(ctx, err)
}

// withCause says why a context ended instead of only that it did.
func withCause(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || !errors.Is(err, ctx.Err()) || engine.Wrote(err) {
		return err
	}
	return context.Cause(ctx)
}

// prepare finds out what is addressed and refuses what does not fit together.
func (c *call) prepare(args []string) error {
	if c.has("json") && c.has("ndjson") && c.boolean("json") && c.boolean("ndjson") {
		return usagef("--json and --ndjson are mutually exclusive: choose one document or one object a line")
	}
	for _, id := range []string{"limit", "concurrency", "depth"} {
		if c.has(id) && c.integer(id) < 0 {
			return usagef("--%s is %d, expected a number that is not negative", id, c.integer(id))
		}
	}
	for _, id := range c.verb.required {
		if c.text(id) == "" {
			return usagef("missing --%s: %s", nameOf(id), flagTable[id].usage)
		}
	}
	if c.has("timeout") && c.duration("timeout") < 0 {
		return usagef("--timeout is %s, expected a time that is not negative, as in 30s or 2m", c.duration("timeout"))
	}
	a := operator.Address{}
	for id, field := range map[string]*string{"store": &a.Store, "profile": &a.Profile} {
		if c.has(id) {
			*field = c.text(id)
		}
	}
	var err error
	if a.URI, c.args, err = c.verb.split(args, a.Store != "" || a.Profile != ""); err != nil {
		return err
	}
	c.positional = a.URI != ""
	switch c.verb.place {
	case onNothing:
		return nil
	case onDataset:
		c.uri = a.URI
		return nil
	case onGraph:
	}
	if c.has("uri") && c.given("uri") {
		if a.URI != "" {
			return fmt.Errorf("a positional URI and --uri are mutually exclusive: name the graph once")
		}
		a.URI = c.text("uri")
	}
	return c.resolve(a)
}

func (c *call) resolve(a operator.Address) error {
	if c.verb.fresh && a == (operator.Address{}) {
		return usagef("missing URI: usage is `omnideck %s`", c.verb.fullUsage())
	}
	op, err := operator.Load(c.env.Getenv)
	if err != nil {
		return err
	}
	c.op = op
	for _, w := range op.Warnings {
		c.warn("%s in %s", w, op.Path)
	}
	c.uri, err = op.Resolve(a, c.env.Getenv)
	switch {
	case !errors.Is(err, operator.ErrNone):
		return err
	case c.verb.anyGraph:
		return nil
	case c.verb.named && len(c.args) == 1: // nothing else says which graph is meant
		c.uri, c.args, c.positional = c.args[0], nil, true
		return nil
	case len(c.args) > 0 && isAddress(c.args[0]): // the graph stands where another argument was expected
		return usagef("missing %s: usage is `omnideck %s`", missing(c.verb, len(c.args)-1), c.verb.fullUsage())
	}
	return fmt.Errorf("%w; usage is `omnideck %s`", err, c.verb.fullUsage())
}

// has: the verb has this flag. given: it stands on the command line.
func (c *call) has(id string) bool { return slices.Contains(c.verb.allFlags(), id) }

func (c *call) given(id string) bool { c.seen(id); return c.flags.Changed(nameOf(id)) }

// seen tells tests that a flag was looked at.
func (c *call) seen(id string) {
	if !c.has(id) {
		panic(fmt.Sprintf("cli: %s reads the flag %s, which it does not have", c.verb.name, id))
	}
	if c.env.onFlag != nil {
		c.env.onFlag(c.verb.name, id)
	}
}

// The values of flags, by id.

func (c *call) boolean(id string) bool { c.seen(id); v, _ := c.flags.GetBool(nameOf(id)); return v }
func (c *call) text(id string) string  { c.seen(id); v, _ := c.flags.GetString(nameOf(id)); return v }
func (c *call) integer(id string) int  { c.seen(id); v, _ := c.flags.GetInt(nameOf(id)); return v }
func (c *call) number(id string) uint64 {
	c.seen(id)
	v, _ := c.flags.GetUint64(nameOf(id))
	return v
}
func (c *call) duration(id string) time.Duration {
	c.seen(id)
	v, _ := c.flags.GetDuration(nameOf(id))
	return v
}
func (c *call) texts(id string) []string {
	c.seen(id)
	v, _ := c.flags.GetStringArray(nameOf(id))
	return v
}

// list is a repeatable flag whose values may also be joined by commas.
func (c *call) list(id string) []string {
	var all []string
	for _, v := range c.texts(id) {
		for _, s := range strings.Split(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

// at is where in history to read: --branch, or --at on it.
func (c *call) at(ctx context.Context, g *engine.Graph) (engine.At, error) {
	at := engine.At{}
	if c.has("branch") {
		branch, err := c.branchOf("branch")
		if err != nil {
			return at, err
		}
		at.Branch = branch
	}
	if !c.has("at") || !c.given("at") {
		return at, nil
	}
	at, err := g.ResolveAt(ctx, c.text("at"), at.Branch)
	c.commit = at.Commit
	return at, err
}

// branchOf is the branch that a flag names, "" = main. White space around it
// is no part of the name, as in the Rust CLI.
func (c *call) branchOf(id string) (string, error) {
	name := strings.TrimSpace(c.text(id))
	if c.given(id) && name == "" {
		return "", usagef("--%s is empty: name a branch", nameOf(id))
	}
	return name, nil
}

// paper is a printer for people on stdout.
func (c *call) paper() *out.Text { return out.NewText(c.out, c.env.theme(c.env.Stdout, c.plain())) }

func (c *call) plain() bool { return c.has("no-color") && c.boolean("no-color") }

// note says something on stderr that is no error. --quiet silences it.
func (c *call) note(format string, args ...any) { c.say("note", theme.Muted, format, args...) }

// warn says something on stderr that one should look at.
func (c *call) warn(format string, args ...any) { c.say("warning", theme.Warn, format, args...) }

func (c *call) say(word string, role theme.Role, format string, args ...any) {
	if c.has("quiet") && c.boolean("quiet") {
		return
	}
	th := c.env.theme(c.env.Stderr, c.plain())
	fmt.Fprintf(c.env.Stderr, "%s %s\n", th.Paint(role, word+":"), out.Clean(fmt.Sprintf(format, args...)))
}

// theme is the style of a stream: plain when it is no terminal.
func (e *Env) theme(stream any, plain bool) *theme.Theme {
	name, ascii, _ := theme.FromEnv(e.Environ, "", false)
	if plain || !e.draws(stream) {
		return plainTheme(ascii)
	}
	th, err := theme.New(name, theme.Unknown, ascii)
	if err != nil {
		return plainTheme(ascii)
	}
	if p := colorprofile.Env(e.Environ); p == colorprofile.ANSI || p == colorprofile.ANSI256 {
		th = th.ForProfile(p)
	}
	return th
}

// plainTheme has glyphs and no style, not even bold.
func plainTheme(ascii bool) *theme.Theme {
	mono, err := theme.New("mono", theme.Unknown, ascii)
	if err != nil {
		return &theme.Theme{}
	}
	return &theme.Theme{Name: "plain", Glyph: mono.Glyph}
}
