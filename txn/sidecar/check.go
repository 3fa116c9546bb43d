package sidecar

import (
	"fmt"
	"slices"
	"strings"
)

// Rule names a shape rule.
type Rule string

// The rules.
const (
	RuleName      Rule = "name"      // file name and operation id
	RuleStarted   Rule = "started"   // started_at is a number of microseconds
	RuleProtocol  Rule = "protocol"  // exactly the member of its kind
	RuleAuthority Rule = "authority" // what it was planned against is there
	RuleLineage   Rule = "lineage"   // branch, actor, parents and ids agree
	RulePins      Rule = "pins"      // pins are sound and canonical
	RuleOneToOne  Rule = "one-to-one"
	RuleEffect    Rule = "effect" // an effect agrees with pin and slot
	RulePhase     Rule = "phase"  // confirmations are there exactly when confirmed
	RuleDelta     Rule = "delta"  // registrations, renames, tombstones
	RuleOutcomes  Rule = "outcomes"
)

// Problem is a shape rule that a record breaks. It is an error.
type Problem struct {
	Rule Rule
	Text string // found, expected
}

func (p Problem) Error() string { return string(p.Rule) + ": " + p.Text }

// maxChain is how many transactions a merge may plan for one table.
const maxChain = 1024

type checker struct {
	rec      *Record
	problems []Problem
}

func (c *checker) say(rule Rule, format string, args ...any) {
	c.problems = append(c.problems, Problem{rule, fmt.Sprintf(format, args...)})
}

// check applies the rules. stem is what the file's name promises, extras are
// members of other kinds.
func (rec *Record) check(stem string, extras []string) []Problem {
	c := &checker{rec: rec}
	if stem != rec.OperationID {
		c.say(RuleName, "the file is called %q, its operation is %q: the record counts, the file as listed is the one to remove", stem, rec.OperationID)
	}
	if rec.StartedAt.IsZero() {
		c.say(RuleStarted, "started_at is no number of microseconds since 1970")
	}
	if len(extras) > 0 {
		c.say(RuleProtocol, "found %s, which a record of kind %s does not carry", strings.Join(extras, ", "), rec.Kind)
	}
	c.pins()
	if rec.Kind == Optimize {
		return c.problems
	}
	if rec.Plan == nil {
		c.say(RuleProtocol, "%s is missing", protocols[rec.Kind])
		return c.problems
	}
	c.plan()
	return c.problems
}

// pins checks the tables: sound identities, none twice, canonical paths.
func (c *checker) pins() {
	rec := c.rec
	if len(rec.Pins) == 0 && rec.Kind != Mutation && rec.Kind != Load && rec.Kind != SchemaApply {
		c.say(RulePins, "no table is pinned, expected at least one")
	}
	ids, aliases := map[Identity]bool{}, map[string]bool{}
	for _, p := range rec.Pins {
		want := folder(p.Alias, p.Identity)
		path := strings.TrimRight(p.Path, "/")
		switch {
		case p.Identity.Table == 0 || p.Identity.Incarnation == 0:
			c.say(RulePins, "table %s has the identity %s, expected numbers other than zero", p.Alias, p.Identity)
		case want == "":
			c.say(RulePins, "table_key is %q, expected node:… or edge:…", p.Alias)
		case path != want && !strings.HasSuffix(path, "/"+want):
			c.say(RulePins, "table %s lies at %q, expected a path that ends in %q", p.Alias, p.Path, want)
		}
		if ids[p.Identity] || aliases[p.Alias] {
			c.say(RulePins, "table %s (%s) is pinned twice", p.Alias, p.Identity)
		}
		ids[p.Identity], aliases[p.Alias] = true, true
		if rec.Kind == SchemaApply && p.Branch != "" {
			c.say(RulePins, "table %s is pinned on branch %s, a schema apply works on main", p.Alias, p.Branch)
		}
	}
}

