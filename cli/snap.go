package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/tui"
	"github.com/omnideck/omnideck/tui/paint"
	"github.com/omnideck/omnideck/tui/press"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

func snapVerb() *verb {
	return &verb{
		name: "snap", group: "look", without: []string{"json", "no-color"},
		flags: []string{"at", "branch", "screen", "size", "as", "theme", "ascii", "press", "now"},
		short: "A screen of the workstation, printed without a terminal",
		long: "Draws a screen of the workstation once: everything that it shows is read, then --keys are pressed, each when\n" +
			"what the one before asked for has come, as in --keys 'j j enter'.\n\nScreens: " + screenPlaces + ".\n\n" +
			"With --now the picture of an unchanged graph is the same every time: ages are counted to that moment, requests\n" +
			"are made one after the other, and no copies of objects are kept. Times and hops are never drawn.\n\n" +
			"What cannot be read is said on the screen; the exit code is 1 when nothing on it could be read.",
		example: "snap demo: --screen commits --size 120x40\nsnap demo: --screen node:Port/rows --keys 'j enter' --as svg\n" +
			"snap s3://bucket/graph --now 2026-11-29T12:00:00Z",
		run: snapRun,
	}
}

// screenPlaces are the screens that can be asked for, as help tells them.
const screenPlaces = "overview (default), branches, commits, tables, versions,\n" +
	"operations, node:T or edge:T, one of its tabs as in node:T/rows, an entity as node:T/rows/ID, find/ID, diff/A..B"

func snapRun(ctx context.Context, c *call) error {
	as := c.text("as")
	if as != "txt" && as != "ansi" && as != "svg" {
		return usagef("--as is %q, expected txt, ansi or svg", as)
	}
	o, err := c.snapOptions()
	if err != nil {
		return err
	}
	if o.Branch, err = c.branchOf("branch"); err != nil {
		return err
	}
	if c.given("at") {
		o.At = c.text("at")
	}
	if o.Width, o.Height, err = size(c.text("size")); err != nil {
		return err
	}
	o.Press = strings.Fields(c.text("press"))
	for _, k := range o.Press {
		if _, err := press.Key(k); err != nil {
			return usagef("--keys: %v", err)
		}
	}
	if o.Pinned = c.given("now"); o.Pinned && c.given("concurrency") {
		return usagef("--now makes one request after the other, so that their counts come out the same: leave --concurrency out")
	} else if o.Pinned {
		now, err := time.Parse(time.RFC3339, c.text("now"))
		if err != nil {
			return usagef("--now is %q, expected a moment as in 2026-11-29T12:00:00Z", c.text("now"))
		}
		o.Now = func() time.Time { return now }
	}
	return c.snap(ctx, o, as)
}

// snapOptions are those that say how to draw, and what.
func (c *call) snapOptions() (o tui.SnapOptions, err error) {
	o.URI, o.Now, o.Open = c.uri, c.env.Now, c.onlooker
	o.ASCII, o.Theme, o.Screen = c.boolean("ascii"), c.text("theme"), c.text("screen")
	if err := c.checkLooks(); err != nil {
		return o, err
	}
	o.Width, o.Height = snapWidth, snapHeight
	return o, nil
}

// The size of a screen when none is asked for.
const snapWidth, snapHeight = 80, 24

// checkLooks refuses a theme or a screen that does not exist.
func (c *call) checkLooks() error {
	if _, err := theme.New(c.text("theme"), theme.Unknown, false); err != nil {
		return usagef("%v", err)
	}
	if _, err := screen.At(c.text("screen")); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// size reads WxH.
func size(text string) (w, h int, err error) {
	left, right, ok := strings.Cut(text, "x")
	w, errW := strconv.Atoi(left)
	h, errH := strconv.Atoi(right)
	if !ok || errW != nil || errH != nil || w < tui.SnapMinWidth || w > tui.SnapMaxWidth || h < tui.SnapMinHeight || h > tui.SnapMaxHeight {
		return 0, 0, usagef("--size is %q, expected WIDTHxHEIGHT in cells from %dx%d to %dx%d, as in 120x40", text,
			tui.SnapMinWidth, tui.SnapMinHeight, tui.SnapMaxWidth, tui.SnapMaxHeight)
	}
	return w, h, nil
}

// snap draws the screen and prints it. A picture that time ran out on is
// printed too.
func (c *call) snap(ctx context.Context, o tui.SnapOptions, as string) error {
	pal := paint.Dark
	switch {
	case as == "svg" && o.Theme == "light":
		pal, o.Ground = paint.Light, theme.Light
	case as == "svg": // a terminal's ground is not known, a picture's is
		o.Ground = theme.Dark
	}
	shot, err := tui.Snap(ctx, o)
	if shot == nil || errors.Is(err, context.Canceled) {
		return err
	}
	text := ""
	switch as {
	case "svg":
		text = shot.Picture().SVG(pal)
	case "ansi":
		text = strings.Join(shot.Lines, "\n") + "\n"
	default:
		text = shot.Picture().Text()
	}
	if _, werr := c.out.WriteString(text); werr != nil {
		return fmt.Errorf("print the screen: %w", werr)
	}
	c.tellRPC()
	if err == nil && shot.Failed != nil {
		err = fmt.Errorf("nothing on this screen could be read: %w", shot.Failed)
	}
	return err
}

// onlooker opens the graph for a run that leaves one line in the ledger, as
// every verb does, and not one for each question of the screen.
func (c *call) onlooker(ctx context.Context, uri string) (workspace.Workspace, error) {
	o, err := c.engineOptions(uri)
	if err != nil {
		return nil, err
	}
	if c.has("now") && c.given("now") {
		o.NoCache, o.Concurrency = true, 1
	}
	ws, err := workspace.Open(ctx, uri, o)
	if err != nil {
		return nil, err
	}
	ledger, err := openLedger()
	if err != nil {
		c.warn("%v; the screen shows none of its lines", err)
		return ws, nil
	}
	return withLedger{ws, ledger}, nil
}

// withLedger is a graph that shows a ledger into which it does not write.
type withLedger struct {
	workspace.Workspace
	ledger *cost.Ledger
}

// Operations implements workspace.Workspace.
func (w withLedger) Operations(_ context.Context, n int) ([]cost.Entry, error) {
	return w.ledger.Read(n, func(uri string) bool { return uri == w.URI() })
}
