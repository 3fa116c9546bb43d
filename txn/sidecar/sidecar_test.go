package sidecar

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) != 9 {
		t.Fatalf("found %d real sidecars in testdata, want 9 (%v)", len(names), err)
	}
	out := map[string][]byte{}
	for _, n := range names {
		data, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(n), Suffix)] = data
	}
	return out
}

// nameOf finds the operation id without a JSON parser.
func nameOf(data []byte) string {
	_, rest, _ := strings.Cut(string(data), `"operation_id": "`)
	id, _, _ := strings.Cut(rest, `"`)
	return Folder + id + Suffix
}

func mustParse(t *testing.T, data []byte) *Record {
	t.Helper()
	rec, problems, err := Parse(nameOf(data), data)
	if err != nil || len(problems) != 0 {
		t.Fatalf("error %v, problems %v", err, problems)
	}
	return rec
}

func TestRealSidecars(t *testing.T) {
	kinds := map[string]struct {
		kind    Kind
		phase   string
		pins    int
		effects []EffectKind
	}{
		"mutation-armed":     {Mutation, Armed, 1, []EffectKind{OneTransaction}},
		"mutation-confirmed": {Mutation, EffectsConfirmed, 1, []EffectKind{OneTransaction}},
		"load-armed":         {Load, Armed, 3, []EffectKind{OneTransaction, OneTransaction, OneTransaction}},
		"load-confirmed":     {Load, EffectsConfirmed, 3, []EffectKind{OneTransaction, OneTransaction, OneTransaction}},
		"merge-armed":        {BranchMerge, Armed, 1, []EffectKind{MultiCommitHead}},
		"merge-confirmed":    {BranchMerge, EffectsConfirmed, 1, []EffectKind{MultiCommitHead}},
		"schema-armed":       {SchemaApply, Armed, 2, []EffectKind{FirstTouchDataset, ExistingOverwrite}},
		"schema-confirmed":   {SchemaApply, EffectsConfirmed, 2, []EffectKind{FirstTouchDataset, ExistingOverwrite}},
		"optimize":           {Optimize, "", 9, nil},
	}
	for name, data := range samples(t) {
		want := kinds[name]
		rec := mustParse(t, data)
		if rec.Kind != want.kind || rec.Phase != want.phase || rec.SchemaVersion != 9 || rec.Branch != "" || rec.Actor != nil {
			t.Errorf("%s: %+v", name, rec)
		}
		if (rec.Plan == nil) != (want.effects == nil) || len(rec.Pins) != want.pins {
			t.Errorf("%s: plan %v, %d pins", name, rec.Plan != nil, len(rec.Pins))
			continue
		}
		at, ok := rec.IDTime()
		if d := rec.StartedAt.Sub(at); !ok || d < 0 || d > time.Second {
			t.Errorf("%s: started %v, id made %v", name, rec.StartedAt, at)
		}
		if rec.Plan == nil {
			continue
		}
		var got []EffectKind
		for _, e := range rec.Plan.Effects {
			got = append(got, e.Kind)
		}
		if !slices.Equal(got, want.effects) {
			t.Errorf("%s: effects %v, want %v", name, got, want.effects)
		}
		if rec.CommitID == "" || rec.CommitID == rec.Plan.Rollback || (rec.TargetIRHash != "") != (rec.Kind == SchemaApply) {
			t.Errorf("%s: commit %q, roll-back %q, target %q", name, rec.CommitID, rec.Plan.Rollback, rec.TargetIRHash)
		}
	}
}

