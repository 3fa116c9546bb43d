package lance_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
	"github.com/omnideck/omnideck/lance/file"
	"github.com/omnideck/omnideck/lance/format"
)

// grown is a walk in memory with some rows, in several fragments.
func grown(t *testing.T, seed int) *walk {
	w := newWalk(t, memstore.New(memstore.Options{Name: "t"}), seed)
	for len(w.rows) < 40 || len(w.snap.Fragments()) < 3 {
		w.act()
	}
	return w
}

// renamed renames a column of every batch.
func renamed(rows lance.Rows, from, to string) lance.Rows {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for batch, err := range rows {
			if err == nil {
				fields := batch.Schema().Fields()
				for i := range fields {
					if fields[i].Name == from {
						fields[i].Name = to
					}
				}
				next := array.NewRecordBatch(arrow.NewSchema(fields, nil), batch.Columns(), batch.NumRows())
				batch.Release()
				batch = next
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}

// refusal is a change that cannot be staged.
type refusal struct {
	stage func() (*lance.Staged, error)
	class any    // error or a pointer to what As finds
	text  string // of the error
}

// refusals are changes of w that cannot be staged, by what is wrong with them.
func refusals(ctx context.Context, w *walk) map[string]refusal {
	old := w.some(3)
	addrs := w.addresses(old)
	far := &lance.RowsMissingError{}
	stop := errors.New("stop")
	failing := func(yield func(arrow.RecordBatch, error) bool) {
		if yield(batchOf(w.mem, w.people([]string{"a"}), false), nil) {
			yield(nil, stop)
		}
	}
	two := w.people([]string{"twin", "other", "twin"})
	o := lance.StageOptions{UUID: "refused"}
	up := lance.UpsertOptions{StageOptions: o}
	return map[string]refusal{
		"no uuid": {func() (*lance.Staged, error) {
			return w.snap.StageAppend(ctx, w.given(two, true), lance.StageOptions{})
		}, file.ErrInput, "no UUID"},
		"no rows":        {func() (*lance.Staged, error) { return w.snap.StageInsert(ctx, lance.RowsOf(), o) }, file.ErrInput, "no rows"},
		"append nothing": {func() (*lance.Staged, error) { return w.snap.StageAppend(ctx, lance.RowsOf(), o) }, file.ErrInput, "no rows"},
		"upsert nothing": {func() (*lance.Staged, error) { return w.snap.StageUpsert(ctx, lance.RowsOf(), up) }, file.ErrInput, "no rows"},
		"delete nothing": {func() (*lance.Staged, error) { return w.snap.StageDelete(ctx, nil, "", o) }, file.ErrInput, "no rows"},
		"lacks a column": {func() (*lance.Staged, error) {
			return w.snap.StageInsert(ctx, without(w.given(two, true), []string{"day"}), o)
		}, file.ErrInput, `no column "day"`},
		"lacks a blob": {func() (*lance.Staged, error) { return w.snap.StageInsert(ctx, w.given(two, false), o) }, file.ErrInput, `no column "photo"`},
		"another column": {func() (*lance.Staged, error) {
			return w.snap.StageUpsert(ctx, renamed(w.given(two, true), "photo", "picture"), up)
		}, file.ErrInput, `the column "picture", which the table has not`},
		"another type": {func() (*lance.Staged, error) {
			return w.snap.StageAppend(ctx, renamed(renamed(renamed(w.given(two, true), "n", "x"), "day", "n"), "x", "day"), o)
		}, file.ErrInput, "the schema has"},
		"key twice":      {func() (*lance.Staged, error) { return w.snap.StageInsert(ctx, w.given(two, true), o) }, file.ErrInput, `two rows have the key "twin"`},
		"upsert twice":   {func() (*lance.Staged, error) { return w.snap.StageUpsert(ctx, w.given(two, true), up) }, file.ErrInput, `two rows have the key "twin"`},
		"rows that fail": {func() (*lance.Staged, error) { return w.snap.StageInsert(ctx, failing, o) }, stop, "stop"},
		"upsert fails":   {func() (*lance.Staged, error) { return w.snap.StageUpsert(ctx, failing, up) }, stop, "stop"},
		"delete twice":   {func() (*lance.Staged, error) { return w.snap.StageDelete(ctx, append(addrs, addrs[0]), "", o) }, file.ErrInput, "named twice"},
		"delete nobody":  {func() (*lance.Staged, error) { return w.snap.StageDelete(ctx, append(addrs, 1<<40, 1<<20), "", o) }, &far, "2 of the rows"},
		"too few rows": {func() (*lance.Staged, error) {
			return w.snap.StageUpdate(ctx, addrs, w.given(w.people(old[:2]), true), o)
		}, file.ErrInput, "3 rows are to be replaced, and 2 are given"},
		"too many rows": {func() (*lance.Staged, error) {
			return w.snap.StageUpdate(ctx, addrs[:2], w.given(w.people(old), true), o)
		}, file.ErrInput, "more rows than the 2"},
		"names not drawn": {func() (*lance.Staged, error) {
			return w.snap.StageAppend(ctx, w.given(two, true), lance.StageOptions{UUID: "x", Rand: strings.NewReader("short")})
		}, nil, "names of files"},
	}
}

// TestStageRefuses: what cannot be staged is refused as what it is, and nothing
// is left in the store.
func TestStageRefuses(t *testing.T) {
	w := grown(t, 21)
	all := refusals(t.Context(), w)
	for _, name := range slices.Sorted(maps.Keys(all)) { // w draws in this order
		c := all[name]
		before := len(keysOf(t, w.store.(*memstore.Store)))
		staged, err := c.stage()
		if err == nil || staged != nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		switch class := c.class.(type) {
		case error:
			if !errors.Is(err, class) {
				t.Errorf("%s: %v is no %v", name, err, class)
			}
		case nil:
		default:
			if !errors.As(err, class) {
				t.Errorf("%s: %T", name, err)
			}
		}
		if n := len(keysOf(t, w.store.(*memstore.Store))); n != before {
			t.Errorf("%s: %d objects were left behind", name, n-before)
		}
	}
}

func keysOf(t *testing.T, s *memstore.Store) (out []string) {
	t.Helper()
	for e, err := range s.List(t.Context(), blob.ListOptions{Recursive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Key)
	}
	return out
}

// TestStageTables: what a table must be like to be written to.
func TestStageTables(t *testing.T) {
	w := grown(t, 22)
	o := lance.StageOptions{UUID: "x"}
	schema := people()
	schema.Fields[0].PrimaryKey, schema.Fields[0].Metadata = false, nil
	keyless, _, err := lance.Create(t.Context(), w.store, "keyless", lance.CreateOptions{Schema: schema, UUID: "c", Rows: w.given(w.people([]string{"a", "b"}), true), Allocator: w.mem})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keyless.StageInsert(t.Context(), w.given(w.people([]string{"c"}), true), o); !errors.Is(err, format.ErrUnsupported) {
		t.Errorf("a table without a key: %v", err)
	}
	if _, err := keyless.StageUpsert(t.Context(), w.given(w.people([]string{"c"}), true), lance.UpsertOptions{StageOptions: o}); !errors.Is(err, format.ErrUnsupported) {
		t.Errorf("a table without a key: %v", err)
	}
	staged, err := keyless.StageUpdate(t.Context(), []uint64{1}, w.given(w.people([]string{"b2"}), true), o)
	if err != nil || staged.Txn.GetUpdate().InsertedRows != nil {
		t.Errorf("by address: %v", err)
	}
	// The key stands in two rows.
	twice, err := w.snap.StageAppend(t.Context(), w.given(w.people(w.some(1)), true), o)
	if err != nil {
		t.Fatal(err)
	}
	doubled, _, err := twice.Commit(t.Context(), lance.CommitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o.UUID = "y"
	if _, err := doubled.StageUpsert(t.Context(), w.given(w.people(w.some(len(w.rows))), true), lance.UpsertOptions{StageOptions: o}); !errors.Is(err, file.ErrInput) || !strings.Contains(err.Error(), "stands in 2 rows already") {
		t.Errorf("a key that stands there twice: %v", err)
	}
	// Created twice.
	if _, _, err := lance.Create(t.Context(), w.store, "keyless", lance.CreateOptions{Schema: schema, UUID: "d", Allocator: w.mem}); !errors.As(err, new(*commit.ConflictError)) {
		t.Errorf("created twice: %v", err)
	}
}

// TestCertificate: the certificate stands on transactions that do nothing but
// insert, and on those only where it was asked for.
func TestCertificate(t *testing.T) {
	w := grown(t, 23)
	ctx := t.Context()
	o := lance.StageOptions{UUID: "x", Properties: map[string]string{"k": "v"}}
	fresh, mixed := w.people([]string{"n1", "n2"}), w.people(append(w.some(1), "n3"))
	for name, c := range map[string]struct {
		stage func(o lance.StageOptions) (*lance.Staged, error)
		has   bool
	}{
		"insert": {func(o lance.StageOptions) (*lance.Staged, error) {
			return w.snap.StageInsert(ctx, w.given(fresh, true), o)
		}, true},
		"upsert, all new": {func(o lance.StageOptions) (*lance.Staged, error) {
			return w.snap.StageUpsert(ctx, w.given(fresh, true), lance.UpsertOptions{StageOptions: o})
		}, true},
		"upsert": {func(o lance.StageOptions) (*lance.Staged, error) {
			return w.snap.StageUpsert(ctx, w.given(mixed, true), lance.UpsertOptions{StageOptions: o})
		}, false},
		"append": {func(o lance.StageOptions) (*lance.Staged, error) {
			return w.snap.StageAppend(ctx, w.given(fresh, true), o)
		}, false},
	} {
		for _, asked := range []bool{true, false} {
			o.InsertProperties = nil
			if asked {
				o.InsertProperties = map[string]string{"absent": "v1"}
			}
			staged, err := c.stage(o)
			if err != nil {
				t.Fatal(err)
			}
			p := staged.Txn.TransactionProperties
			if v, ok := p["absent"]; ok != (c.has && asked) || ok && v != "v1" || p["k"] != "v" {
				t.Errorf("%s, asked for %v: %v", name, asked, p)
			}
		}
	}
}

// TestCarryLimit: blobs that are kept are counted before they are read.
func TestCarryLimit(t *testing.T) {
	w := grown(t, 24)
	var all []*person
	for i, id := range w.some(3) {
		p := w.person(id)
		p.photo = make([]byte, 1000*(i+1))
		all = append(all, p)
	}
	w.step++
	staged, err := w.snap.StageUpsert(t.Context(), w.given(all, true), lance.UpsertOptions{StageOptions: w.options()})
	if err != nil {
		t.Fatal(err)
	}
	w.commit("upsert", staged, func() { w.moved(all) })
	var ids []string
	for _, p := range all {
		ids = append(ids, p.id)
	}
	addrs := w.addresses(ids)
	for limit, fits := range map[int64]bool{6000: true, 5999: false, 10: false} {
		staged, err := w.snap.StageUpdate(t.Context(), addrs, w.given(all, false), lance.StageOptions{UUID: "x", CarryBytes: limit})
		var over *lance.LimitError
		if fits != (err == nil) || !fits && (!errors.As(err, &over) || over.Limit != limit || over.Actual <= limit || staged != nil) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

// TestStagedRebase: two changes of one version. Other rows are taken in, the
// same rows and the same new keys are conflicts, and Exact takes nothing in.
func TestStagedRebase(t *testing.T) {
	w := grown(t, 25)
	ctx := context.Background()
	ids := w.some(6)
	addrs := w.addresses(ids)
	o := func(uuid string) lance.StageOptions { return lance.StageOptions{UUID: uuid, Rand: seeded(len(uuid))} }
	theirs, err := w.snap.StageDelete(ctx, addrs[:2], "theirs", o("theirs"))
	if err != nil {
		t.Fatal(err)
	}
	same, err := w.snap.StageDelete(ctx, addrs[1:3], "same", o("same"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.snap.StageUpdate(ctx, addrs[3:], w.given(w.people(ids[3:]), true), o("other"))
	if err != nil {
		t.Fatal(err)
	}
	exact, err := w.snap.StageAppend(ctx, w.given(w.people([]string{"n1"}), true), o("exact"))
	if err != nil {
		t.Fatal(err)
	}
	keyed, err := w.snap.StageInsert(ctx, w.given(w.people([]string{"n2"}), true), o("keyed"))
	if err != nil {
		t.Fatal(err)
	}
	rival, err := w.snap.StageUpsert(ctx, w.given(w.people([]string{"n2"}), true), lance.UpsertOptions{StageOptions: o("rival")})
	if err != nil {
		t.Fatal(err)
	}
	rows := uint64(len(w.rows))
	for i, c := range []struct {
		staged   *lance.Staged
		exact    bool
		conflict bool
		rows     uint64
	}{
		{theirs, true, false, rows - 2}, {theirs, true, false, rows - 2}, {same, false, true, 0}, {exact, true, true, 0},
		{other, false, false, rows - 2}, {keyed, false, false, rows - 1}, {rival, false, true, 0},
	} {
		s, done, err := c.staged.Commit(ctx, lance.CommitOptions{Exact: c.exact, Now: w.now})
		var conflict *commit.ConflictError
		if c.conflict != errors.As(err, &conflict) || !c.conflict && err != nil {
			t.Errorf("%s: %v", c.staged.UUID(), err)
			continue
		}
		if err != nil {
			continue
		}
		if done.Found != (i == 1) {
			t.Errorf("%s: found %v", c.staged.UUID(), done.Found)
		}
		n := collect(t, s.Scan(ctx, lance.ScanOptions{Columns: []string{"id"}, WithRowAddress: true})).rows
		rep, err := lance.Verify(ctx, s, lance.VerifyOptions{Deep: true})
		if err != nil || len(rep.Problems) > 0 || uint64(n) != c.rows {
			t.Errorf("%s: %d rows, want %d; %+v, %v", c.staged.UUID(), n, c.rows, rep, err)
		}
	}
}
