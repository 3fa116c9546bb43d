package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/omnideck/omnideck/internal/ojson"
)

// The objects of the contract, at the graph's root.
const (
	SourceKey = "_schema.pg"
	IRKey     = "_schema.ir.json"
	StateKey  = "__schema_state.json"
	Staging   = ".staging" // suffix of the staged twins
)

// Keys are the objects to fetch for Load; StagedKeys those that are normally
// absent.
var (
	Keys       = []string{SourceKey, IRKey, StateKey}
	StagedKeys = []string{SourceKey + Staging, IRKey + Staging, StateKey + Staging}
)

// File is one fetched object. Err wraps fs.ErrNotExist when it is not there;
// any other error means that it was not read and may be there.
type File struct {
	Data []byte
	Err  error
}

// Table is a live table as `__manifest` has it.
type Table struct {
	Alias       string // node:Port
	ID          uint64 // stable_table_id
	Incarnation uint64
}

// Published is what `__manifest` says: what the contract must fit.
type Published struct {
	Known  bool // false: the catalogue could not be read; nothing is compared
	Tables []Table
	// TargetIRHash is the IR hash that a pending schema apply published: set it
	// when such a sidecar's commit is on main. "" = none.
	TargetIRHash string
}

// Contract is the schema of a graph as far as it can be trusted.
type Contract struct {
	Source      string // text of _schema.pg, the staged one when Staged
	HasSource   bool
	IR          *IR     // nil: types are not known; Problems say why
	IRHash      string  // recomputed, "" without IR
	ShapeHash   string  // recomputed, "" without IR
	Marker      *Marker // nil when it cannot be read
	Staged      bool    // decisions 51: read with staged objects
	Unconfirmed string  // why the types are probable but not proven; "" = proven
	Problems    []Problem
}

// Marker is __schema_state.json.
type Marker struct {
	FormatVersion   uint64 // 2
	ShapeHash       string
	IRHash          string
	IdentityVersion uint64 // 2
	IdentityDomain  string
}

// markerVersion is the only format and identity version that is understood.
const markerVersion = 2

// Rule says in what way an object breaks the contract.
type Rule string

// The rules.
const (
	RuleMissing    Rule = "missing"    // it is not there
	RuleUnreadable Rule = "unreadable" // the store did not give it
	RuleSyntax     Rule = "syntax"     // it is no JSON, or of another form
	RuleSound      Rule = "sound"      // the IR contradicts itself
	RuleSource     Rule = "source"     // the text does not compile to the shape that the IR has
	RuleVersion    Rule = "version"    // a format or identity version that is not known
	RuleHash       Rule = "hash"       // recorded and recomputed hash differ
	RuleIdentity   Rule = "identity"   // IR and published tables differ
	RuleStaging    Rule = "staging"    // staged objects are there
)

// Problem is something wrong with the contract. It is an error.
type Problem struct {
	Key     string // object
	Rule    Rule
	Text    string // found, expected
	Refuses bool   // the Rust engine refuses the graph for it
}

func (p Problem) Error() string { return p.Key + ": " + p.Text }

// Load checks the objects against each other and against what is published.
// files holds Keys, and those of StagedKeys that exist. It never fails: a
// contract that cannot be trusted has no IR and says why.
func Load(files map[string]File, pub Published) *Contract {
	live := read(files, func(key string) string { return key })
	live.fit(pub)
	staged := slices.ContainsFunc(StagedKeys, func(k string) bool { return present(files, k) })
	if !staged {
		return live.judge(pub)
	}
	return withStaging(files, pub, live)
}

// withStaging decides between the live and the staged objects.
func withStaging(files map[string]File, pub Published, live *candidate) *Contract {
	next := read(files, func(key string) string {
		if present(files, key+Staging) {
			return key + Staging
		}
		return key
	})
	next.fit(pub)
	promote := next.sound() && next.fits(pub)
	if pub.TargetIRHash != "" {
		promote = promote && next.irHash == pub.TargetIRHash && live.irHashOrNone() != pub.TargetIRHash
	} else {
		promote = promote && !(live.sound() && live.fits(pub))
	}
	note := Problem{Key: strings.Join(presentOf(files, StagedKeys), ", "), Rule: RuleStaging, Refuses: promote}
	if promote {
		c := next.judge(pub)
		c.Staged = true
		note.Text = "a schema apply was published but its files were not put in place: the types shown are the staged ones, which are those published; recovery puts them in place"
		c.Problems = append(c.Problems, note)
		return c
	}
	c := live.judge(pub)
	note.Text = "files of a schema apply stand beside the live ones; the live contract is shown, recovery or the apply itself removes or promotes them"
	c.Problems = append(c.Problems, note)
	return c
}

func present(files map[string]File, key string) bool {
	f, ok := files[key]
	return ok && !errors.Is(f.Err, fs.ErrNotExist)
}

func presentOf(files map[string]File, keys []string) (out []string) {
	for _, k := range keys {
		if present(files, k) {
			out = append(out, k)
		}
	}
	return out
}

// ParseMarker reads __schema_state.json.
func ParseMarker(data []byte) (*Marker, error) {
	v, err := ojson.Parse(data)
	if err != nil {
		return nil, err
	}
	r := new(ojson.Reader)
	f := r.Open(v, "")
	mk := &Marker{
		FormatVersion: f.Uint("format_version", 32), ShapeHash: f.Str("schema_shape_hash"), IRHash: f.Str("schema_ir_hash"),
		IdentityVersion: f.Uint("schema_identity_version", 32), IdentityDomain: f.Str("schema_identity_domain"),
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return mk, nil
}

// readable gives the bytes of an object, or the problem with getting them.
func readable(files map[string]File, key string) ([]byte, *Problem) {
	f, ok := files[key]
	switch {
	case !ok || errors.Is(f.Err, fs.ErrNotExist):
		return nil, &Problem{key, RuleMissing, "the object is missing, expected the graph's accepted schema contract there; __manifest and the tables do not depend on it", true}
	case f.Err != nil:
		return nil, &Problem{key, RuleUnreadable, fmt.Sprintf("the object could not be read: %v", f.Err), true}
	case key == SourceKey && !utf8.Valid(f.Data):
		return nil, &Problem{key, RuleSyntax, "the text is not UTF-8", true}
	}
	return f.Data, nil
}