// Every value of one record, against what the file shows to the eye.
func TestMergeInDetail(t *testing.T) {
	rec := mustParse(t, samples(t)["merge-confirmed"])
	callsAt := Identity{6, 44}
	p, plan := rec.Pins[0], rec.Plan
	if p.Identity != callsAt || p.Alias != "edge:CallsAt" || p.Path != "s3://lab/harbor/edges/0000000000000006-000000000000002c" || p.Expected != 3 || p.Planned != 4 || *p.Confirmed != 4 {
		t.Errorf("pin %+v", p)
	}
	if e := plan.Effects[0]; len(e.Planned) != 1 || e.Planned[0] != (Transaction{3, "omnigraph-merge-01M8KXZG6JPN0S2HRAGM5F797J"}) || *e.ConfirmedVersion != 4 || e.Fork != nil || e.BranchConfirmed {
		t.Errorf("effect %+v", e)
	}
	if plan.Lineage.CreatedAt != 1795965305034010 || *plan.Lineage.MergedParent != "01M8KXQQE8END3M4BPEV3PD4VY" || *plan.Authority.GraphHead != "01M8KXQR66RD8M187X7E04ZWTN" || plan.Authority.IdentityVersion != 2 || plan.Authority.Branch != nil {
		t.Errorf("lineage %+v, authority %+v", plan.Lineage, plan.Authority)
	}
	out := plan.Delta.Updates[0].Confirmed
	if out.Version != 4 || out.Rows != 118 || *out.ManifestSize != 33739 || *out.ETag != `"d5251725527aae2bef1e9f2db932dfc0"` || *out.NamingScheme != "V2" {
		t.Errorf("output %+v", out)
	}
	if want := time.UnixMicro(1795965305042929).UTC(); !rec.StartedAt.Equal(want) {
		t.Errorf("started %v, want %v", rec.StartedAt, want)
	}
}

// Images C, D and E of case 3, and their relatives.
func TestOutcomes(t *testing.T) {
	data := samples(t)["mutation-armed"]
	name := nameOf(data)
	swap := func(old, new string) []byte { return bytes.Replace(data, []byte(old), []byte(new), 1) }
	for what, c := range map[string]struct {
		data  []byte
		class error
		kind  Kind // of the record beside the error
	}{
		"cut to 10 bytes":   {data[:10], ErrDamaged, ""},
		"cut in the middle": {data[:len(data)/2], ErrDamaged, ""},
		"empty":             {nil, ErrDamaged, ""},
		"no version":        {swap(`"schema_version"`, `"schema_versioN"`), ErrDamaged, ""},
		"version 99":        {swap(`"schema_version": 9`, `"schema_version": 99`), ErrNewer, ""},
		"version 8":         {swap(`"schema_version": 9`, `"schema_version": 8`), ErrLegacy, Mutation},
		"unknown kind":      {swap(`"Mutation"`, `"Mutatiom"`), ErrDamaged, "Mutatiom"},
		"unknown phase":     {swap(`"Armed"`, `"armed"`), ErrDamaged, Mutation},
		"pin without alias": {swap(`"table_key"`, `"table_kez"`), ErrDamaged, Mutation},
		"not text":          {swap("Armed", "Arm\xffd"), ErrDamaged, ""},
	} {
		rec, problems, err := Parse(name, c.data)
		var parse *ParseError
		if !errors.Is(err, c.class) || !errors.As(err, &parse) || parse.Size != len(c.data) || problems != nil || rec == nil || rec.Kind != c.kind {
			t.Errorf("%s: record %+v, problems %v, error %v", what, rec, problems, err)
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error does not name the file: %v", what, err)
		}
	}
	if _, _, err := Parse(name, swap(`"schema_version": 9`, `"schema_version": 99`)); !strings.Contains(err.Error(), "version 99") {
		t.Errorf("the error does not name the version: %v", err)
	}
	rec, problems, err := Parse(Folder+"old-copy.json", data)
	if err != nil || len(problems) != 1 || problems[0].Rule != RuleName || rec.Phase != Armed {
		t.Errorf("renamed: record %+v, problems %v, error %v", rec, problems, err)
	}
}

var (
	one, two = uint64(1), uint64(2)
	text     = "x"
)

