package lance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// VerifyOptions say how far Verify looks. By itself it reads no file of the
// version: it asks whether they are there and of the recorded length.
type VerifyOptions struct {
	// Deep also reads every deletion file, decodes every value of every data
	// file and asks for the length of every object that a blob lies in. The
	// bytes of blobs are not read: Lance keeps no check sums, so that a flip
	// inside one, or one that makes another legal value, cannot be seen.
	Deep bool
	// Keys, with Deep, also looks for rows with the same key: a value of the column
	// Key, which is text, "" = of the primary key if the schema marks one such.
	Keys bool
	Key  string
	Refs bool // also judge the chain of versions, its transactions, the branches and the tags

	// Chains, with Refs and Deep, also reads every manifest of main and of all
	// branches, those that are newer than the version too.
	Chains bool
}

// Problem is one thing that is wrong, or worth saying.
type Problem struct {
	// ID says what was checked: file-missing, file-size, rows,
	// text, blob, deletions, row-ids, row-versions, flags, fragment-ids, fragment-files,
	// file-version, fields, index, base-path, version-unreadable, transaction,
	// branch-leftover, duplicate-key; and the ids of chain and ref findings.
	ID           string
	Severity     string // error, warn, info
	Version      uint64
	Key          string // object, or the manifest
	Found        string
	Expected     string
	RowsAffected uint64
	Copies       []Copy // of duplicate-key: the rows
}

// Report is what Verify found and how much it looked at.
type Report struct {
	Problems  []Problem // worst first
	Files     int       // objects whose presence was checked
	Fragments int
	Rows      uint64 // live rows by the manifest
	Indexes   int    // segments
	Versions  int    // with Refs: of the branch
	Refs      int    // with Refs: branches and tags
}

// Clean reports whether nothing of severity error was found.
func (r *Report) Clean() bool {
	return !slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Severity == "error" })
}

// checker is one running Verify.
type checker struct {
	s *Snapshot
	o VerifyOptions

	mu     sync.Mutex // guards the rest while files are checked side by side
	out    Report
	broken map[uint64]bool // fragments of which something cannot be read
}

// Verify checks a snapshot against the objects that it names. What is wrong
// with the dataset is in the report; an error says that checking itself failed.
func Verify(ctx context.Context, s *Snapshot, o VerifyOptions) (*Report, error) {
	c := &checker{s: s, o: o, broken: map[uint64]bool{}}
	c.out.Fragments = len(s.frags)
	c.out.Rows, _ = s.CountRows()
	c.manifest()
	c.flags()
	for i := range s.frags {
		if err := c.fragment(ctx, &s.frags[i]); err != nil {
			return nil, c.fail(err)
		}
	}
	c.indexes()
	for _, step := range []func(context.Context) error{c.files, c.values, c.uniqueRowIDs, c.keys, c.refs} {
		if err := step(ctx); err != nil {
			return nil, c.fail(err)
		}
	}
	worstFirst(c.out.Problems)
	return &c.out, nil
}

// worstFirst sorts by severity, then by what was checked and what was found: the
// order in which files were read does not matter.
func worstFirst(problems []Problem) {
	rank := map[string]int{"error": 0, "warn": 1, "info": 2}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank[a.Severity], rank[b.Severity]), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Key, b.Key),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.Found, b.Found), cmp.Compare(a.Expected, b.Expected))
	})
}

func (c *checker) fail(err error) error {
	return fmt.Errorf("checking version %d of %s: %w", c.s.Version(), c.s.env.at(), err)
}

