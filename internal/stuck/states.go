// Package stuck is for tests: the states that killed clients left
// (../shared/graphs/stuck), what the reference's own recovery made of each, and
// checks of a graph, whoever recovered it, against that truth.
//
// What must be true does not come from package txn: the rows, pins and records
// are those that were written down beside the states, and the row of the audit
// table is worked out from them and from the record alone (truth.go).
package stuck

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/fixtures"
)

// Root is the address at which the states were written.
const Root = "s3://lab/harbor"

// Ops are the operations of which there are states.
var Ops = []string{"branch-create", "insert-edge", "load-merge", "merge", "optimize", "schema-apply", "update-node"}

// Rows are the lines of an export: how many, and the hash of them sorted.
type Rows struct {
	Rows   int
	SHA256 string
}

// Dataset is a table as `snapshot --json` tells it.
type Dataset struct {
	Path    string  `json:"dataset_path"`
	Version uint64  `json:"published_dataset_version"`
	Branch  *string `json:"native_dataset_branch"`
	Count   uint64  `json:"entity_count"`
}

// State is what one killed client left, and what the reference made of it.
type State struct {
	Op      string
	K       int
	Refused string
	Removed []string
	Pending []string

	After        map[string]Rows // by branch
	Outcome      string          // as before, as completed
	PendingAfter []string        `json:"pending_after"`
	Snapshot     struct {        // of main
		Version  uint64 `json:"graph_manifest_version"`
		Datasets []Dataset
	} `json:"snapshot_after"`
	Open struct {
		RC    int
		Error string
	} `json:"writable_open"`

	Base  map[string][]byte // before the operation
	Files map[string][]byte // what is there
}

func (s *State) String() string { return fmt.Sprintf("%s %d (%s)", s.Op, s.K, s.Refused) }

// Locked: the lock of a schema apply is left. It stays (decisions 28).
func (s *State) Locked() bool {
	_, ok := s.Files["__manifest/_refs/branches/__schema_apply_lock__.json"]
	return ok
}

// Store keeps the state in memory, under an address of one's own.
func (s *State) Store(t testing.TB, url string) blob.Store {
	t.Helper()
	return StoreOf(t, url, s.Files)
}

// StoreOf keeps files in memory, under an address of one's own.
func StoreOf(t testing.TB, url string, files map[string][]byte) blob.Store {
	t.Helper()
	m, err := fixtures.Store(memstore.Options{Name: "stuck"}, files)
	if err != nil {
		t.Fatal(err)
	}
	return At(m, url)
}

// At gives a store another address.
func At(s blob.Store, url string) blob.Store { return at{s, url} }

// Clone is an independent copy of a store that this package made.
func Clone(s blob.Store) blob.Store {
	a := s.(at)
	return at{a.Store.(*memstore.Store).Clone(), a.url}
}

// Below is the store that At gave another address.
func Below(s blob.Store) blob.Store { return s.(at).Store }

type at struct {
	blob.Store
	url string
}

func (a at) Properties() blob.Properties {
	p := a.Store.Properties()
	p.URL = a.url
	return p
}

// Full: everything is asked for, not a sample.
func Full() bool { return os.Getenv("OMNIDECK_FULL") != "" }

// States are those of some operations, of all when none is named; nobody changes
// them. Without the folder that keeps them the test is skipped.
func States(t testing.TB, ops ...string) (out []*State) {
	t.Helper()
	if len(ops) == 0 {
		ops = Ops
	}
	kept.Lock()
	defer kept.Unlock()
	for _, op := range ops {
		if _, ok := kept.states[op]; !ok {
			kept.states[op] = statesOf(t, op)
		}
		out = append(out, kept.states[op]...)
	}
	return out
}

// kept are the operations unpacked so far.
var kept = struct {
	sync.Mutex
	states map[string][]*State
}{states: map[string][]*State{}}

func statesOf(t testing.TB, op string) []*State {
	t.Helper()
	var doc struct{ Cases []*State }
	if err := json.Unmarshal(read(t, op, "cases.json"), &doc); err != nil {
		t.Fatal(err)
	}
	own, err := fixtures.Shared("graphs", "stuck", op, "base.tar.gz")
	if err != nil {
		own = read(t, "base.tar.gz")
	}
	base := unpack(t, own)
	for _, s := range doc.Cases {
		s.Op, s.Base, s.Files = op, base, maps.Clone(base)
		maps.Copy(s.Files, unpack(t, read(t, op, fmt.Sprintf("%02d.tar.gz", s.K))))
		for _, key := range s.Removed {
			delete(s.Files, key)
		}
	}
	return doc.Cases
}

// One is the state of an operation whose k-th request was refused.
func One(t testing.TB, op string, k int) *State {
	t.Helper()
	for _, s := range States(t, op) {
		if s.K == k {
			return s
		}
	}
	t.Fatalf("no state %s %d", op, k)
	return nil
}

// Spread is a sample of about n states of every operation, the first and the
// last among them; all of them when everything is asked for.
func Spread(t testing.TB, n int, all []*State) (out []*State) {
	t.Helper()
	if Full() {
		return all
	}
	byOp := map[string][]*State{}
	for _, s := range all {
		byOp[s.Op] = append(byOp[s.Op], s)
	}
	for _, op := range slices.Sorted(maps.Keys(byOp)) {
		of := byOp[op]
		k := min(n, len(of))
		for i := range k {
			out = append(out, of[i*(len(of)-1)/max(k-1, 1)])
		}
	}
	t.Logf("%d of %d states; OMNIDECK_FULL=1 takes all", len(out), len(all))
	return out
}

func read(t testing.TB, name ...string) []byte {
	t.Helper()
	data, err := fixtures.Shared(append([]string{"graphs", "stuck"}, name...)...)
	if err != nil {
		t.Skipf("SKIPPED: the shared killed states are not here: %v", err)
	}
	return data
}

func unpack(t testing.TB, archive []byte) map[string][]byte {
	t.Helper()
	files, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Staged are keys of staged files of a schema.
func staged(keys []string) (out []string) {
	for _, k := range keys {
		if strings.HasSuffix(k, ".staging") {
			out = append(out, k)
		}
	}
	return out
}