// shapeRules are edits that each break one rule of a real record.
var shapeRules = map[string]struct {
	file string
	edit func(*Record)
	rule Rule
}{
	"no start":               {"optimize", func(r *Record) { r.StartedAt = time.Time{} }, RuleStarted},
	"no protocol":            {"load-armed", func(r *Record) { r.Plan = nil }, RuleProtocol},
	"no pins":                {"optimize", func(r *Record) { r.Pins = nil }, RulePins},
	"zero identity":          {"optimize", func(r *Record) { r.Pins[0].Identity.Table = 0 }, RulePins},
	"alias":                  {"optimize", func(r *Record) { r.Pins[0].Alias = "Port" }, RulePins},
	"path":                   {"optimize", func(r *Record) { r.Pins[0].Path += "x" }, RulePins},
	"path of another kind":   {"optimize", func(r *Record) { r.Pins[0].Path = strings.Replace(r.Pins[0].Path, "edges", "nodes", 1) }, RulePins},
	"pinned twice":           {"optimize", func(r *Record) { r.Pins[1] = r.Pins[0] }, RulePins},
	"schema on a branch":     {"schema-armed", func(r *Record) { r.Pins[0].Branch = "b" }, RulePins},
	"authority":              {"load-armed", func(r *Record) { r.Plan.Authority.IRHash = "" }, RuleAuthority},
	"target":                 {"schema-armed", func(r *Record) { r.TargetIRHash = "" }, RuleAuthority},
	"branch":                 {"load-armed", func(r *Record) { r.Branch = "b" }, RuleLineage},
	"actor":                  {"load-armed", func(r *Record) { r.Actor = &text }, RuleLineage},
	"merge parent":           {"load-armed", func(r *Record) { r.Plan.Lineage.MergedParent = &text }, RuleLineage},
	"no merge parent":        {"merge-armed", func(r *Record) { r.Plan.Lineage.MergedParent = nil }, RuleLineage},
	"one commit id":          {"load-armed", func(r *Record) { r.Plan.Rollback = r.CommitID }, RuleLineage},
	"effect missing":         {"load-armed", func(r *Record) { r.Plan.Effects = r.Plan.Effects[1:] }, RuleOneToOne},
	"update missing":         {"merge-armed", func(r *Record) { r.Plan.Delta.Updates = nil }, RuleOneToOne},
	"uuid twice":             {"load-armed", func(r *Record) { r.Plan.Effects[1].Planned = r.Plan.Effects[0].Planned }, RuleOneToOne},
	"alias of effect":        {"load-armed", func(r *Record) { r.Plan.Effects[0].Alias = "node:X" }, RuleEffect},
	"update starts":          {"load-armed", func(r *Record) { r.Plan.Delta.Updates[0].Expected = 99 }, RuleEffect},
	"reads":                  {"load-armed", func(r *Record) { r.Plan.Effects[0].Planned[0].ReadVersion = 99 }, RuleEffect},
	"becomes":                {"schema-armed", func(r *Record) { r.Pins[0].Planned = 7 }, RuleEffect},
	"first touch":            {"schema-armed", func(r *Record) { r.Plan.Effects[0].Kind = ExistingOverwrite }, RuleEffect},
	"no chain":               {"merge-armed", func(r *Record) { r.Plan.Effects[0].Planned = nil }, RuleEffect},
	"chain with a gap":       {"merge-armed", func(r *Record) { e := &r.Plan.Effects[0]; e.Planned = append(e.Planned, Transaction{9, "y"}) }, RuleEffect},
	"chain begins":           {"merge-armed", func(r *Record) { r.Pins[0].Planned = 9 }, RuleEffect},
	"fork onto main":         {"merge-armed", func(r *Record) { r.Plan.Effects[0].Fork = &r.Pins[0].Expected }, RuleEffect},
	"fork from elsewhere":    {"merge-armed", func(r *Record) { r.Plan.Effects[0].Fork = &one }, RuleEffect},
	"armed, confirmed":       {"load-armed", func(r *Record) { r.Pins[0].Confirmed = &two }, RulePhase},
	"armed, filled in":       {"load-armed", func(r *Record) { r.Plan.Delta.Updates[0].Confirmed = &Output{} }, RulePhase},
	"confirmed, not":         {"load-confirmed", func(r *Record) { r.Pins[0].Confirmed = nil }, RulePhase},
	"confirmed, empty":       {"load-confirmed", func(r *Record) { r.Plan.Delta.Updates[0].Confirmed = nil }, RulePhase},
	"confirmed other uuid":   {"load-confirmed", func(r *Record) { r.Plan.Effects[0].Confirmed = &Transaction{} }, RulePhase},
	"confirmed too low":      {"merge-confirmed", func(r *Record) { r.Plan.Effects[0].ConfirmedVersion = &one }, RulePhase},
	"confirmed branch":       {"merge-confirmed", func(r *Record) { r.Plan.Effects[0].BranchConfirmed = true }, RulePhase},
	"confirmed elsewhere":    {"load-confirmed", func(r *Record) { r.Plan.Delta.Updates[0].Confirmed.Branch = "b" }, RuleEffect},
	"load that registers":    {"load-armed", func(r *Record) { r.Plan.Delta.Tombstones = []Tombstone{{Identity{1, 2}, "node:X", 3}} }, RuleDelta},
	"registration elsewhere": {"schema-armed", func(r *Record) { r.Plan.Delta.Registrations[0].Location = "nodes/x" }, RuleDelta},
	"registration missing":   {"schema-armed", func(r *Record) { r.Plan.Delta.Registrations = nil }, RuleDelta},
	"changed twice": {"schema-armed", func(r *Record) {
		d := &r.Plan.Delta
		d.Tombstones = []Tombstone{{d.Registrations[0].Identity, "node:X", 3}}
	}, RuleDelta},
	"rename of nothing": {"schema-armed", func(r *Record) {
		r.Plan.Delta.Renames = []Rename{{Identity{4, 42}, "node:Port", 0, "node:Haven", "nodes/0000000000000004-000000000000002a"}}
	}, RuleDelta},
	"rename, other update": {"schema-armed", func(r *Record) {
		r.Plan.Delta.Renames = []Rename{{Identity{4, 42}, "node:Old", 4, "node:New", "nodes/0000000000000004-000000000000002a"}}
	}, RuleDelta},
	"two of one name": {"schema-armed", func(r *Record) {
		r.Plan.Delta.Renames = []Rename{{Identity{4, 42}, "node:Port", 4, r.Plan.Delta.Registrations[0].Alias, "nodes/0000000000000004-000000000000002a"}}
	}, RuleDelta},
	"outcome of no pin": {"load-armed", func(r *Record) { r.Plan.Outcomes = []Outcome{{Alias: "node:X"}} }, RuleOutcomes},
}

