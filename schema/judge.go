package schema

import (
	"fmt"
	"slices"
	"strings"
)

// candidate is one set of the three objects: the live ones, or the staged ones
// filled up with live ones.
type candidate struct {
	irKey, stateKey string
	source          []byte
	hasSource       bool
	ir              *IR // nil when it cannot be parsed
	irHash, shape   string
	marker          *Marker
	problems        []Problem // of the set in itself
	unfit           []Problem // against what is published
}

// read parses a set and checks it in itself.
func read(files map[string]File, keyOf func(string) string) *candidate {
	c := &candidate{irKey: keyOf(IRKey), stateKey: keyOf(StateKey)}
	add := func(key string, rule Rule, text string) {
		c.problems = append(c.problems, Problem{key, rule, text, true})
	}
	data, problem := readable(files, keyOf(SourceKey))
	if problem != nil {
		c.problems = append(c.problems, *problem)
	} else {
		c.source, c.hasSource = data, true
	}
	if data, problem = readable(files, c.irKey); problem != nil {
		c.problems = append(c.problems, *problem)
	} else if ir, err := ParseIR(data); err != nil {
		add(c.irKey, RuleSyntax, err.Error())
	} else {
		c.ir, c.irHash, c.shape = ir, ir.Hash(), ir.ShapeHash()
		for _, text := range ir.Check() {
			add(c.irKey, RuleSound, text)
		}
		if text := c.disagreement(); text != "" {
			add(keyOf(SourceKey), RuleSource, text)
		}
	}
	if data, problem = readable(files, c.stateKey); problem != nil {
		c.problems = append(c.problems, *problem)
	} else if mk, err := ParseMarker(data); err != nil {
		add(c.stateKey, RuleSyntax, err.Error())
	} else {
		c.marker = mk
		c.compare(add)
	}
	return c
}

// disagreement of the text with the IR, "" when there is none or no text.
func (c *candidate) disagreement() string {
	if !c.hasSource {
		return ""
	}
	return disagreement(c.source, c.ir, c.shape)
}

// compare checks marker and IR against each other.
func (c *candidate) compare(add func(string, Rule, string)) {
	mk := c.marker
	if mk.FormatVersion != markerVersion || mk.IdentityVersion != markerVersion {
		add(c.stateKey, RuleVersion, fmt.Sprintf("format_version %d and schema_identity_version %d, expected %d and %d", mk.FormatVersion, mk.IdentityVersion, markerVersion, markerVersion))
	}
	if c.ir == nil {
		return
	}
	if mk.IRHash != c.irHash {
		add(c.irKey, RuleHash, fmt.Sprintf("its content hashes to %s, %s records %s", c.irHash, c.stateKey, mk.IRHash))
	}
	if mk.ShapeHash != c.shape {
		add(c.irKey, RuleHash, fmt.Sprintf("its shape hashes to %s, %s records %s", c.shape, c.stateKey, mk.ShapeHash))
	}
	if mk.IdentityDomain != c.ir.Domain {
		add(c.stateKey, RuleHash, fmt.Sprintf("identity domain %q, the IR has %q", mk.IdentityDomain, c.ir.Domain))
	}
}

// sound reports whether nothing is wrong with the set in itself.
func (c *candidate) sound() bool { return len(c.problems) == 0 }

// fits reports whether the set names exactly the published tables.
func (c *candidate) fits(pub Published) bool { return !pub.Known || c.ir != nil && len(c.unfit) == 0 }

func (c *candidate) irHashOrNone() string {
	if !c.sound() {
		return ""
	}
	return c.irHash
}

// fit compares the IR's tables with those published, both ways.
func (c *candidate) fit(pub Published) {
	if c.ir == nil || !pub.Known {
		return
	}
	say := func(format string, args ...any) {
		c.unfit = append(c.unfit, Problem{c.irKey, RuleIdentity, fmt.Sprintf(format, args...), true})
	}
	want := map[string]*Type{}
	for _, types := range [][]Type{c.ir.Nodes, c.ir.Edges} {
		for i := range types {
			want[types[i].Alias()] = &types[i]
		}
	}
	for _, t := range pub.Tables {
		switch w := want[t.Alias]; {
		case w == nil:
			say("__manifest publishes the table %s, the accepted schema has no such type", t.Alias)
		case w.ID != t.ID || w.Incarnation != t.Incarnation:
			say("__manifest publishes %s as table %d, incarnation %d; the accepted schema expects %d, %d", t.Alias, t.ID, t.Incarnation, w.ID, w.Incarnation)
		}
		delete(want, t.Alias)
	}
	var rest []string
	for alias := range want {
		rest = append(rest, alias)
	}
	slices.Sort(rest)
	for _, alias := range rest {
		say("the accepted schema has the type %s, __manifest publishes no such table", alias)
	}
}

// judge makes the contract: with types when they are proven or probable.
func (c *candidate) judge(pub Published) *Contract {
	out := &Contract{
		Source: string(c.source), HasSource: c.hasSource, Marker: c.marker,
		Problems: append(slices.Clone(c.problems), c.unfit...),
	}
	if pub.TargetIRHash != "" && pub.TargetIRHash != c.irHash {
		out.Problems = append(out.Problems, Problem{c.irKey, RuleHash, fmt.Sprintf(
			"a schema apply published the IR %s, and this is not it: tables are shown without types until recovery has run", pub.TargetIRHash), true})
		return out
	}
	if c.ir == nil || len(c.unfit) > 0 {
		return out
	}
	if !c.sound() {
		if out.Unconfirmed = c.probable(pub); out.Unconfirmed == "" {
			return out
		}
	}
	out.IR, out.IRHash, out.ShapeHash = c.ir, c.irHash, c.shape
	return out
}

// probable says why an IR may be shown though its set is not sound: it is
// sound in itself, fits the published tables, and either nothing contradicts it
// or the marker vouches for its shape. "" when it may not.
func (c *candidate) probable(pub Published) string {
	if !pub.Known {
		return ""
	}
	var lost []string
	for _, p := range c.problems {
		switch {
		case p.Key == c.irKey && p.Rule == RuleHash && c.marker.ShapeHash == c.shape && c.marker.IdentityDomain == c.ir.Domain:
			lost = append(lost, "the recorded hash of "+c.irKey)
		case p.Key == c.irKey || p.Rule == RuleHash || p.Rule == RuleVersion:
			return ""
		default:
			lost = append(lost, p.Key)
		}
	}
	return fmt.Sprintf("types are those of %s, which is sound and names exactly the published tables, but cannot be confirmed without %s", c.irKey, strings.Join(lost, " and "))
}
