package txn

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/omnideck/omnideck/txn/sidecar"
	"github.com/omnideck/omnideck/txn/validate"
)

// sentences is every error with the sentence it says.
var sentences = []struct {
	err   error
	class error
	want  string
}{
	{&KeyConflictError{"node:Port", "NLRTM"}, ErrCaller, `node:Port: "NLRTM" exists already; append never replaces, nothing was written: use merge to update`},
	{&KeyConflictError{Table: "node:Port"}, ErrCaller, `node:Port: an entity with one of these ids exists already; append never replaces, nothing was written: use merge to update`},
	{&ReadSetChangedError{Member: "graph_head:main", Expected: "01A"}, ErrCaller, `graph_head:main changed from 01A to none while this was being prepared; nothing was written: look at the new state and decide again`},
	{&PublishedVersionMismatchError{"node:Port", 7, 9}, ErrRetry, `node:Port is published at version 9, this plan expected 7; nothing was written: it must be planned anew`},
	{&ContentionError{What: "publish on branch main", Attempts: 6}, ErrRetry, `other writers kept winning the publish on branch main, 6 attempts were made; nothing was written: try again later`},
	{&PreconditionFailedError{Expected: "01A", Actual: "01B"}, ErrCaller, `this was to be written on top of commit 01A, and branch main is at 01B; nothing was written: look at what came after and name the new commit`},
	{&RecoveryRequiredError{OperationID: opID, Reason: "the publish was lost"}, ErrRecovery, `operation 01M8KXR37888CN02CWG4500HSD stopped part-way: the publish was lost; what it did belongs to the record __recovery/01M8KXR37888CN02CWG4500HSD.json: do not repeat the write before that is recovered, by ` + "`omnideck recover`" + ` or by the Rust CLI when it opens the graph at its full address`},
	{&RecoveryRequiredError{OperationID: opID, Other: true, Reason: "it is not finished"}, ErrRecovery, `operation 01M8KXR37888CN02CWG4500HSD stands in the way: it is not finished; nothing was written: ` + "`omnideck recover`" + ` shows what is right about __recovery/01M8KXR37888CN02CWG4500HSD.json; write again after that`},
	{&RecoveryRequiredError{OperationID: opID, Other: true, Young: true, Reason: "it is not finished", Graph: "s3://lab/harbor"}, ErrRecovery, `operation 01M8KXR37888CN02CWG4500HSD stands in the way: it is not finished; nothing was written: its writer may be at work: wait for it; ` + "`omnideck recover s3://lab/harbor`" + ` shows what is right about __recovery/01M8KXR37888CN02CWG4500HSD.json; write again after that`},
	{&ContentionError{What: "write on branch main", Attempts: 33, Err: &RecoveryRequiredError{OperationID: opID, Other: true}}, ErrRetry, `other writers kept winning the write on branch main, 33 attempts were made; nothing was written: try again later`},
	{&DriftError{"node:Port", "", 3, 5}, ErrCaller, `node:Port on branch main has 2 unpublished versions (3 is published, 5 is the newest) that no recovery record explains; nothing was written: ` + "`omnigraph repair`" + ` tells what they are`},
	{&DriftError{"node:Port", "b", 3, 4}, ErrCaller, `node:Port on branch b has 1 unpublished version (3 is published, 4 is the newest) that no recovery record explains; nothing was written: ` + "`omnigraph repair`" + ` tells what they are`},
	{&InvariantError{"node:Port", "version 5 of it is published on branch main, its newest is 4"}, ErrCaller, `node:Port: version 5 of it is published on branch main, its newest is 4, which no sound history leads to; nothing was written, and nothing will be to this table: run verify`},
	{&ResourceLimitError{&validate.LimitError{Resource: validate.ResourceRows, Of: "node:Port", Limit: 8192, Actual: 8193, Advice: "split the input"}}, ErrCaller, `resource limit exceeded for keyed entities for node:Port: actual 8193, limit 8192; nothing was written: split the input`},
	{&ConstraintError{Violations: []*validate.Violation{{Text: "src 'zoe' not found in Person (edge Knows 'e')"}}}, ErrCaller, `src 'zoe' not found in Person (edge Knows 'e'); nothing was written`},
	{&ConstraintError{Violations: []*validate.Violation{{Text: "a"}, {Text: "b"}, {Text: "c"}}}, ErrCaller, `a (and 2 more); nothing was written`},
	{&ConstraintError{Violations: []*validate.Violation{{Text: "a"}, {Text: "b"}}, More: true}, ErrCaller, `a (and at least 1 more); nothing was written`},
	{&LockedError{"__manifest/_refs/branches/__schema_apply_lock__.json", time.UnixMicro(1795965305034010), "s3://lab/a harbor"}, ErrCaller, `a schema apply holds the lock __manifest/_refs/branches/__schema_apply_lock__.json since 2026-11-29T15:15:05Z, so that nothing may be written; nothing was: wait for it; ` + "`omnideck recover 's3://lab/a harbor'`" + ` shows whether it may have died, and what is safe then`},
	{&SchemaError{"_schema.pg is missing"}, ErrCaller, `the schema of this graph cannot be relied upon: _schema.pg is missing; nothing was written: run verify`},
	{&UnforkedError{"node:Port", "b", ""}, ErrCaller, `node:Port on branch b is still that of branch main, and this program does not fork a table for its first write on a branch; nothing was written: make the first write with omnigraph, or write on branch main`},
	{&PlanError{ID: opID, Why: "its kind is \"\""}, ErrCaller, `operation 01M8KXR37888CN02CWG4500HSD cannot be planned like this: its kind is ""; nothing was written`},
}