func TestShapeRules(t *testing.T) {
	files := samples(t)
	for what, c := range shapeRules {
		rec := mustParse(t, files[c.file])
		id := rec.OperationID
		c.edit(rec)
		if problems := rec.check(id, nil); !slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule == c.rule && p.Text != "" }) {
			t.Errorf("%s: problems %v, want one of rule %s", what, problems, c.rule)
		}
	}
}

// A merge that forks a table, and one that only switches a pointer, are sound.
func TestForksAndPointers(t *testing.T) {
	rec := mustParse(t, samples(t)["merge-confirmed"])
	three := uint64(3)
	rec.Branch, rec.Plan.Lineage.Branch = "b", "b"
	p, e, s := &rec.Pins[0], &rec.Plan.Effects[0], &rec.Plan.Delta.Updates[0]
	p.Branch, s.Branch, s.Confirmed.Branch = "b", "b", "b"
	e.Fork, e.BranchConfirmed = &p.Expected, true
	rec.Plan.Delta.Updates = append(rec.Plan.Delta.Updates, Slot{Identity: Identity{4, 42}, Alias: "node:Port", Confirmed: &Output{}})
	if problems := rec.check(rec.OperationID, nil); len(problems) != 0 {
		t.Errorf("fork with chain: %v", problems)
	}
	*e = Effect{Identity: e.Identity, Alias: e.Alias, Kind: RefOnlyFork, Fork: &three, BranchConfirmed: true}
	p.Confirmed, s.Confirmed.Version, p.Planned = &three, 3, 3
	if problems := rec.check(rec.OperationID, nil); len(problems) != 0 {
		t.Errorf("fork alone: %v", problems)
	}
	s.Confirmed.Version, p.Confirmed = 4, &s.Confirmed.Version
	if problems := rec.check(rec.OperationID, nil); len(problems) != 1 || problems[0].Rule != RulePhase {
		t.Errorf("fork confirmed elsewhere: %v", problems)
	}
}

