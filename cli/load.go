package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

var loadModes = []string{string(engine.LoadOverwrite), string(engine.LoadAppend), string(engine.LoadMerge)}

func loadVerb() *verb {
	return &verb{
		name: "load", group: "change", flags: []string{"data", "mode", "branch-to", "from", "chunk", "actor", "yes", "dry-run", "plan"}, required: []string{"data", "mode"},
		short: "Load lines of JSON, as one commit",
		long: "Load entities, one JSON object a line as export prints them. --mode append adds and refuses an id that is\n" +
			"there, merge adds or replaces whole entities, overwrite replaces all entities of each type that occurs.\n\n" +
			"One load is one commit, of at most 8192 entities and 32 MiB of a type. --chunk splits append and merge into\n" +
			"as many commits as needed; broken off, the same line goes on with what has not landed.",
		example: "load ports --data ports.jsonl --mode append\nload ports --data all.jsonl --mode merge --chunk",
		run: func(ctx context.Context, c *call) error {
			l, lines, err := c.loading()
			if err != nil {
				return err
			}
			defer lines.close()
			return writing(func(ctx context.Context, c *call, g *engine.Graph) error { return c.load(ctx, g, l, lines) })(ctx, c)
		},
	}
}

// loading reads what to load from the command line.
func (c *call) loading() (l engine.LoadOptions, lines *lineFile, err error) {
	if l.WriteOptions, err = c.writeOptions(); err != nil {
		return l, nil, err
	}
	path, mode := c.text("data"), c.text("mode")
	switch {
	case c.given("from") && strings.TrimSpace(c.text("from")) == "":
		return l, nil, usagef("--from is empty: name a branch")
	case !slices.Contains(loadModes, mode):
		return l, nil, usagef("--mode is %q, expected one of %s", mode, strings.Join(loadModes, ", "))
	case c.boolean("chunk") && mode == string(engine.LoadOverwrite):
		return l, nil, usagef("--chunk splits append and merge; an overwrite is one commit")
	case c.boolean("chunk") && (c.boolean("dry-run") || c.given("plan")):
		return l, nil, usagef("--chunk cannot be used with --dry-run or --plan: which commits are left to make hangs on the one before")
	}
	l.Mode = engine.LoadMode(mode)
	lines = &lineFile{path: path}
	if c.boolean("chunk") && lines.once() {
		return l, nil, usagef("--chunk reads the lines more than once, and %s is a pipe: write them to a file first", path)
	}
	l.Input = lines.open
	return l, lines, nil
}

// lineFile is the file with the lines, which is opened again for each reading. A
// pipe gives them once.
type lineFile struct {
	path  string
	ahead *os.File // opened and not handed out yet
	given bool
}

func (f *lineFile) once() bool {
	fi, err := os.Stat(f.path)
	return err == nil && fi.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// look opens the file for the first reading, so that one that is not there is
// told before anything else is done.
func (f *lineFile) look() (err error) {
	f.ahead, err = os.Open(f.path)
	if err != nil {
		return fmt.Errorf("read the lines: %w", err)
	}
	return nil
}

func (f *lineFile) open() (io.ReadCloser, error) {
	if f.given && f.once() {
		return nil, fmt.Errorf("read the lines: %s is a pipe, and they were read once: load again", f.path)
	}
	if f.ahead == nil {
		if err := f.look(); err != nil {
			return nil, err
		}
	}
	file := f.ahead
	f.ahead, f.given = nil, true
	return file, nil
}

// close drops what was opened and nobody read.
func (f *lineFile) close() {
	if f.ahead != nil {
		_ = f.ahead.Close()
	}
}

func (c *call) load(ctx context.Context, g *engine.Graph, l engine.LoadOptions, lines *lineFile) error {
	c.target()
	if l.Mode == engine.LoadOverwrite {
		if err := c.confirm("load --mode overwrite"); err != nil {
			return err
		}
	} else {
		c.boolean("yes")
	}
	if err := lines.look(); err != nil {
		return err
	}
	if c.boolean("chunk") {
		return c.loadChunks(ctx, g, l)
	}
	id, err := c.asked()
	if err != nil {
		return err
	}
	if c.boolean("dry-run") {
		p, err := g.PlanLoad(ctx, l)
		if err != nil {
			return c.noBranch(err, l)
		}
		return c.planned(p)
	}
	if id != "" {
		if l.Plan, err = g.PlanLoad(ctx, l); err == nil {
			err = l.Plan.Check(id)
		}
		if err != nil {
			return c.moved(c.noBranch(err, l))
		}
	}
	r, err := g.Load(ctx, l)
	if err != nil {
		return c.moved(c.noBranch(err, l))
	}
	c.receipt(r)
	return c.loaded(r, l)
}

// noBranch says what --from is not good for.
func (c *call) noBranch(err error, l engine.LoadOptions) error {
	if from := c.text("from"); c.given("from") && engine.NoSuchBranch(err) {
		return fmt.Errorf("%w; this version makes no branches, so --from %s was not followed: make %s with the Rust CLI", err, from, l.Branch)
	}
	return err
}

func (c *call) loaded(r *engine.Receipt, l engine.LoadOptions, more ...out.Member) error {
	type loaded struct {
		Name string `json:"name"`
		Rows int    `json:"entities_loaded"`
	}
	nodes, edges, total := []loaded{}, []loaded{}, 0
	for _, x := range r.Loads {
		total += x.Rows
		if x.Kind == "edge" {
			edges = append(edges, loaded{x.Name, x.Rows})
		} else {
			nodes = append(nodes, loaded{x.Name, x.Rows})
		}
	}
	doc := []out.Member{out.M("uri", c.uri), out.M("branch", r.Branch), out.M("mode", l.Mode)}
	if c.given("from") {
		doc = append(doc, out.M("base_branch", c.text("from")))
	}
	doc = append(doc, out.M("branch_created", false), out.M("nodes", nodes), out.M("edges", edges), out.M("total_entities", total), out.M("commit", r.Commit))
	doc = append(doc, more...)
	return c.answer(doc, func(t *out.Text) {
		t.Line("loaded %s on branch %s with %s: %d entities across %d node types and %d edge types", c.uri, r.Branch, l.Mode, total, len(nodes), len(edges))
	})
}

// loadChunks loads in several commits and says on stderr how far it is.
func (c *call) loadChunks(ctx context.Context, g *engine.Graph, l engine.LoadOptions) error {
	r, err := g.LoadChunks(ctx, l, func(p engine.ChunkProgress) {
		what := "was there"
		if p.Commit != nil {
			what = "commit " + p.Commit.ID
		}
		c.note("chunk %d of %d: %s, %d of %d entities", p.Chunk, p.Of, what, p.Done, p.Total)
	})
	if err != nil {
		return c.noBranch(err, l)
	}
	c.receipt(&r.Receipt)
	return c.loaded(&r.Receipt, l, out.M("chunks", r.Chunks), out.M("commits", r.Commits), out.M("landed_before", r.Landed))
}
