package lance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance/format"
)

// Chain is the version history of one branch as a listing shows it: no
// manifest is read.
type Chain struct {
	Branch    string         // "" = main
	Versions  []ChainVersion // newest first
	Detached  []ChainVersion // never part of the history
	Leftovers []Leftover     // objects that are no versions
	Hint      *Hint          // nil: no hint file, or a limited listing that did not reach it
	Findings  []Finding      // worst first
	Complete  bool           // every key of _versions was listed
	Pages     int            // LIST requests
}

// ChainVersion is one manifest by its name.
type ChainVersion struct {
	Version uint64
	Object
	V1 bool // name of the old scheme
}

// Leftover is an object in _versions that is no version.
type Leftover struct {
	Object
	Why string
}

// Hint is latest_version_hint.json, which is never trusted.
type Hint struct {
	Version uint64 // 0 when unreadable
	State   string // current, stale (lower than the newest version), ahead (higher), unreadable
	Text    string // of an unreadable one, the beginning
}

// Finding is one thing worth saying about a chain.
type Finding struct {
	ID       string // mixed-naming, hint-ahead, hint-stale, hint-unreadable, hint-missing, leftover, detached, gap
	Severity string // error, warn, info
	Text     string // one sentence
}

// ListOptions bound a listing.
type ListOptions struct {
	Branch   string // "" or "main" = main
	Limit    int    // newest so many; 0 = all. Fewer may be listed when old names are among them
	PageSize int    // keys a request; 0 = 100
}

// Versions lists the versions of a branch: only LIST requests, and one GET of
// the hint file if there is one. A branch without versions is an empty chain.
func Versions(ctx context.Context, store blob.Store, root string, o ListOptions) (*Chain, error) {
	e := newEnv(store, root, OpenOptions{Branch: o.Branch})
	c, err := e.list(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("listing the versions of %s: %w", e.at(), err)
	}
	if err := e.readHint(ctx, c); err != nil {
		return nil, fmt.Errorf("listing the versions of %s: %w", e.at(), err)
	}
	c.judge()
	if c.Hint == nil && c.Complete && len(c.Versions) > 0 && store.Properties().Scheme == "file" {
		c.Findings = append(c.Findings, Finding{"hint-missing", "info", "there is no version hint, which Lance writes beside local manifests; it is never trusted"})
	}
	return c, nil
}

// list reads the names. The hint is only noted.
func (e *env) list(ctx context.Context, o ListOptions) (*Chain, error) {
	c := &Chain{Branch: e.opts.Branch, Complete: true}
	page := o.PageSize
	if page <= 0 {
		page = listPage
	}
	keys, v2 := 0, 0
	opts := blob.ListOptions{Prefix: e.versionsDir(), PageSize: page}
	for entry, err := range e.store.List(ctx, opts) {
		if err != nil {
			return nil, err
		}
		keys++
		if c.add(opts.Prefix, entry) == format.NameV2 {
			v2++
		}
		if o.Limit > 0 && v2 >= o.Limit && e.store.Properties().Ordered {
			c.Complete = false // the newest of the new names come first
			break
		}
	}
	c.Pages = max(1, (keys+page-1)/page)
	slices.SortStableFunc(c.Versions, func(a, b ChainVersion) int {
		switch {
		case a.Version > b.Version:
			return -1
		case a.Version < b.Version:
			return 1
		}
		return 0
	})
	if o.Limit > 0 && len(c.Versions) > o.Limit {
		c.Versions, c.Complete = c.Versions[:o.Limit], false
	}
	return c, nil
}

// parseEntry reads the name of one entry.
func parseEntry(prefix string, entry blob.Entry) (ChainVersion, format.NameKind) {
	v, kind := format.ParseManifestName(strings.TrimPrefix(entry.Key, prefix))
	if entry.IsPrefix {
		kind = format.NotManifest
	}
	return ChainVersion{Version: v, Object: objectOf(entry.Key, entry.Attrs), V1: kind == format.NameV1}, kind
}

// add sorts one entry into the chain.
func (c *Chain) add(prefix string, entry blob.Entry) format.NameKind {
	v, kind := parseEntry(prefix, entry)
	switch {
	case kind == format.NameDetached:
		c.Detached = append(c.Detached, v)
	case kind != format.NotManifest:
		c.Versions = append(c.Versions, v)
	case strings.TrimPrefix(entry.Key, prefix) == format.HintName:
		c.Hint = &Hint{Text: entry.Key}
	default:
		c.Leftovers = append(c.Leftovers, Leftover{v.Object, why(strings.TrimPrefix(entry.Key, prefix), entry.IsPrefix)})
	}
	return kind
}

// why guesses how a name that is no version came about.
func why(name string, folder bool) string {
	switch {
	case folder:
		return "a folder"
	case strings.HasPrefix(name, ".tmp"):
		return "a temporary file of a commit that did not end"
	case strings.Contains(name, ".manifest#"), strings.Contains(name, ".manifest."), strings.Contains(name, ".manifest_"):
		return "a copy or a temporary file of a manifest; the name has a suffix"
	case strings.HasSuffix(name, ".manifest"):
		return "a manifest under a name that stands for no version"
	}
	return "not a name that Lance gives"
}