func TestForeignMembers(t *testing.T) {
	data := samples(t)["optimize"]
	for _, extra := range []string{
		`"protocol_v3":{}`, `"protocol_v8":{"x":1}`, `"merge_source_commit_id":"x"`, `"additional_registrations":[{}]`, `"schema_apply_target_schema_ir_hash":"x"`,
	} {
		changed := append([]byte("{"+extra+","), data[1:]...)
		if _, problems, err := Parse(nameOf(data), changed); err != nil || len(problems) != 1 || problems[0].Rule != RuleProtocol {
			t.Errorf("%s: problems %v, error %v", extra, problems, err)
		}
	}
	changed := append([]byte(`{"unknown":[1],"protocol_v3":null,"tombstones":[],`), data[1:]...)
	if _, problems, err := Parse(nameOf(data), changed); err != nil || len(problems) != 0 {
		t.Errorf("members that do not count: problems %v, error %v", problems, err)
	}
}

func TestPlace(t *testing.T) {
	files := samples(t)
	all := func(Identity) bool { return true }
	old := func(id Identity) bool { return id.Table < 49 }
	rec := mustParse(t, files["schema-armed"])
	if place, at := rec.Place("s3://lab/harbor/", old); place != Here || at != "s3://lab/harbor" {
		t.Errorf("own root: %v %q", place, at)
	}
	if place, at := rec.Place("/tmp/g", old); place != Moved || at != "s3://lab/harbor" {
		t.Errorf("another root: %v %q", place, at)
	}
	if place, _ := rec.Place("/tmp/g", func(id Identity) bool { return id.Table != 4 }); place != Foreign {
		t.Errorf("an identity that is not ours: %v", place)
	}
	rec = mustParse(t, files["optimize"])
	rec.Pins[1].Path = strings.Replace(rec.Pins[1].Path, "harbor", "other", 1)
	if place, at := rec.Place("s3://lab/harbor", all); place != Foreign || at != "" {
		t.Errorf("two roots: %v %q", place, at)
	}
	rec.Pins[1].Path = "x"
	if place, _ := rec.Place("s3://lab/harbor", all); place != Foreign {
		t.Errorf("no canonical path: %v", place)
	}
	if place, _ := (&Record{}).Place("/x", all); place != Here {
		t.Errorf("no pins: %v", place)
	}
}

// Any byte flipped: an error, a problem, or a record; never a panic.
func TestByteFlips(t *testing.T) {
	for name, data := range samples(t) {
		file := nameOf(data)
		for i := range data {
			flipped := bytes.Clone(data)
			flipped[i] ^= 1 << (i % 8)
			rec, _, err := Parse(file, flipped)
			if rec == nil {
				t.Fatalf("%s byte %d: no record beside %v", name, i, err)
			}
			rec.Place("/x", func(Identity) bool { return true })
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(samples(f)["mutation-confirmed"])
	f.Add([]byte(`{"schema_version":9,"operation_id":"x","started_at":"1","writer_kind":"Optimize","tables":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, problems, err := Parse("__recovery/x.json", data)
		if rec == nil || err != nil && problems != nil {
			t.Fatalf("record %v, problems %v, error %v", rec, problems, err)
		}
		rec.Place("/x", func(Identity) bool { return true })
		rec.IDTime()
	})
}
