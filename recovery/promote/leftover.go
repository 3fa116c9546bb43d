package promote

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/schema"
)

// Right is what is right about staged files that no record owns.
type Right uint8

// The rights.
const (
	Decide Right = iota // nothing tells: a person must
	Finish              // Promote, to Target
	Delete              // Unstage the Keys
)

func (r Right) String() string { return [...]string{"decide", "finish", "delete"}[r%3] }

// LeftStaging are staged schema files that no record of a schema apply owns.
type LeftStaging struct {
	Keys     []string // that are there, in the order of promotion
	Right    Right
	Target   string    // IR hash that staged files, with live ones where none is staged, make; "" = they make none
	Text     string    // what is right and why: one sentence
	Evidence []string  // one sentence each
	Newest   time.Time // when the last of them was written; zero when the store does not say

	seen files // as they were judged
}

// Leftover judges staged files when no record of a schema apply owns them, as
// the Rust engine does when it opens a graph, and more strictly: what is to stay
// must be a whole contract, and tables are told apart by their identities. published are the tables on main. nil = there are no
// staged files. It writes nothing.
//
//	staged text has the shape of the live one        delete
//	text promoted, the rest makes a contract with it  finish
//	tables published are those of the live schema     delete
//	tables published are those of the staged schema   finish
//	both have the same tables, or neither has those   decide
//	what would stay is no contract                    decide
func Leftover(ctx context.Context, store blob.Store, published []schema.Table) (*LeftStaging, error) {
	f, err := readAll(ctx, store)
	if err != nil {
		return nil, err
	}
	keys := f.staged()
	if len(keys) == 0 {
		return nil, nil
	}
	out := &LeftStaging{Keys: keys, seen: f}
	for _, k := range keys {
		if t := f[k].ModTime; t.After(out.Newest) {
			out.Newest = t
		}
	}
	j := judge{out: out, published: published}
	j.live, j.liveHash = f.live()
	j.next, out.Target = f.next()
	j.text, j.hasText = f[schema.SourceKey+schema.Staging]
	j.evidence()
	j.decide()
	return out, nil
}

// Settle does what is right about them: Promote, or Unstage; nothing when somebody
// has to decide. Staged files that are others by now are a ChangedError.
func (l *LeftStaging) Settle(ctx context.Context, store blob.Store) error {
	if l.Right == Finish {
		return Promote(ctx, store, l.Target)
	}
	if l.Right != Delete {
		return nil
	}
	f, err := readAll(ctx, store)
	if err != nil {
		return fmt.Errorf("removing staged schema files: %w", err)
	}
	for _, key := range l.Keys {
		if o, ok := f[key]; ok && !bytes.Equal(o.Data, l.seen[key].Data) {
			return &ChangedError{key, "was replaced since it was looked at"}
		}
	}
	return f.unstage(ctx, store, l.Keys)
}

// tablesOf are the tables of a schema, sorted; with their identities where asked,
// which the text of a schema alone does not have.
func tablesOf(ir *schema.IR, identities bool) (out []string) {
	if ir == nil {
		return nil
	}
	for _, types := range [][]schema.Type{ir.Nodes, ir.Edges} {
		for i := range types {
			t := &types[i]
			out = append(out, spell(schema.Table{Alias: t.Alias(), ID: t.ID, Incarnation: t.Incarnation}, identities))
		}
	}
	slices.Sort(out)
	return out
}

func spell(t schema.Table, identities bool) string {
	if !identities {
		return t.Alias
	}
	return fmt.Sprintf("%s (%d, incarnation %d)", t.Alias, t.ID, t.Incarnation)
}

// fits: the schema names exactly the tables that are published.
func (j *judge) fits(ir *schema.IR, identities bool) bool {
	return ir != nil && slices.Equal(tablesOf(ir, identities), j.tables(identities))
}

// tables are those published.
func (j *judge) tables(identities bool) (out []string) {
	for _, t := range j.published {
		out = append(out, spell(t, identities))
	}
	slices.Sort(out)
	return out
}

// judge is one judgement in the making.
type judge struct {
	out        *LeftStaging
	live, next *schema.Contract
	liveHash   string // "" = the live files are no contract
	text       blob.Object
	hasText    bool // of the schema is staged
	published  []schema.Table
}

func (j *judge) evidence() {
	say := func(text string, args ...any) { j.out.Evidence = append(j.out.Evidence, fmt.Sprintf(text, args...)) }
	set := func(what, hash string, c *schema.Contract) {
		if hash == "" {
			say("%s make no contract: %s", what, problem(c))
			return
		}
		say("%s make the schema %s with the tables %s", what, hash, strings.Join(tablesOf(c.IR, true), ", "))
	}
	say("staged are %s", strings.Join(j.out.Keys, ", "))
	set("the live files", j.liveHash, j.live)
	set("the staged files, with the live ones where none is staged,", j.out.Target, j.next)
	say("published are the tables %s", strings.Join(j.tables(true), ", "))
}

func (j *judge) say(r Right, text string, args ...any) {
	j.out.Right, j.out.Text = r, fmt.Sprintf(text, args...)
}

func (j *judge) decide() {
	staged, why := j.stagedSchema()
	ids := j.out.Target != "" // else the staged schema is a text, which has none
	switch {
	case !j.hasText && j.out.Target == "":
		j.say(Decide, "the text of the schema is not staged, and what is staged makes no contract with the live files: keep the live schema and delete the staged files, or restore the schema from elsewhere")
	case !j.hasText && !j.fits(j.next.IR, true):
		j.say(Decide, "the text of the schema was put in place, but the schema that it makes with what is staged has other tables than those published: the graph needs the schema that has them")
	case !j.hasText:
		j.say(Finish, "putting them in place was begun and did not end: the text is live, and the rest makes a contract with it")
	case staged == nil:
		j.say(Decide, "the staged text is no schema (%s): keep the live schema and delete the staged files, or set them aside", why)
	case j.liveHash == "":
		j.finish("the live files are no contract")
	case staged.ShapeHash() == j.live.ShapeHash:
		j.say(Delete, "the staged schema has the shape of the live one: there is nothing to apply")
	case slices.Equal(tablesOf(staged, ids), tablesOf(j.live.IR, ids)):
		j.say(Decide, "live and staged schema have the same tables, so that nothing tells whether the apply was published: compare both texts; delete the staged files to keep the live schema")
	case j.fits(j.live.IR, true):
		j.say(Delete, "the apply was not published: the tables are those of the live schema")
	case j.fits(staged, ids):
		j.finish("the apply was published: the tables are those of the staged schema")
	default:
		j.say(Decide, "the tables published are neither those of the live schema nor those of the staged one")
	}
}

// finish is right when what would be put in place is a contract, and the one of
// the tables that are published.
func (j *judge) finish(why string) {
	switch {
	case j.out.Target == "":
		j.say(Decide, "%s, but the staged files are no contract either: %s", why, problem(j.next))
	case !j.fits(j.next.IR, true):
		j.say(Decide, "%s, but the staged schema has other tables than those published", why)
	default:
		j.say(Finish, "%s", why)
	}
}

// stagedSchema is the schema of the staged text, nil with the reason when it is
// none.
func (j *judge) stagedSchema() (*schema.IR, string) {
	if j.out.Target != "" {
		return j.next.IR, ""
	}
	s, err := schema.Compile(j.text.Data)
	if err != nil {
		return nil, err.Error()
	}
	return s.Types, ""
}
