package sidecar

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/omnideck/omnideck/internal/ojson"
)

// Parse reads one sidecar. name is the object's name, with or without folder.
// Beside an error the record holds as much as could be read, and is never nil.
func Parse(name string, data []byte) (*Record, []Problem, error) {
	rec := &Record{}
	fail := func(class, err error) (*Record, []Problem, error) {
		return rec, nil, &ParseError{Name: name, Size: len(data), Found: rec.SchemaVersion, Class: class, Err: err}
	}
	v, err := ojson.Parse(data)
	if err != nil {
		return fail(ErrDamaged, err)
	}
	r := new(ojson.Reader)
	f := r.Open(v, "")
	rec.SchemaVersion = int(f.Uint("schema_version", 31))
	if r.Err() != nil {
		return fail(ErrDamaged, r.Err())
	}
	if rec.SchemaVersion > Version {
		return fail(ErrNewer, nil)
	}
	rec.envelope(f)
	if rec.SchemaVersion < Version {
		return fail(ErrLegacy, r.Err())
	}
	f.Each("tables", true, func(f ojson.Fields) { rec.Pins = append(rec.Pins, pin(f)) })
	member, known := protocols[rec.Kind]
	if !known {
		f.Fail("writer_kind", "found %q, expected one of the kinds of version %d", rec.Kind, Version)
	}
	if member != "" {
		if p, ok := f.OptObject(member); ok {
			rec.plan(p)
		}
	}
	if o, ok := f.OptObject(optimizeMember); ok && rec.Kind == Optimize {
		rec.UUIDPrefix = o.Str("uuid_prefix")
	}
	extras := foreignMembers(f, member)
	if r.Err() != nil {
		return fail(ErrDamaged, r.Err())
	}
	return rec, rec.check(stem(name), extras), nil
}

// Unfit is why nobody may act on what Parse gave: its error, or the first problem
// but that of the name, for under whatever name the record counts. nil = it is fit.
func Unfit(problems []Problem, err error) error {
	if err != nil {
		return err
	}
	for _, p := range problems {
		if p.Rule != RuleName {
			return p
		}
	}
	return nil
}

// envelope reads what all generations have.
func (rec *Record) envelope(f ojson.Fields) {
	rec.OperationID = f.Str("operation_id")
	if us, err := strconv.ParseInt(f.Str("started_at"), 10, 64); err == nil && us >= 0 {
		rec.StartedAt = time.UnixMicro(us).UTC()
	}
	rec.Branch, rec.Actor, rec.Kind = branch(f, "branch"), f.OptStr("actor_id"), Kind(f.Str("writer_kind"))
}

// foreignMembers are those that belong to other kinds or older generations.
func foreignMembers(f ojson.Fields, own string) (out []string) {
	for _, name := range []string{
		"protocol_v3", "protocol_v4", "protocol_v7", "protocol_v8", "ensure_indices_rollback_v6", "merge_source_commit_id", "schema_apply_target_schema_ir_hash",
	} {
		if name != own && f.Has(name) {
			out = append(out, name)
		}
	}
	for _, name := range []string{"additional_registrations", "tombstones"} {
		if len(f.Items(name, false)) > 0 {
			out = append(out, name)
		}
	}
	if f.OptBool("schema_apply_manifest_published") {
		out = append(out, "schema_apply_manifest_published")
	}
	return out
}

// branch reads an optional branch; main is "".
func branch(f ojson.Fields, name string) string {
	if s := f.OptStr(name); s != nil && *s != "main" {
		return *s
	}
	return ""
}

func identity(f ojson.Fields) Identity {
	f = f.Object("identity")
	return Identity{f.Uint("stable_table_id", 64), f.Uint("table_incarnation_id", 64)}
}

func pin(f ojson.Fields) Pin {
	return Pin{
		Identity: identity(f), Alias: f.Str("table_key"), Path: f.Str("table_path"), Expected: f.Uint("expected_version", 64),
		Planned: f.Uint("post_commit_pin", 64), Confirmed: f.OptUint("confirmed_version"), Branch: branch(f, "table_branch"),
	}
}

func (rec *Record) plan(f ojson.Fields) {
	p := &Plan{Rollback: f.Str("rollback_graph_commit_id")}
	rec.Plan, rec.Phase = p, f.Str("effect_phase")
	if rec.Phase != Armed && rec.Phase != EffectsConfirmed {
		f.Fail("effect_phase", "found %q, expected Armed or EffectsConfirmed", rec.Phase)
	}
	a := f.Object("authority")
	p.Authority = Authority{
		Branch: forks(a.Object("branch_identifier")), GraphHead: a.OptStr("graph_head"), IdentityDomain: a.Str("schema_identity_domain"),
		IRHash: a.Str("schema_ir_hash"), IdentityVersion: a.Uint("schema_identity_version", 32),
	}
	l := f.Object("lineage")
	rec.CommitID = l.Str("graph_commit_id")
	p.Lineage = Lineage{Branch: branch(l, "branch"), Actor: l.OptStr("actor_id"), MergedParent: l.OptStr("merged_parent_commit_id"), CreatedAt: l.Int("created_at")}
	p.RollingBack = f.Has("rollback_audit_outcomes")
	f.Each("rollback_audit_outcomes", false, func(f ojson.Fields) {
		p.Outcomes = append(p.Outcomes, Outcome{f.Str("table_key"), f.Uint("from_version", 64), f.Uint("to_version", 64)})
	})
	if rec.Kind == SchemaApply {
		rec.TargetIRHash = f.Str("target_schema_ir_hash")
	}
	f.Each("effects", true, func(f ojson.Fields) { p.Effects = append(p.Effects, effect(f, rec.Kind)) })
	p.Delta = delta(f.Object("intended_delta"))
}

