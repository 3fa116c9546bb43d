package sidecar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/omnideck/omnideck/internal/ojson"
)

// ShapeError: a record breaks rules of its shape, so that it is not written.
type ShapeError struct {
	OperationID string
	Problems    []Problem // never empty
}

func (e *ShapeError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return fmt.Sprintf("the recovery record of operation %s is not sound, nobody acts on it: %s", e.OperationID, strings.Join(lines, "; "))
}

// Name is the object that holds the record: __recovery/{operation id}.json.
func (rec *Record) Name() string { return Folder + rec.OperationID + Suffix }

// Check applies the rules of the shape, those of Parse, and that version 9 has a
// member for all that the record holds. A *ShapeError says what is wrong.
func (rec *Record) Check() error {
	problems := append(rec.carries(), rec.check(stem(rec.Name()), nil)...)
	if len(problems) == 0 {
		return nil
	}
	return &ShapeError{rec.OperationID, problems}
}

// Encode is the record as the Rust engine's serde writes it: version 9, pretty
// JSON, no newline at the end. What Check refuses is not written: what is
// written reads back as it was.
func (rec *Record) Encode() ([]byte, error) {
	if err := rec.Check(); err != nil {
		return nil, err
	}
	out := rec.value().AppendPretty(nil)
	if !utf8.Valid(out) {
		return nil, &ShapeError{rec.OperationID, []Problem{{RuleProtocol, "a text is not UTF-8"}}}
	}
	return out, nil
}

// carries says what a record holds that version 9 has no member for. Parse
// makes no such record.
func (rec *Record) carries() (out []Problem) {
	say := func(rule Rule, format string, args ...any) {
		out = append(out, Problem{rule, fmt.Sprintf(format, args...)})
	}
	member, known := protocols[rec.Kind]
	switch {
	case rec.SchemaVersion != Version:
		say(RuleProtocol, "schema_version is %d, only version %d is written", rec.SchemaVersion, Version)
	case !known:
		say(RuleProtocol, "writer_kind is %q, expected a kind of version %d", rec.Kind, Version)
	case member == "" && (rec.Plan != nil || rec.Phase != "" || rec.CommitID != ""):
		say(RuleProtocol, "a record of kind %s has no phase, no commit and no plan", rec.Kind)
	case member != "" && rec.Phase != Armed && rec.Phase != EffectsConfirmed:
		say(RulePhase, "the phase is %q, expected %s or %s", rec.Phase, Armed, EffectsConfirmed)
	}
	if rec.Kind != SchemaApply && rec.TargetIRHash != "" {
		say(RuleProtocol, "a record of kind %s has no target_schema_ir_hash", rec.Kind)
	}
	if rec.Kind != Optimize && rec.UUIDPrefix != "" {
		say(RuleProtocol, "a record of kind %s has no uuid_prefix", rec.Kind)
	}
	if at := rec.StartedAt; !at.IsZero() && (at.UnixMicro() < 0 || at.Nanosecond()%int(time.Microsecond) != 0) {
		say(RuleStarted, "started_at is %s, expected whole microseconds since 1970", at)
	}
	if p := rec.Plan; p != nil && !p.RollingBack && len(p.Outcomes) > 0 {
		say(RuleOutcomes, "there are outcomes of a roll-back that was not decided")
	}
	return out
}

// members collects the members of an object in order.
type members []ojson.Member

func (m *members) add(name string, v ojson.Value) {
	*m = append(*m, ojson.Member{Name: name, Value: v})
}

func (m *members) uint(name string, n uint64) { m.add(name, ojson.Uint(n)) }

func (m *members) str(name, s string) { m.add(name, ojson.Str(s)) }

// optUint leaves out what is nil.
func (m *members) optUint(name string, n *uint64) {
	if n != nil {
		m.uint(name, *n)
	}
}

// branch writes main as null, or leaves it out.
func (m *members) branch(name, branch string, always bool) {
	if branch != "" || always {
		m.add(name, orNull(branch))
	}
}

func orNull(s string) ojson.Value {
	if s == "" {
		return ojson.Value{}
	}
	return ojson.Str(s)
}

func (m members) object() ojson.Value { return ojson.Obj(m...) }

func list[T any](items []T, of func(*T) ojson.Value) ojson.Value {
	out := make([]ojson.Value, len(items))
	for i := range items {
		out[i] = of(&items[i])
	}
	return ojson.Arr(out...)
}

func table(id Identity, alias string) members {
	var i, m members
	i.uint("stable_table_id", id.Table)
	i.uint("table_incarnation_id", id.Incarnation)
	m.add("identity", i.object())
	m.str("table_key", alias)
	return m
}

func (rec *Record) value() ojson.Value {
	var m members
	m.uint("schema_version", Version)
	m.str("operation_id", rec.OperationID)
	m.str("started_at", strconv.FormatInt(rec.StartedAt.UnixMicro(), 10))
	m.branch("branch", rec.Branch, true)
	m.add("actor_id", ojson.OptStr(rec.Actor))
	m.str("writer_kind", string(rec.Kind))
	m.add("tables", list(rec.Pins, pinValue))
	m.add("schema_apply_manifest_published", ojson.Yes(false))
	if rec.Plan != nil {
		m.add(protocols[rec.Kind], rec.planValue())
	}
	if rec.UUIDPrefix != "" {
		var o members
		o.str("uuid_prefix", rec.UUIDPrefix)
		m.add(optimizeMember, o.object())
	}
	return m.object()
}