func TestSentencesAndClasses(t *testing.T) {
	for _, c := range sentences {
		if c.err.Error() != c.want {
			t.Errorf("%T says\n  %s\nwant\n  %s", c.err, c.err, c.want)
		}
		wrapped := fmt.Errorf("loading: %w", c.err)
		for _, class := range []error{ErrRetry, ErrCaller, ErrRecovery} {
			if errors.Is(wrapped, class) != (class == c.class) {
				t.Errorf("%T is of class %q: %v", c.err, class, errors.Is(wrapped, class))
			}
		}
	}
}

// What the gate answers with is typed: the writer tells them apart by class.
func TestErrorsOfTheGate(t *testing.T) {
	as := func(want any) func(error) bool {
		return func(err error) bool { return errors.As(err, want) }
	}
	var (
		recovery *RecoveryRequiredError
		changed  *ReadSetChangedError
		failed   *PreconditionFailedError
		version  *PublishedVersionMismatchError
		drift    *DriftError
		never    *InvariantError
	)
	for what, c := range map[string]struct {
		edit func(*scene)
		is   func(error) bool
	}{
		"covered":            {func(s *scene) { s.obs[0].Claims = []string{"01OTHER"} }, as(&recovery)},
		"head moved":         {func(s *scene) { s.vis.Base.Head = &otherID }, as(&changed)},
		"head gone":          {func(s *scene) { s.vis.Base.Head = nil }, as(&changed)},
		"schema":             {func(s *scene) { s.vis.Base.IRHash = "x" }, as(&changed)},
		"branch gone":        {func(s *scene) { s.vis.Gone = true }, as(&changed)},
		"asked for the head": {func(s *scene) { s.plan.Class = Conditional; s.vis.Base.Head = &otherID }, as(&failed)},
		"pin":                {func(s *scene) { s.obs[0].Pin, s.obs[0].Head = 4, 4 }, as(&version)},
		"renamed":            {func(s *scene) { s.obs[0].Alias = "node:Other" }, as(&changed)},
		"taken over":         {func(s *scene) { s.obs[0].Owner = "b" }, as(&changed)},
		"drift":              {func(s *scene) { push(&s.obs[0], 0, 0) }, as(&drift)},
		"behind":             {func(s *scene) { s.obs[0].Head = 2 }, as(&never)},
		"missing":            {func(s *scene) { s.obs[0].Missing, s.obs[0].Head = true, 0 }, as(&never)},
	} {
		s := effectCases[0].scene(1, Prepared)
		tableStates[1].make(&s.plan.Actions[0], &s.obs[0])
		if v := Interpret(s.plan, s.obs, s.vis); v.Do != Proceed || v.Err() != nil {
			t.Fatalf("untouched: %s, %v", show(v), v.Err())
		}
		c.edit(&s)
		v := Interpret(s.plan, s.obs, s.vis)
		if !c.is(v.Err()) || v.Do != Refuse && v.Do != Replan {
			t.Errorf("%s: %s, %T %v", what, show(v), v.Err(), v.Err())
		}
	}
	if recovery.OperationID != "01OTHER" || version.Actual != 4 || drift.Head != 4 || failed.Actual != otherID {
		t.Errorf("fields: %+v %+v %+v %+v", recovery, version, drift, failed)
	}
}

