package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/cli/operator"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace"
)

// workstation opens the terminal workstation on the addressed graph, or on the
// picker when none is.
func workstation(ctx context.Context, c *call) error {
	c.session = true
	ledger, err := openLedger()
	if err != nil {
		c.warn("%v; this run leaves no line in it", err)
	}
	var (
		once    sync.Once
		sandbox blob.Store
	)
	o := tui.Options{
		URI: c.uri, Input: c.env.Stdin, Output: c.env.Stdout, Env: c.env.Environ, Now: c.env.Now,
		Open: func(ctx context.Context, uri string) (workspace.Workspace, error) {
			uri, err := c.op.Resolve(operator.Address{URI: uri}, c.env.Getenv)
			if err != nil {
				return nil, err
			}
			eo, err := c.engineOptions(uri)
			if err != nil {
				return nil, err
			}
			eo.Ledger, eo.Write = ledger, true
			if eo.Store != nil { // of demo: what was written there stays until the program ends
				once.Do(func() { sandbox = lasting{eo.Store} })
				eo.Store = sandbox
			}
			return workspace.Open(ctx, uri, eo)
		},
		Recents: func(context.Context) ([]screen.Recent, error) { return lately(ledger) },
		Screen:  c.text("screen"), Theme: c.text("theme"), ASCII: c.boolean("ascii"), Mouse: c.boolean("mouse"),
	}
	if a := c.op.Operator.Actor; a != "" {
		o.Actor = &a
	}
	if o.Keys, err = c.keyMap(); err != nil {
		return err
	}
	if kept, err := openState(); err != nil {
		c.warn("%v; nothing is kept of this run", err)
	} else {
		o.LoadState, o.SaveState, o.SaveCopy = kept.load, kept.save, kept.copied
	}
	if c.plain() && o.Theme == "" {
		o.Theme = "mono"
	}
	return tui.Run(ctx, o)
}

// lasting is a store that outlives those who open it.
type lasting struct{ blob.Store }

// Close implements blob.Store.
func (lasting) Close() error { return nil }

// keyMap are the keys in force: those of --keys, else of the user's own file
// when there is one, else nil. What is wrong with the file is a usage error:
// nothing starts with keys that mean two things.
func (c *call) keyMap() (*action.Map, error) {
	path, named := c.text("key-map"), true
	if path == "" {
		path, named = c.ownKeys(), false
	}
	if path == "" {
		return nil, nil
	}
	text, err := readAtMost(path, keyMapMax)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the key map: %w", err)
	}
	m, err := action.Read(text)
	if err != nil {
		return nil, errors.Join(usagef("the key map %s cannot be used:", path), err)
	}
	return m, nil
}

// ownKeys is where a user's key map is: $XDG_CONFIG_HOME/omnideck/keys.toml, by
// default below ~/.config.
func (c *call) ownKeys() string {
	dir := c.env.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := c.env.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "omnideck", "keys.toml")
}

// keyMapMax is how many bytes of a key map are read; its reader refuses fewer.
const keyMapMax = 1 << 20

// recentGraphs is how many graphs the picker offers.
const recentGraphs = 20

// lately are the graphs that were opened here, newest first, as the ledger
// tells; the embedded one is not among them.
func lately(ledger *cost.Ledger) ([]screen.Recent, error) {
	if ledger == nil {
		return nil, nil
	}
	var found []screen.Recent
	unknown := func(uri string) bool {
		return uri != demoURI && !slices.ContainsFunc(found, func(r screen.Recent) bool { return r.URI == uri })
	}
	for e, err := range ledger.Newest(unknown) {
		if err != nil {
			return nil, err
		}
		if e.Outcome == "ok" {
			found = append(found, screen.Recent{URI: e.URI, Last: e.At})
		}
		if len(found) == recentGraphs {
			break
		}
	}
	return found, nil
}

// engineOptions are the options with which a verb opens a graph: for looking
// only.
func (c *call) engineOptions(uri string) (engine.Options, error) {
	o := engine.Options{
		Meter: c.meter, Concurrency: c.integer("concurrency"), Clock: c.env.Now, NoCache: c.boolean("no-cache"),
		OpenExternal: c.boolean("external"),
	}
	if uri == demoURI {
		store, err := demoStore()
		if err != nil {
			return o, err
		}
		o.Store = store
	}
	return o, nil
}