// forks reads a branch identifier: pairs of version and uuid.
func forks(f ojson.Fields) (out []Fork) {
	for i, pair := range f.Items("version_mapping", true) {
		items := pair.Items()
		if len(items) != 2 || items[1].Kind() != ojson.String {
			f.Fail("version_mapping", "element %d is not a pair of version and uuid", i)
			return out
		}
		v, err := items[0].Uint(64)
		if err != nil {
			f.Fail("version_mapping", "element %d: %v", i, err)
		}
		out = append(out, Fork{v, items[1].Text()})
	}
	return out
}

func effect(f ojson.Fields, kind Kind) Effect {
	e := Effect{Identity: identity(f), Alias: f.Str("table_key")}
	if kind == BranchMerge || kind == SchemaApply {
		f = f.Object("kind")
		e.Kind = EffectKind(f.Str("kind"))
	}
	if want := effectKinds[kind]; !slices.Contains(want, e.Kind) {
		f.Fail("kind", "found %q, expected one of %v", e.Kind, want)
	}
	switch e.Kind {
	case MultiCommitHead:
		f.Each("planned_transactions", true, func(f ojson.Fields) { e.Planned = append(e.Planned, transaction(f)) })
		e.Fork, e.ConfirmedVersion = f.OptUint("source_fork_version"), f.OptUint("confirmed_version")
	case RefOnlyFork:
		n := f.Uint("source_version", 64)
		e.Fork = &n
	default:
		e.Planned = []Transaction{transaction(f.Object("planned_transaction"))}
		if t, ok := f.OptObject("confirmed_transaction"); ok {
			c := transaction(t)
			e.Confirmed = &c
		}
	}
	if kind == EnsureIndices {
		e.Fork = f.OptUint("source_fork_version")
	}
	if id, ok := f.OptObject("confirmed_branch_identifier"); ok && (kind == EnsureIndices || kind == BranchMerge) {
		e.ConfirmedBranch, e.BranchConfirmed = forks(id), true
	}
	return e
}

func transaction(f ojson.Fields) Transaction {
	return Transaction{f.Uint("read_version", 64), f.Str("uuid")}
}

func delta(f ojson.Fields) (d Delta) {
	f.Each("table_updates", true, func(f ojson.Fields) {
		s := Slot{Identity: identity(f), Alias: f.Str("table_key"), Expected: f.Uint("expected_version", 64), Branch: branch(f, "table_branch")}
		if c, ok := f.OptObject("confirmed"); ok {
			s.Confirmed = output(c)
		}
		d.Updates = append(d.Updates, s)
	})
	f.Each("registrations", false, func(f ojson.Fields) {
		d.Registrations = append(d.Registrations, Registration{identity(f), f.Str("table_key"), f.Str("table_path"), branch(f, "table_branch")})
	})
	f.Each("renames", false, func(f ojson.Fields) {
		d.Renames = append(d.Renames, Rename{identity(f), f.Str("expected_table_key"), f.Uint("expected_version", 64), f.Str("table_key"), f.Str("table_path")})
	})
	f.Each("tombstones", false, func(f ojson.Fields) {
		d.Tombstones = append(d.Tombstones, Tombstone{identity(f), f.Str("table_key"), f.Uint("tombstone_version", 64)})
	})
	return d
}

func output(f ojson.Fields) *Output {
	m := f.Object("version_metadata")
	return &Output{
		Version: f.Uint("table_version", 64), Branch: branch(f, "table_branch"), Rows: f.Uint("row_count", 64),
		ManifestPath: m.Str("manifest_path"), ManifestSize: m.OptUint("manifest_size"), ETag: m.OptStr("e_tag"), NamingScheme: m.OptStr("naming_scheme"),
	}
}

// folder is the canonical place of a table below the graph's root, "" for an
// alias that is neither node: nor edge:.
func folder(alias string, id Identity) string {
	kind := ""
	switch {
	case len(alias) > 5 && alias[:5] == "node:":
		kind = "nodes"
	case len(alias) > 5 && alias[:5] == "edge:":
		kind = "edges"
	default:
		return ""
	}
	return fmt.Sprintf("%s/%016x-%016x", kind, id.Table, id.Incarnation)
}