// Paths that are not the table's own are refused in every phase but that of an
// orphan; a moved graph is judged under the root that its record names.
func TestPlaceOfTables(t *testing.T) {
	for _, phase := range []Phase{Prepared, Armed, Confirmed} {
		s := effectCases[0].scene(1, phase)
		s.vis.Root = "/elsewhere"
		if v := Interpret(s.plan, s.obs, s.vis); v.Do != Refuse || v.Reason != WrongPlace || v.Err() == nil {
			t.Errorf("%s: %s", phase, show(v))
		}
		s.vis.Root = root + "/"
		if v := Interpret(s.plan, s.obs, s.vis); v.Reason == WrongPlace {
			t.Errorf("%s: %s", phase, show(v))
		}
	}
	s := effectCases[7].scene(1, Confirmed)
	s.vis.Staging = StagedOther
	if v := Interpret(s.plan, s.obs, s.vis); v.Do != Refuse || v.Reason != StagingDiffers {
		t.Errorf("staged files of another schema: %s", show(v))
	}
	s.vis.Original = landed(s.plan)
	if v := Interpret(s.plan, s.obs, s.vis); v.Do != Refuse || v.Reason != StagingDiffers {
		t.Errorf("published, staged files of another schema: %s", show(v))
	}
	if s.vis.Staging = StagedTarget; true {
		if v := Interpret(s.plan, s.obs, s.vis); v.Do != Finalize || !v.Promote {
			t.Errorf("published and not promoted: %s", show(v))
		}
	}
}

// A visible commit that is not the planned one settles nothing.
func TestLandedOtherwise(t *testing.T) {
	for what, edit := range map[string]func(*Landed){
		"parent":  func(l *Landed) { l.Commit.Parent = "x" },
		"branch":  func(l *Landed) { l.Commit.Branch = "x" },
		"merged":  func(l *Landed) { l.Commit.MergedParent = "x" },
		"actor":   func(l *Landed) { l.Commit.Actor = &otherID },
		"time":    func(l *Landed) { l.Commit.CreatedAt++ },
		"version": func(l *Landed) { l.Tables[0].Version++ },
		"owner":   func(l *Landed) { l.Tables[0].Owner = "x" },
		"rows":    func(l *Landed) { l.Tables[0].Rows++ },
		"meta":    func(l *Landed) { l.Tables[0].Meta.ETag = &otherID },
		"gone":    func(l *Landed) { l.Tables = nil },
		"name":    func(l *Landed) { l.Tables[0].Alias = "node:X" },
		"place":   func(l *Landed) { l.Tables[0].Location = "x" }, // of a new table
	} {
		k := effectCases[0]
		if what == "place" {
			k = effectCases[8]
		}
		s := k.scene(1, Confirmed)
		s.vis.Original, s.vis.Staging = landed(s.plan), Promoted
		if v := Interpret(s.plan, s.obs, s.vis); v.Do != Finalize {
			t.Fatalf("%s: as planned: %s", what, show(v))
		}
		edit(s.vis.Original)
		if v := Interpret(s.plan, s.obs, s.vis); v.Do != Refuse || v.Reason != CommitDiffers && v.Reason != DeltaDiffers {
			t.Errorf("%s: %s", what, show(v))
		}
	}
	s := effectCases[7].scene(1, Confirmed)
	s.plan.Delta.Renames = []Rename{{Identity: identity(0), From: "node:Old", Expected: pinAt, Alias: "node:New", Location: "x"}}
	s.vis.Original, s.vis.Staging = landed(s.plan), Promoted
	if v := Interpret(s.plan, s.obs, s.vis); v.Reason != DeltaDiffers {
		t.Errorf("rename: %s", show(v))
	}
	s.plan.Delta.Renames = nil
	s.plan.Delta.Tombstones = []sidecar.Tombstone{{Identity: identity(0), Alias: "node:T0", Version: 9}}
	if v := Interpret(s.plan, s.obs, s.vis); v.Reason != DeltaDiffers {
		t.Errorf("tombstone: %s", show(v))
	}
}