// add notes a problem; an empty key stands for the manifest.
func (c *checker) add(p Problem) {
	if p.Key == "" {
		p.Key = c.s.object.Key
	}
	if p.Version == 0 {
		p.Version = c.s.Version()
	}
	if p.Severity == "" {
		p.Severity = "error"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Problems = append(c.out.Problems, p)
}

// manifest checks the numbers of the version as a whole.
func (c *checker) manifest() {
	m := c.s.manifest
	seen := map[uint64]int{}
	for i := range m.Fragments {
		f := &m.Fragments[i]
		if at, dup := seen[f.ID]; dup {
			rows, _ := f.LiveRows()
			c.add(Problem{ID: "fragment-ids", Found: fmt.Sprintf("fragments %d and %d of the list both have id %d", at, i, f.ID), Expected: "each id once", RowsAffected: rows})
		}
		seen[f.ID] = i
		if i > 0 && f.ID < m.Fragments[i-1].ID {
			c.add(Problem{ID: "fragment-ids", Severity: "warn", Found: fmt.Sprintf("fragment %d after %d", f.ID, m.Fragments[i-1].ID), Expected: "ascending ids"})
		}
		if m.MaxFragmentID == nil || f.ID > uint64(*m.MaxFragmentID) {
			c.add(Problem{ID: "fragment-ids", Found: fmt.Sprintf("fragment %d above the mark of the greatest id", f.ID), Expected: "a mark at least as high: the next writer gives the id again"})
		}
		if len(f.Files) == 0 {
			c.add(Problem{ID: "fragment-files", Severity: "warn", Found: fmt.Sprintf("fragment %d has no data file, its rows are null in every column", f.ID), Expected: "a data file; Lance can neither scan nor compact it", RowsAffected: f.PhysicalRows})
		}
	}
	for _, b := range c.s.Bases() {
		if b.Moved {
			c.add(Problem{ID: "base-path", Severity: "warn", Found: fmt.Sprintf("base path %d is recorded as %s", b.ID, b.Recorded),
				Expected: fmt.Sprintf("%s: the dataset was moved or copied; files are looked for there first", format.Join(c.s.env.url, b.Here))})
		}
	}
}

// flags compares the feature flags with what the manifest holds.
func (c *checker) flags() {
	m := c.s.manifest
	var want format.Flags
	ids := 0
	for i := range m.Fragments {
		if m.Fragments[i].Deletion != nil {
			want |= format.FlagDeletionFiles
		}
		if m.Fragments[i].RowIDs.Present {
			ids++
		}
	}
	if len(m.BasePaths) > 0 {
		want |= format.FlagBasePaths
	}
	const judged = format.FlagDeletionFiles | format.FlagBasePaths
	for what, got := range map[string]format.Flags{"reader": m.ReaderFlags, "writer": m.WriterFlags} {
		if got&judged != want {
			c.add(Problem{ID: "flags", Found: fmt.Sprintf("%s flags %s", what, got), Expected: fmt.Sprintf("of deletion files and base paths: %s", want)})
		}
	}
	if (m.ReaderFlags^m.WriterFlags)&format.FlagStableRowIDs != 0 {
		c.add(Problem{ID: "flags", Found: fmt.Sprintf("reader flags %s, writer flags %s", m.ReaderFlags, m.WriterFlags), Expected: "stable row ids in both or in neither"})
	}
	if ids > 0 && !m.StableRowIDs() {
		c.add(Problem{ID: "flags", Found: fmt.Sprintf("%d fragments have row ids, but the flag for stable row ids is not set", ids), Expected: "the flag; without it ids are read as addresses"})
	}
	if (len(m.Config) > 0) != (m.WriterFlags&format.FlagTableConfig != 0) {
		c.add(Problem{ID: "flags", Severity: "warn", Found: fmt.Sprintf("%d settings, writer flags %s", len(m.Config), m.WriterFlags), Expected: "the flag for settings when there are some"})
	}
}

// refs checks the chain, the branches and the tags.
func (c *checker) refs(ctx context.Context) error {
	if !c.o.Refs {
		return nil
	}
	e := c.s.env
	chain, err := Versions(ctx, e.store, e.root, ListOptions{Branch: e.opts.Branch})
	if err != nil {
		return err
	}
	c.out.Versions = len(chain.Versions)
	for _, f := range chain.Findings {
		c.add(Problem{ID: f.ID, Severity: f.Severity, Key: e.versionsDir(), Found: f.Text})
	}
	list, err := refs.List(ctx, e.store, e.root)
	if err != nil {
		return err
	}
	c.out.Refs = len(list.Branches) + len(list.Tags)
	branches, err := refs.ReadBranches(ctx, e.store, list.Branches, e.opts.Parallelism)
	if err != nil {
		return err
	}
	tags, err := refs.ReadTags(ctx, e.store, list.Tags, e.opts.Parallelism)
	if err != nil {
		return err
	}
	for _, f := range refs.Check(list, branches, tags) {
		c.add(Problem{ID: f.ID, Severity: f.Severity, Key: cmp.Or(f.Key, format.Join(e.root, format.RefsDir)), Found: f.Text})
	}
	if err := c.targets(ctx, branches, tags); err != nil {
		return err
	}
	names := make([]string, len(list.Branches))
	for i, b := range list.Branches {
		names[i] = b.Name
	}
	if err := c.chains(ctx, names); err != nil {
		return err
	}
	if err := c.transactions(ctx, chain, names); err != nil {
		return err
	}
	return c.leftovers(ctx, names)
}