func pinValue(p *Pin) ojson.Value {
	m := table(p.Identity, p.Alias)
	m.str("table_path", p.Path)
	m.uint("expected_version", p.Expected)
	m.uint("post_commit_pin", p.Planned)
	m.optUint("confirmed_version", p.Confirmed)
	m.branch("table_branch", p.Branch, false)
	return m.object()
}

func (rec *Record) planValue() ojson.Value {
	p := rec.Plan
	var a, l, m members
	a.add("branch_identifier", forksValue(p.Authority.Branch))
	a.add("graph_head", ojson.OptStr(p.Authority.GraphHead))
	a.str("schema_identity_domain", p.Authority.IdentityDomain)
	a.str("schema_ir_hash", p.Authority.IRHash)
	a.uint("schema_identity_version", p.Authority.IdentityVersion)
	m.add("authority", a.object())
	l.str("graph_commit_id", rec.CommitID)
	l.branch("branch", p.Lineage.Branch, true)
	l.add("actor_id", ojson.OptStr(p.Lineage.Actor))
	l.add("merged_parent_commit_id", ojson.OptStr(p.Lineage.MergedParent))
	l.add("created_at", ojson.Int(p.Lineage.CreatedAt))
	m.add("lineage", l.object())
	m.str("rollback_graph_commit_id", p.Rollback)
	if p.RollingBack {
		m.add("rollback_audit_outcomes", list(p.Outcomes, outcomeValue))
	}
	if rec.Kind == SchemaApply {
		m.str("target_schema_ir_hash", rec.TargetIRHash)
	}
	m.str("effect_phase", rec.Phase)
	m.add("effects", list(p.Effects, func(e *Effect) ojson.Value { return effectValue(e, rec.Kind) }))
	m.add("intended_delta", deltaValue(p.Delta))
	return m.object()
}

func forksValue(fs []Fork) ojson.Value {
	var m members
	m.add("version_mapping", list(fs, func(f *Fork) ojson.Value { return ojson.Arr(ojson.Uint(f.Version), ojson.Str(f.UUID)) }))
	return m.object()
}

func outcomeValue(o *Outcome) ojson.Value {
	var m members
	m.str("table_key", o.Alias)
	m.uint("from_version", o.From)
	m.uint("to_version", o.To)
	return m.object()
}

func transactionValue(t *Transaction) ojson.Value {
	var m members
	m.uint("read_version", t.ReadVersion)
	m.str("uuid", t.UUID)
	return m.object()
}

func effectValue(e *Effect, kind Kind) ojson.Value {
	m := table(e.Identity, e.Alias)
	body := &m
	var tagged members
	if kind == BranchMerge || kind == SchemaApply {
		tagged.str("kind", string(e.Kind))
		body = &tagged
	}
	switch e.Kind {
	case MultiCommitHead:
		body.optUint("source_fork_version", e.Fork)
		body.add("planned_transactions", list(e.Planned, transactionValue))
		body.optUint("confirmed_version", e.ConfirmedVersion)
	case RefOnlyFork:
		body.optUint("source_version", e.Fork)
	default:
		body.add("planned_transaction", transactionValue(&e.Planned[0]))
		body.optUint("source_fork_version", e.Fork)
		if e.Confirmed != nil {
			body.add("confirmed_transaction", transactionValue(e.Confirmed))
		}
	}
	if e.BranchConfirmed {
		body.add("confirmed_branch_identifier", forksValue(e.ConfirmedBranch))
	}
	if body == &tagged {
		m.add("kind", tagged.object())
	}
	return m.object()
}

func deltaValue(d Delta) ojson.Value {
	var m members
	m.add("table_updates", list(d.Updates, slotValue))
	if len(d.Registrations) > 0 {
		m.add("registrations", list(d.Registrations, func(r *Registration) ojson.Value {
			m := table(r.Identity, r.Alias)
			m.str("table_path", r.Location)
			m.branch("table_branch", r.Branch, false)
			return m.object()
		}))
	}
	if len(d.Renames) > 0 {
		m.add("renames", list(d.Renames, renameValue))
	}
	if len(d.Tombstones) > 0 {
		m.add("tombstones", list(d.Tombstones, func(t *Tombstone) ojson.Value {
			m := table(t.Identity, t.Alias)
			m.uint("tombstone_version", t.Version)
			return m.object()
		}))
	}
	return m.object()
}

func renameValue(r *Rename) ojson.Value {
	all := table(r.Identity, r.From)
	m := all[:1]
	m.str("expected_table_key", r.From)
	m.uint("expected_version", r.Expected)
	m.str("table_key", r.Alias)
	m.str("table_path", r.Location)
	return m.object()
}

func slotValue(s *Slot) ojson.Value {
	m := table(s.Identity, s.Alias)
	m.uint("expected_version", s.Expected)
	m.branch("table_branch", s.Branch, true)
	if c := s.Confirmed; c != nil {
		var o, meta members
		o.uint("table_version", c.Version)
		o.branch("table_branch", c.Branch, true)
		o.uint("row_count", c.Rows)
		meta.str("manifest_path", c.ManifestPath)
		meta.add("manifest_size", optUintValue(c.ManifestSize))
		meta.add("e_tag", ojson.OptStr(c.ETag))
		meta.add("naming_scheme", ojson.OptStr(c.NamingScheme))
		o.add("version_metadata", meta.object())
		m.add("confirmed", o.object())
	}
	return m.object()
}

func optUintValue(n *uint64) ojson.Value {
	if n == nil {
		return ojson.Value{}
	}
	return ojson.Uint(*n)
}
