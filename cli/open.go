package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

// openVerb is the program without a verb: the workstation on a terminal, the
// overview as text elsewhere.
func openVerb() *verb {
	return &verb{
		name: "omnideck", flags: []string{"version", "screen", "theme", "ascii", "mouse", "key-map"}, anyGraph: true,
		short: "Look at OmniGraph graphs that live in Lance datasets",
		long: "omnideck opens a graph in a terminal workstation, or answers one question with a verb. It reads what the\n" +
			"OmniGraph engine wrote, in a folder or a bucket, and changes nothing by looking.\n\n" +
			"Without a verb it opens URI, else defaults.store of the operator file, else a list to choose from. Without a\n" +
			"terminal it prints the overview, or the screen of --screen as snap does.\n\n" +
			"Addresses: a folder, file://, s3://, gs://, azblob://, and demo: for the graph that it carries. A verb's URI may\n" +
			"be left out where --store, --profile, OMNIGRAPH_PROFILE or defaults.store of the operator file names the graph.",
		example: "demo:\ndemo: --screen commits\ns3://bucket/graph\ninfo demo: --json",
		run:     openRun,
	}
}

func openRun(ctx context.Context, c *call) error {
	if c.boolean("version") {
		return c.printVersion()
	}
	if err := c.mistyped(); err != nil {
		return err
	}
	if err := c.checkLooks(); err != nil {
		return err
	}
	if c.given("key-map") { // also where no key can be pressed: a wrong file is told at once
		if _, err := c.keyMap(); err != nil {
			return err
		}
	}
	if !c.boolean("json") && !c.boolean("rpc") && isTerminal(c.env.Stdin) && c.env.draws(c.env.Stdout) {
		return workstation(ctx, c)
	}
	if c.uri == "" {
		return recents(c)
	}
	if c.given("screen") {
		return printScreen(ctx, c)
	}
	c.note("no terminal here that can draw, so the overview follows as text; `omnideck info` prints the same")
	return reading(func(ctx context.Context, c *call, g *engine.Graph, at engine.At) error { return info(ctx, c, g, at) })(ctx, c)
}

// printScreen prints the screen that was asked for where no terminal can show
// it.
func printScreen(ctx context.Context, c *call) error {
	if c.boolean("json") {
		return usagef("--screen is drawn and --json is not: leave one of them out")
	}
	o, err := c.snapOptions()
	if err != nil {
		return err
	}
	if o.Keys, err = c.keyMap(); err != nil {
		return err
	}
	c.note("no terminal here that can draw, so the screen follows as text, %d cells wide; `omnideck snap` has other sizes, colours and keys", o.Width)
	return c.snap(ctx, o, "txt")
}

// mistyped: one bare word that is no folder is taken for a misspelled verb.
func (c *call) mistyped() error {
	if !c.positional || c.uri == demoURI || strings.ContainsAny(c.uri, `/\:.`) {
		return nil
	}
	if _, err := os.Stat(c.uri); err == nil {
		return nil
	} else if !isMissing(err) {
		return fmt.Errorf("look for a graph: %w", err)
	}
	return usagef("%q is neither a verb nor a folder here%s", c.uri, c.suggest(c.uri))
}

func isMissing(err error) bool { return os.IsNotExist(err) || err == fs.ErrNotExist }

// recents lists the graphs that were opened here lately, for those who have no
// terminal to choose one on.
func recents(c *call) error {
	ledger, err := openLedger()
	if err != nil {
		return err
	}
	found, err := lately(ledger)
	if err != nil {
		return err
	}
	uris := make([]string, 0, len(found)+1)
	for _, r := range found {
		uris = append(uris, r.URI)
	}
	uris = append(uris, demoURI)
	c.note("no graph addressed and no terminal here, so the graphs opened lately follow; open one with `omnideck URI`")
	return c.answer([]out.Member{out.M("recent", uris)}, func(t *out.Text) {
		for _, u := range uris {
			t.Line("%s", u)
		}
	})
}
