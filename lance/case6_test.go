package lance_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
)

// TestCase6 is the case of two writers that insert the same new key; one pylance
// serves all of it.
func TestCase6(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), python(t), "testdata/case6.py")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(out)
	ask := func(t *testing.T, step ...string) string {
		t.Helper()
		if _, err := fmt.Fprintln(in, strings.Join(step, "\t")); err != nil || !answers.Scan() {
			t.Fatalf("pylance, %v: %v, %v\n%s", step, err, answers.Err(), stderr.String())
		}
		return answers.Text()
	}
	for name, f := range map[string]func(*testing.T, asking){
		"one new key": oneNewKey, "strict insert": strictInsert, "no filter": noFilter, "no mark": noMark,
	} {
		t.Run(name, func(t *testing.T) { f(t, ask) })
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Errorf("%v\n%s", err, stderr.String())
	}
}

// asking lets pylance do a step and returns its answer.
type asking func(t *testing.T, step ...string) string

// case6 is a table that two writers meet on, in a folder.
type case6 struct {
	t     *testing.T
	ask   asking
	dir   string
	store blob.Store
	n     int // of transactions
}

func newCase6(t *testing.T, ask asking, keyed bool) *case6 {
	t.Helper()
	dir := t.TempDir()
	c := &case6{t: t, ask: ask, dir: dir, store: local(t, dir)}
	mark := "plain"
	if keyed {
		mark = "keyed"
	}
	c.pylance("create", mark)
	return c
}

func (c *case6) pylance(step string, args ...string) string {
	c.t.Helper()
	return c.ask(c.t, append([]string{step, c.dir}, args...)...)
}

func (c *case6) at(version uint64) *lance.Snapshot {
	c.t.Helper()
	return open(c.t, c.store, "t", lance.OpenOptions{Version: version})
}

// rowsOf are a=1 and b=2, or some of them.
func (c *case6) rowsOf(ids ...string) lance.Rows {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil))
	defer b.Release()
	for _, id := range ids {
		b.Field(0).(*array.StringBuilder).Append(id)
		b.Field(1).(*array.Int64Builder).Append(int64(id[0] - 'a' + 1))
	}
	return lance.RowsOf(b.NewRecordBatch())
}

func (c *case6) options() lance.StageOptions {
	c.n++
	return lance.StageOptions{UUID: fmt.Sprintf("00000000-0000-4000-8000-%012d", c.n), Rand: seeded(c.n)}
}

// upsert writes a and b by key as we do, from a handle at a version; what
// conflicts is planned anew on the newest one. It returns the attempts and what
// the last one inserted and updated.
func (c *case6) upsert(version uint64) (attempts int, done string) {
	c.t.Helper()
	for s := c.at(version); ; s = c.at(0) {
		attempts++
		st, err := s.StageUpsert(c.t.Context(), c.rowsOf("a", "b"), lance.UpsertOptions{StageOptions: c.options()})
		if err != nil {
			c.t.Fatal(err)
		}
		var conflict *commit.ConflictError
		if _, _, err = st.Commit(c.t.Context(), lance.CommitOptions{}); err == nil {
			return attempts, fmt.Sprint(st.Inserted, " ", st.Updated)
		}
		if !errors.As(err, &conflict) || !conflict.Retryable || attempts == 3 {
			c.t.Fatal(err)
		}
	}
}

// oneNewKey: of two upserts of the same new keys from one version the
// second one updates, whoever wrote the first.
func oneNewKey(t *testing.T, ask asking) {
	for _, pair := range []string{"pylance pylance", "ours pylance", "pylance ours", "ours ours"} {
		c := newCase6(t, ask, true)
		first, second, _ := strings.Cut(pair, " ")
		for i, who := range []string{first, second} {
			done, attempts := "", i+1
			if who == "ours" {
				attempts, done = c.upsert(1)
			} else {
				done = c.pylance("upsert", "1")
			}
			if want := []string{"2 0", "0 2"}[i]; done != want || attempts != i+1 {
				t.Errorf("%s: upsert %d inserted and updated %s rows at attempt %d, want %s", pair, i+1, done, attempts, want)
			}
		}
		if got := c.pylance("rows"); got != "a=1 b=2 z=0" {
			t.Errorf("%s: %s", pair, got)
		}
		if rep, err := lance.Verify(t.Context(), c.at(0), lance.VerifyOptions{Deep: true, Keys: true, Refs: true}); err != nil || len(rep.Problems) > 0 {
			t.Errorf("%s: %+v, %v", pair, rep, err)
		}
	}
}