// plan checks what all protocols have in common, then each effect.
func (c *checker) plan() {
	rec, p := c.rec, c.rec.Plan
	if p.Authority.IdentityDomain == "" || p.Authority.IRHash == "" || p.Authority.IdentityVersion == 0 {
		c.say(RuleAuthority, "identity domain, IR hash or identity version is empty")
	}
	if rec.Branch != p.Lineage.Branch || rec.Kind == SchemaApply && rec.Branch != "" {
		c.say(RuleLineage, "branch %q, lineage has %q%s", rec.Branch, p.Lineage.Branch, map[bool]string{true: ", a schema apply works on main"}[rec.Kind == SchemaApply])
	}
	if !same(rec.Actor, p.Lineage.Actor) {
		c.say(RuleLineage, "actor_id differs from that of the lineage")
	}
	if (p.Lineage.MergedParent != nil) != (rec.Kind == BranchMerge) {
		c.say(RuleLineage, "merged_parent_commit_id is there: %v, expected %v of kind %s", p.Lineage.MergedParent != nil, rec.Kind == BranchMerge, rec.Kind)
	}
	if rec.CommitID == p.Rollback || rec.CommitID == "" || p.Rollback == "" {
		c.say(RuleLineage, "commit ids are %q and, to roll back, %q, expected two that differ", rec.CommitID, p.Rollback)
	}
	if rec.Kind == SchemaApply && rec.TargetIRHash == "" {
		c.say(RuleAuthority, "target_schema_ir_hash is empty")
	}
	c.outcomes()
	c.delta()
	if c.oneToOne() {
		for i := range rec.Pins {
			c.effect(&rec.Pins[i])
		}
	}
	c.slots()
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// outcomes of a roll-back name distinct pinned tables; that of a renamed table
// goes by its name before.
func (c *checker) outcomes() {
	allowed := map[string]bool{}
	for _, p := range c.rec.Pins {
		allowed[p.Alias] = true
	}
	for _, r := range c.rec.Plan.Delta.Renames {
		if allowed[r.Alias] {
			allowed[r.From] = true
		}
	}
	seen := map[string]bool{}
	for _, o := range c.rec.Plan.Outcomes {
		if seen[o.Alias] || !allowed[o.Alias] {
			c.say(RuleOutcomes, "rollback_audit_outcomes name %s, expected each pinned table at most once", o.Alias)
		}
		seen[o.Alias] = true
	}
}

// oneToOne demands that pins, effects and slots pair up by identity, and that
// no transaction id stands twice.
func (c *checker) oneToOne() bool {
	p := c.rec.Plan
	pins := identities(c.rec.Pins, func(p Pin) Identity { return p.Identity })
	effects := identities(p.Effects, func(e Effect) Identity { return e.Identity })
	slots := identities(p.Delta.Updates, func(s Slot) Identity { return s.Identity })
	ok := len(effects) == len(p.Effects) && len(slots) == len(p.Delta.Updates) && equalSets(pins, effects)
	if c.rec.Kind == BranchMerge { // slots without an effect are pointer switches
		ok = ok && subset(effects, slots)
	} else {
		ok = ok && equalSets(pins, slots)
	}
	if !ok {
		c.say(RuleOneToOne, "%d pins, %d effects and %d table updates do not pair up by table", len(c.rec.Pins), len(p.Effects), len(p.Delta.Updates))
	}
	uuids := map[string]bool{}
	for _, e := range p.Effects {
		for _, t := range e.Planned {
			if t.UUID == "" || uuids[t.UUID] {
				c.say(RuleOneToOne, "planned transaction %q of %s is empty or stands twice", t.UUID, e.Alias)
			}
			uuids[t.UUID] = true
		}
	}
	return ok
}

func identities[T any](items []T, of func(T) Identity) map[Identity]bool {
	out := map[Identity]bool{}
	for _, it := range items {
		out[of(it)] = true
	}
	return out
}

func subset(a, b map[Identity]bool) bool {
	for id := range a {
		if !b[id] {
			return false
		}
	}
	return true
}

func equalSets(a, b map[Identity]bool) bool { return len(a) == len(b) && subset(a, b) }

// slots checks what every table update has, also those without an effect.
func (c *checker) slots() {
	for _, s := range c.rec.Plan.Delta.Updates {
		switch {
		case (s.Confirmed != nil) != (c.rec.Phase == EffectsConfirmed):
			c.say(RulePhase, "the update of %s is filled in: %v, in phase %s", s.Alias, s.Confirmed != nil, c.rec.Phase)
		case s.Confirmed != nil && s.Confirmed.Branch != s.Branch:
			c.say(RuleEffect, "the output of %s is on branch %q, planned was %q", s.Alias, s.Confirmed.Branch, s.Branch)
		}
	}
}

// delta checks registrations, renames and tombstones: only a schema apply has
// any.
func (c *checker) delta() {
	d := c.rec.Plan.Delta
	if c.rec.Kind != SchemaApply {
		if len(d.Registrations)+len(d.Renames)+len(d.Tombstones) > 0 {
			c.say(RuleDelta, "a record of kind %s registers, renames or ends tables", c.rec.Kind)
		}
		return
	}
	taken, aliases := map[Identity]bool{}, map[string]bool{}
	once := func(id Identity, alias string) {
		if taken[id] || id.Table == 0 || id.Incarnation == 0 {
			c.say(RuleDelta, "table %s (%s) is changed twice or has no identity", alias, id)
		}
		taken[id] = true
	}
	named := func(alias string) {
		if aliases[alias] {
			c.say(RuleDelta, "two tables would be called %s", alias)
		}
		aliases[alias] = true
	}
	for _, r := range d.Registrations {
		once(r.Identity, r.Alias)
		named(r.Alias)
		if r.Location != folder(r.Alias, r.Identity) || r.Branch != "" {
			c.say(RuleDelta, "the new table %s lies at %q on branch %q, expected %q on main", r.Alias, r.Location, r.Branch, folder(r.Alias, r.Identity))
		}
	}
	for _, r := range d.Renames {
		once(r.Identity, r.Alias)
		named(r.Alias)
		if r.Expected == 0 || r.From == r.Alias || r.Location == "" || r.Location != folder(r.From, r.Identity) || r.Location != folder(r.Alias, r.Identity) {
			c.say(RuleDelta, "the rename of %s to %s at %q, version %d, does not keep a live table in its folder", r.From, r.Alias, r.Location, r.Expected)
		}
		if s := c.slot(r.Identity); s != nil && (s.Alias != r.Alias || s.Expected != r.Expected) {
			c.say(RuleDelta, "the rename of %s and the update of %s do not agree", r.From, s.Alias)
		}
	}
	for _, t := range d.Tombstones {
		once(t.Identity, t.Alias)
	}
	first := map[Identity]bool{}
	for _, e := range c.rec.Plan.Effects {
		if e.Kind == FirstTouchDataset {
			first[e.Identity] = true
		}
	}
	if !equalSets(first, identities(d.Registrations, func(r Registration) Identity { return r.Identity })) {
		c.say(RuleDelta, "new datasets and registrations do not pair up")
	}
}

func (c *checker) slot(id Identity) *Slot {
	u := c.rec.Plan.Delta.Updates
	if i := slices.IndexFunc(u, func(s Slot) bool { return s.Identity == id }); i >= 0 {
		return &u[i]
	}
	return nil
}
