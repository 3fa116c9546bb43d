package stuck

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// AuditTable keeps a row for every recovery.
const AuditTable = "_graph_commit_recoveries.lance"

// Audit is a row of it.
type Audit struct {
	Commit    string // that recorded the outcome; "" = one that recovery minted
	Kind      string
	Actor     string // of the operation; "" = none
	Operation string
	Writer    string
	Outcomes  []Outcome
	At        time.Time
}

// Outcome is one of its outcomes, as its JSON spells it.
type Outcome struct {
	Table string `json:"table_key"`
	From  uint64 `json:"from_version"`
	To    uint64 `json:"to_version"`
}

func (a Audit) String() string {
	return fmt.Sprintf("%s of %s %s by %q in %s: %v", a.Kind, a.Writer, a.Operation, a.Actor, a.Commit, a.Outcomes)
}

// Audits reads the table with the reader of package lance alone; a graph without
// it has no rows.
func Audits(t testing.TB, store blob.Store) (out []Audit) {
	t.Helper()
	ctx := context.Background()
	chain, err := lance.Versions(ctx, store, AuditTable, lance.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(chain.Versions) == 0 {
		return nil
	}
	snap, err := lance.Open(ctx, store, AuditTable, lance.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range snap.Scan(ctx, lance.ScanOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			out = append(out, auditRow(t, batch, i))
		}
		batch.Release()
	}
	return out
}

func auditRow(t testing.TB, batch arrow.RecordBatch, i int) Audit {
	t.Helper()
	text := func(column string) string {
		for n, f := range batch.Schema().Fields() {
			if f.Name == column && batch.Column(n).IsValid(i) {
				return batch.Column(n).(*array.String).Value(i)
			}
		}
		return ""
	}
	a := Audit{
		Commit: text("graph_commit_id"), Kind: text("recovery_kind"), Actor: text("recovery_for_actor"),
		Operation: text("operation_id"), Writer: text("sidecar_writer_kind"),
	}
	if err := json.Unmarshal([]byte(text("per_table_outcomes_json")), &a.Outcomes); err != nil {
		t.Errorf("outcomes of the audit row of %s: %v", a.Operation, err)
	}
	for n, f := range batch.Schema().Fields() {
		if f.Name == "created_at" {
			a.At = time.UnixMicro(int64(batch.Column(n).(*array.Timestamp).Value(i))).UTC()
		}
	}
	return a
}

// Record is the record of the state, nil without one.
func (s *State) Record(t testing.TB) *sidecar.Record {
	t.Helper()
	if len(s.Pending) == 0 {
		return nil
	}
	rec, problems, err := sidecar.Parse(s.Pending[0], s.Files[s.Pending[0]])
	if err != nil || len(problems) > 0 || len(s.Pending) > 1 {
		t.Fatal(s, err, problems)
	}
	return rec
}

// Audit is the row that the recovery of the state must write, nil when the
// reference writes none: nothing had happened but the record, or there was none.
// It goes by what was recorded of the state afterwards.
func (s *State) Audit(t testing.TB) *Audit {
	t.Helper()
	rec := s.Record(t)
	if rec == nil {
		return nil
	}
	store := s.Store(t, Root)
	view, err := manifest.Open(context.Background(), store, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := &Audit{Operation: rec.OperationID, Writer: string(rec.Kind)}
	if rec.Actor != nil {
		a.Actor = *rec.Actor
	}
	before := pinsOf(t, store, view, rec)
	if rec.Kind == sidecar.Optimize {
		s.auditOptimize(a, before)
		return a
	}
	if _, there := view.Commit(rec.CommitID); there || s.Outcome == "as completed" {
		a.Kind, a.Commit = "RolledForward", rec.CommitID
		for _, u := range rec.Plan.Delta.Updates {
			a.Outcomes = append(a.Outcomes, Outcome{u.Alias, u.Expected, u.Confirmed.Version})
		}
		return a
	}
	if s.Snapshot.Version == view.Version {
		return nil // the record went, and nothing else
	}
	a.Kind, a.Commit = "RolledBack", rec.Plan.Rollback
	a.Outcomes = moved(before)
	return a
}

// auditOptimize: the record tells no commit, and nothing of how far it came.
func (s *State) auditOptimize(a *Audit, before []pin) {
	after := map[string]uint64{}
	for _, d := range s.Snapshot.Datasets {
		after[d.Path] = d.Version
	}
	a.Kind = "RolledForward"
	if none := len(moved(before)) == 0; none && before[0].expected == before[0].published {
		a.Kind = "RolledBack" // of nothing: the reference says so of an optimize that did nothing
		return
	}
	for _, p := range before {
		if p.head != p.published && after[p.folder] != p.head {
			a.Kind, a.Outcomes = "RolledBack", moved(before)
			return
		}
		a.Outcomes = append(a.Outcomes, Outcome{p.alias, p.expected, after[p.folder]})
	}
}

// pin is a table of a record as it was found.
type pin struct {
	alias, folder             string
	expected, published, head uint64
}

func pinsOf(t testing.TB, store blob.Store, view *manifest.View, rec *sidecar.Record) (out []pin) {
	t.Helper()
	for _, p := range rec.Pins {
		x := pin{alias: p.Alias, folder: strings.TrimPrefix(p.Path, Root+"/"), expected: p.Expected}
		if e, ok := view.ByIdentity(manifest.Identity(p.Identity)); ok {
			x.published = e.Version
		}
		x.head = Newest(t, store, x.folder, p.Branch)
		out = append(out, x)
	}
	return out
}

// moved are the tables whose newest version is not the published one, back to it.
func moved(pins []pin) (out []Outcome) {
	for _, p := range pins {
		if p.head != p.published {
			out = append(out, Outcome{p.alias, p.head, p.published})
		}
	}
	return out
}

// Newest is the newest version of a dataset on a branch; 0 = there is none.
func Newest(t testing.TB, store blob.Store, folder, branch string) (v uint64) {
	t.Helper()
	chain, err := lance.Versions(context.Background(), store, folder, lance.ListOptions{Branch: branch, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chain.Versions {
		v = max(v, c.Version)
	}
	return v
}

// SortOutcomes brings outcomes into one order: that of a record's tables is the
// order in which they were staged.
func SortOutcomes(o []Outcome) []Outcome {
	o = slices.Clone(o)
	slices.SortFunc(o, func(a, b Outcome) int { return cmp.Compare(a.Table, b.Table) })
	return o
}