// readHint reads the hint file if the listing saw one.
func (e *env) readHint(ctx context.Context, c *Chain) error {
	if c.Hint == nil {
		return nil
	}
	o, err := e.store.Get(ctx, c.Hint.Text, blob.All)
	if errors.Is(err, blob.ErrNotExist) {
		c.Hint = nil
		return nil
	}
	if err != nil {
		return err
	}
	var body struct {
		Version uint64 `json:"version"`
	}
	newest := uint64(0)
	if len(c.Versions) > 0 {
		newest = c.Versions[0].Version
	}
	switch err := json.Unmarshal(o.Data, &body); {
	case err != nil || body.Version == 0:
		c.Hint = &Hint{State: "unreadable", Text: fmt.Sprintf("%.40q", o.Data)}
	case body.Version > newest:
		c.Hint = &Hint{Version: body.Version, State: "ahead"}
	case body.Version < newest:
		c.Hint = &Hint{Version: body.Version, State: "stale"}
	default:
		c.Hint = &Hint{Version: body.Version, State: "current"}
	}
	return nil
}

// checkNaming refuses to call one version the newest when names of both
// schemes were seen.
func (c *Chain) checkNaming(where string) error {
	v1, v2 := c.naming()
	if v1 == nil || v2 == nil {
		return nil
	}
	return &MixedNamingError{Where: where, V1: v1.Version, V2: v2.Version}
}

// naming is the newest version of each scheme, or nil.
func (c *Chain) naming() (v1, v2 *ChainVersion) {
	for i := range c.Versions {
		v := &c.Versions[i]
		switch {
		case v.V1 && v1 == nil:
			v1 = v
		case !v.V1 && v2 == nil:
			v2 = v
		}
	}
	return v1, v2
}

// judge makes the findings, worst first.
func (c *Chain) judge() {
	add := func(id, severity, text string, args ...any) {
		c.Findings = append(c.Findings, Finding{id, severity, fmt.Sprintf(text, args...)})
	}
	if v1, v2 := c.naming(); v1 != nil && v2 != nil {
		add("mixed-naming", "error", "manifests of both naming schemes: the newest is %d in the old and %d in the new; Lance opens such a table by number only", v1.Version, v2.Version)
	}
	if c.Hint != nil && len(c.Versions) > 0 {
		newest := c.Versions[0].Version
		switch c.Hint.State {
		case "ahead":
			add("hint-ahead", "warn", "the version hint says %d, but the newest version is %d: a version that once existed is missing", c.Hint.Version, newest)
		case "stale":
			add("hint-stale", "info", "the version hint says %d, the newest version is %d; the hint is never trusted", c.Hint.Version, newest)
		case "unreadable":
			add("hint-unreadable", "info", "the version hint holds %s; it is never trusted", c.Hint.Text)
		}
	}
	for _, l := range c.Leftovers {
		add("leftover", "info", "%s is no version: %s", l.Key, l.Why)
	}
	if n := len(c.Detached); n > 0 {
		add("detached", "info", "%d detached versions lie apart, which are no part of the history and never the newest; the first is %d (%s)", n, c.Detached[0].Version, c.Detached[0].Key)
	}
	for i := 1; i < len(c.Versions); i++ {
		upper, lower := c.Versions[i-1].Version, c.Versions[i].Version
		if upper-lower == 2 {
			add("gap", "info", "version %d is not there: its history was removed", lower+1)
		} else if upper-lower > 2 {
			add("gap", "info", "versions %d to %d are not there: their history was removed", lower+1, upper-1)
		}
	}
}

// ReadVersion opens a listed version of opts.Branch. The object must be the
// one that was listed: if it changed meanwhile the error wraps ErrChanged.
func ReadVersion(ctx context.Context, store blob.Store, root string, v ChainVersion, opts OpenOptions) (*Snapshot, error) {
	return newEnv(store, root, opts).read(ctx, v)
}

// ReadVersions opens listed versions of opts.Branch side by side and yields
// them in the order given. One that cannot be read is yielded as nil with its
// error, and the sequence goes on.
func ReadVersions(ctx context.Context, store blob.Store, root string, vs []ChainVersion, opts OpenOptions) iter.Seq2[*Snapshot, error] {
	e := newEnv(store, root, opts)
	type result struct {
		s   *Snapshot
		err error
	}
	return func(yield func(*Snapshot, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		slots := make([]chan result, len(vs))
		for i := range slots {
			slots[i] = make(chan result, 1)
		}
		begin := func(i int) {
			wg.Go(func() {
				s, err := e.read(ctx, vs[i])
				slots[i] <- result{s, err}
			})
		}
		ahead := min(e.opts.Parallelism, len(vs))
		for i := range ahead {
			begin(i)
		}
		for i := range vs {
			r := <-slots[i]
			if next := i + ahead; next < len(vs) {
				begin(next)
			}
			if !yield(r.s, r.err) {
				return
			}
		}
	}
}
