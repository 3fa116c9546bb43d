package lance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/internal/beside"
	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/refs"
)

// attempts are the transactions of a branch that no version accounts for. The
// name of a transaction file begins with the version that it was read at, and
// a commit writes it before its manifest.
type attempts struct {
	atNewest []string // names of those that were read at the newest version
	later    []string // at a version that is not there
}

// transactions looks for what is left of versions that are not there any more:
// of the newest ones nothing else tells. One that was read at the newest
// version is what an attempt leaves that was killed or refused, or what a lost
// version leaves: which, cannot be told. One that was read at a later version
// says that there was such a version.
func (c *checker) transactions(ctx context.Context, own *Chain, names []string) error {
	e := c.s.env
	g := beside.New(ctx, e.opts.Parallelism)
	for _, name := range append([]string{""}, names...) {
		g.Go(func(ctx context.Context) error {
			chain := own
			if name != own.Branch {
				var err error
				if chain, err = Versions(ctx, e.store, e.root, ListOptions{Branch: name, Limit: 1, PageSize: 1}); err != nil {
					return err
				}
			}
			if len(chain.Versions) == 0 {
				return nil // said already
			}
			return c.branchTransactions(ctx, name, chain.Versions[0])
		})
	}
	return g.Wait()
}

func (c *checker) branchTransactions(ctx context.Context, name string, newest ChainVersion) error {
	opts := c.s.env.opts
	opts.Branch = name
	e := newEnv(c.s.env.store, c.s.env.root, opts)
	folder := format.Join(e.dir(), format.TransactionsDir) + "/"
	found, err := e.attempts(ctx, folder, newest.Version)
	if err != nil || len(found.atNewest)+len(found.later) == 0 {
		return err
	}
	s, err := e.read(ctx, newest)
	switch {
	case err == nil: // a transaction may be read at the version that it makes, as a branch's first is
		found.without(s.manifest.TransactionFile)
	case ctx.Err() != nil || !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrUnsupported) && !errors.Is(err, blob.ErrNotExist):
		return err
	}
	if now, err := e.newest(ctx); err == nil && now.Version > newest.Version {
		return nil // somebody writes: its transactions are not those of lost versions
	}
	tell := func(names []string, severity, text, expected string) {
		if n := len(names); n > 0 {
			c.add(Problem{ID: "transaction", Severity: severity, Version: newest.Version, Key: folder + names[0],
				Found: plural(n, "transaction", "transactions") + " " + text, Expected: expected})
		}
	}
	without := "without the version that it made"
	if len(found.atNewest) > 1 {
		without = "without the versions that they made"
	}
	tell(found.atNewest, "info", fmt.Sprintf("read at version %d, the newest of %s, %s", newest.Version, orMain(name), without),
		"nothing: each is an attempt that was killed or refused, which does no harm, or all that is left of a lost version, which cannot be told from here")
	tell(found.later, "warn", fmt.Sprintf("read at later versions than %d, the newest of %s", newest.Version, orMain(name)),
		"the versions that they were read at: those are lost, unless the transactions are of another branch of that name that was deleted")
	return nil
}

// plural is a number and what is counted.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// attempts lists a folder of transactions.
func (e *env) attempts(ctx context.Context, folder string, newest uint64) (*attempts, error) {
	out := &attempts{}
	for entry, err := range e.store.List(ctx, blob.ListOptions{Prefix: folder}) {
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(entry.Key, folder)
		digits, _, ok := strings.Cut(name, "-")
		v, err := strconv.ParseUint(digits, 10, 64)
		switch {
		case entry.IsPrefix || !ok || err != nil || path.Ext(name) != ".txn" || v < newest || v>>63 != 0:
		case v == newest:
			out.atNewest = append(out.atNewest, name)
		default:
			out.later = append(out.later, name)
		}
	}
	return out, nil
}

// without forgets the transaction that made the newest version.
func (a *attempts) without(name string) {
	is := func(n string) bool { return n == name }
	a.atNewest, a.later = slices.DeleteFunc(a.atNewest, is), slices.DeleteFunc(a.later, is)
}

// leftoverPages bounds how far one leftover is looked into.
const leftoverPages = 10

// leftovers tells what lies under tree/ without a ref. One version at most is
// what a killed creation leaves; more were written by somebody, and are told
// as a warning: a killed deletion leaves them, but so does a lost ref.
func (c *checker) leftovers(ctx context.Context, names []string) error {
	e := c.s.env
	left, err := refs.Leftovers(ctx, e.store, e.root, names)
	if err != nil {
		return err
	}
	for _, l := range left {
		n, all, err := e.versionsBelow(ctx, l.Prefix)
		if err != nil {
			return err
		}
		p := Problem{ID: "branch-leftover", Severity: "info", Key: l.Prefix,
			Found:    fmt.Sprintf("%s, or a lost ref: the branch is not shown; %s there", l.Why, plural(n, "version lies", "versions lie")),
			Expected: "nothing, or the ref of the branch"}
		if n > 1 || !all {
			p.Severity = "warn"
		}
		c.add(p)
	}
	return nil
}

// versionsBelow counts the manifests below a folder; all is false when there
// are more objects than are looked at.
func (e *env) versionsBelow(ctx context.Context, folder string) (n int, all bool, err error) {
	left := leftoverPages * listPage
	for entry, err := range e.store.List(ctx, blob.ListOptions{Prefix: folder + "/", Recursive: true, PageSize: listPage}) {
		if err != nil {
			return n, false, err
		}
		dir, name := path.Split(entry.Key)
		if _, kind := format.ParseManifestName(name); kind != format.NotManifest && path.Base(dir) == format.VersionsDir {
			n++
		}
		if left--; left == 0 {
			return n, false, nil
		}
	}
	return n, true, nil
}
