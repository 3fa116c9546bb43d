package sidecar

import "slices"

// effect checks one pin with its effect and table update.
func (c *checker) effect(p *Pin) {
	es := c.rec.Plan.Effects
	e := &es[slices.IndexFunc(es, func(e Effect) bool { return e.Identity == p.Identity })]
	s := c.slot(p.Identity)
	if e.Alias != p.Alias || s.Alias != p.Alias {
		c.say(RuleEffect, "table %s is called %s by pin, %s by effect, %s by update", p.Identity, p.Alias, e.Alias, s.Alias)
	}
	if s.Expected != p.Expected || s.Branch != p.Branch {
		c.say(RuleEffect, "the update of %s starts from version %d on %q, its pin from %d on %q", p.Alias, s.Expected, s.Branch, p.Expected, p.Branch)
	}
	if !c.carried(e) {
		return
	}
	switch e.Kind {
	case MultiCommitHead:
		c.chain(p, e)
	case RefOnlyFork:
	default:
		c.single(p, e)
	}
	if e.Fork != nil {
		c.fork(p, e)
	}
	if c.rec.Phase == Armed {
		if e.Confirmed != nil || e.ConfirmedVersion != nil || e.BranchConfirmed || p.Confirmed != nil {
			c.say(RulePhase, "the effect on %s is confirmed in phase Armed", p.Alias)
		}
		return
	}
	c.confirmed(p, e, s)
}

// carried demands the parts that an effect of its kind has, and no others.
// What Parse makes has them.
func (c *checker) carried(e *Effect) bool {
	kinds := effectKinds[c.rec.Kind]
	forks := c.rec.Kind == EnsureIndices || c.rec.Kind == BranchMerge
	chain := e.Kind == MultiCommitHead
	ok := slices.Contains(kinds, e.Kind)
	switch e.Kind {
	case RefOnlyFork:
		ok = ok && e.Fork != nil && len(e.Planned) == 0
	case MultiCommitHead:
	default:
		ok = ok && len(e.Planned) == 1
	}
	ok = ok && (e.Confirmed == nil || e.Kind != RefOnlyFork && !chain) && (e.ConfirmedVersion == nil || chain)
	ok = ok && (forks || e.Fork == nil && !e.BranchConfirmed) && (e.BranchConfirmed || e.ConfirmedBranch == nil)
	if !ok {
		c.say(RuleEffect, "the effect %q on %s, %d transactions, does not have the parts of its kind in a record of kind %s", e.Kind, e.Alias, len(e.Planned), c.rec.Kind)
	}
	return ok
}

// single checks the one transaction of a table.
func (c *checker) single(p *Pin, e *Effect) {
	if read := e.Planned[0].ReadVersion; read != p.Expected {
		c.say(RuleEffect, "the transaction on %s reads version %d, its pin expects %d", p.Alias, read, p.Expected)
	}
	if c.rec.Kind != Mutation && c.rec.Kind != Load && p.Planned != p.Expected+1 {
		c.say(RuleEffect, "%s is to become version %d, expected %d", p.Alias, p.Planned, p.Expected+1)
	}
	if c.rec.Kind == SchemaApply && (e.Kind == FirstTouchDataset) != (p.Expected == 0) {
		c.say(RuleEffect, "%s is %s although version %d is expected", p.Alias, e.Kind, p.Expected)
	}
}

// chain checks the transactions of a merge: consecutive from the pin on.
func (c *checker) chain(p *Pin, e *Effect) {
	if n := len(e.Planned); n == 0 || n > maxChain {
		c.say(RuleEffect, "%d transactions are planned on %s, expected 1 to %d", n, p.Alias, maxChain)
		return
	}
	for i, t := range e.Planned {
		if t.ReadVersion != p.Expected+uint64(i) {
			c.say(RuleEffect, "transaction %d on %s reads version %d, expected %d", i, p.Alias, t.ReadVersion, p.Expected+uint64(i))
			return
		}
	}
	if p.Planned != p.Expected+1 {
		c.say(RuleEffect, "the first version to be made of %s is %d, expected %d", p.Alias, p.Planned, p.Expected+1)
	}
}

// fork checks a first touch of a table on a named branch.
func (c *checker) fork(p *Pin, e *Effect) {
	if p.Branch == "" || c.rec.Kind == EnsureIndices && p.Branch != c.rec.Branch {
		c.say(RuleEffect, "%s would be forked onto branch %q by an operation on %q", p.Alias, p.Branch, c.rec.Branch)
	}
	if e.Kind != RefOnlyFork && *e.Fork != p.Expected {
		c.say(RuleEffect, "%s would be forked from version %d, its pin expects %d", p.Alias, *e.Fork, p.Expected)
	}
}

// confirmed checks what a finished effect recorded.
func (c *checker) confirmed(p *Pin, e *Effect, s *Slot) {
	if s.Confirmed == nil || p.Confirmed == nil || *p.Confirmed != s.Confirmed.Version {
		c.say(RulePhase, "pin and update of %s do not confirm one version", p.Alias)
		return
	}
	version := s.Confirmed.Version
	switch e.Kind {
	case MultiCommitHead:
		last := p.Expected + uint64(len(e.Planned))
		if e.ConfirmedVersion == nil || *e.ConfirmedVersion != version || version < last {
			c.say(RulePhase, "%s is confirmed at version %d, the effect ends at least at %d", p.Alias, version, last)
		}
	case RefOnlyFork:
		if *e.Fork != version {
			c.say(RulePhase, "%s is confirmed at version %d, it was forked from %d", p.Alias, version, *e.Fork)
		}
	default:
		if e.Confirmed == nil || *e.Confirmed != e.Planned[0] {
			c.say(RulePhase, "the confirmed transaction on %s is not the planned one", p.Alias)
		}
		if c.rec.Kind != Mutation && c.rec.Kind != Load && version != p.Expected+1 {
			c.say(RulePhase, "%s is confirmed at version %d, expected %d", p.Alias, version, p.Expected+1)
		}
	}
	if (e.Fork != nil) != e.BranchConfirmed {
		c.say(RulePhase, "the identifier of the fork of %s is confirmed: %v, expected %v", p.Alias, e.BranchConfirmed, e.Fork != nil)
	}
}