// strictInsert: an insert of keys that somebody inserted meanwhile is a
// conflict, and nothing is written; looked up, the keys are there.
func strictInsert(t *testing.T, ask asking) {
	for _, first := range []string{"ours", "pylance"} {
		c := newCase6(t, ask, true)
		st, err := c.at(1).StageInsert(t.Context(), c.rowsOf("b"), c.options())
		if err != nil {
			t.Fatal(err)
		}
		if first == "ours" {
			c.upsert(1)
		} else {
			c.pylance("upsert", "1")
		}
		var conflict *commit.ConflictError
		if _, _, err := st.Commit(t.Context(), lance.CommitOptions{}); !errors.As(err, &conflict) || conflict.Version != 2 {
			t.Errorf("after %s: %v", first, err)
		}
		s := c.at(0)
		found, err := s.FindText(t.Context(), "id", []string{"b", "c"}, lance.LookUpByScan)
		if err != nil || s.Version() != 2 || len(found.Rows["b"]) != 1 || len(found.Rows["c"]) != 0 {
			t.Errorf("after %s: version %d, %+v, %v", first, s.Version(), found, err)
		}
	}
}

// noFilter: rows that a foreign transaction added without a filter on
// the key may have our keys: we look again.
func noFilter(t *testing.T, ask asking) {
	for _, how := range []string{"append", "byvalue"} {
		c := newCase6(t, ask, true)
		st, err := c.at(1).StageInsert(t.Context(), c.rowsOf("a", "b"), c.options())
		if err != nil {
			t.Fatal(err)
		}
		c.pylance(how)
		if _, _, err := st.Commit(t.Context(), lance.CommitOptions{}); !errors.As(err, new(*commit.ConflictError)) {
			t.Errorf("%s: an insert: %v", how, err)
		}
		if attempts, done := c.upsert(1); attempts != 2 || done != "1 1" {
			t.Errorf("%s: attempt %d, %s", how, attempts, done)
		}
		if got := c.pylance("rows"); got != "a=1 b=2 z=0" {
			t.Errorf("%s: %s", how, got)
		}
	}
}

// noMark: without the mark pylance lets both insert. We do not write
// such a table by key, and tell every copy of a key that stands twice.
func noMark(t *testing.T, ask asking) {
	c := newCase6(t, ask, false)
	for range 2 {
		if done := c.pylance("upsert", "1"); done != "2 0" {
			t.Errorf("pylance inserted and updated %s", done)
		}
	}
	if got := c.pylance("rows"); got != "a=1 a=1 b=2 b=2 z=0" {
		t.Error(got)
	}
	s := c.at(0)
	if _, err := s.StageUpsert(t.Context(), c.rowsOf("a"), lance.UpsertOptions{StageOptions: c.options()}); err == nil || !strings.Contains(err.Error(), "only one column of text can be") {
		t.Errorf("upsert without a marked key: %v", err)
	}
	if rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true, Keys: true}); err != nil || len(rep.Problems) > 0 {
		t.Errorf("no key is known: %+v, %v", rep, err)
	}
	rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Deep: true, Keys: true, Key: "id"})
	if err != nil || len(rep.Problems) != 2 || rep.Clean() {
		t.Fatalf("%+v, %v", rep, err)
	}
	ids := numbersOf(t, collect(t, s.Scan(t.Context(), lance.ScanOptions{Columns: []string{"id"}, WithRowID: true, WithRowAddress: true})), lance.ColRowID)
	for i, key := range []string{"a", "b"} {
		p := rep.Problems[i]
		if p.ID != "duplicate-key" || p.RowsAffected != 2 || len(p.Copies) != 2 {
			t.Fatalf("%+v", p)
		}
		for k, row := range p.Copies {
			if row.Key != key || row.Fragment != uint64(k+1) || row.Address != row.Fragment<<32|row.Address&0xffffffff || !slices.Contains(ids, row.RowID) {
				t.Errorf("%s: %+v", key, row)
			}
			for _, want := range []string{"'" + key + "'", fmt.Sprintf("fragment %d", row.Fragment), fmt.Sprintf("row address %d", row.Address), fmt.Sprintf("row id %d", row.RowID)} {
				if !strings.Contains(p.Found, want) {
					t.Errorf("%q does not say %s", p.Found, want)
				}
			}
			rec, err := s.Take(t.Context(), []string{"id"}, []uint64{row.Address})
			if err != nil {
				t.Fatal(err)
			}
			if got := rec.Column(0).ValueStr(0); got != key {
				t.Errorf("%+v: %s", row, got)
			}
			rec.Release()
		}
	}
}
