package arch

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// floors lists the rooms from the roof to the cellar. A room may import only
// from floors below its own, or from inside itself. A longer prefix wins.
var floors = [][]string{
	{"."},
	{"cli"},
	{"tui"},
	{"engine"},
	{"maintenance", "branches"},
	{"recovery"},
	{"txn"},
	{"manifest"},
	{"query"},
	{"schema"},
	{"lance"},
	{"lance/file", "lance/refs", "lance/index", "lance/commit", "lance/compact", "lance/cleanup"},
	{"lance/format", "lance/encoding", "lance/rowid", "lance/deletion"},
	{"lance/pb", "lance/encoding/corrupt"},
	{"cost"},
	{"blob"},
}

// aside are rooms that stand beside the house: anyone's tests may use them,
// and they may use anything. The value names the rooms whose shipped code may
// import them too.
var aside = map[string][]string{
	"fixtures": {"cli"}, // the graph behind demo:
	"golden":   {},
	"internal": {"schema", "query", "manifest", "txn", "recovery", "engine", "tui", "cli"},
}

// codecs are pure functions of bytes.
var codecs = []string{"lance/format", "lance/encoding", "lance/rowid", "lance/deletion", "txn/sidecar"}

func within(room, of string) bool { return room == of || strings.HasPrefix(room, of+"/") }

// floorOf returns the floor of a room, counted from the roof, and the room's
// name in the plan; -1 for a room that the plan does not know.
func floorOf(room string) (int, string) {
	floor, name := -1, ""
	for i, rooms := range floors {
		for _, r := range rooms {
			if (room == r || r != "." && within(room, r)) && len(r) > len(name) {
				floor, name = i, r
			}
		}
	}
	return floor, name
}

func asideOf(room string) (string, bool) {
	for r := range aside {
		if within(room, r) {
			return r, true
		}
	}
	return "", false
}

func TestImportsPointDown(t *testing.T) {
	for _, s := range tree(t) {
		if _, ok := asideOf(s.room); ok || s.test {
			continue
		}
		from, fromName := floorOf(s.room)
		if from < 0 {
			t.Errorf("%s: the room %s is not on the plan in internal/arch", s.path, s.room)
			continue
		}
		for _, imp := range s.imports {
			checkImport(t, s, imp, from, fromName)
		}
	}
}

func checkImport(t *testing.T, s source, imp string, from int, fromName string) {
	t.Helper()
	if imp == "C" {
		t.Errorf("%s imports C: the product is pure Go", s.path)
	}
	if r, ok := asideOf(imp); ok {
		if imp == "internal/lex" || imp == "internal/beside" || slices.Contains(aside[r], fromName) {
			return
		}
		t.Errorf("%s imports %s, which only tests may use (allowed for: %v)", s.path, imp, aside[r])
		return
	}
	to, toName := floorOf(imp)
	if to < 0 || fromName == toName {
		return // another module, or the same room
	}
	if to <= from {
		t.Errorf("%s: %s imports %s: imports point down the plan, never up or sideways", s.path, s.room, imp)
	}
}

func TestTUISeesOnlyEngineAndCost(t *testing.T) {
	for _, s := range tree(t) {
		if !within(s.room, "tui") || s.test {
			continue
		}
		for _, imp := range s.imports {
			if _, name := floorOf(imp); name != "" && name != "tui" && name != "engine" && name != "cost" {
				t.Errorf("%s imports %s: a screen knows the engine and the cost model, nothing below", s.path, imp)
			}
		}
	}
}

func TestCodecsArePure(t *testing.T) {
	banned := []string{"context", "os", "net", "math/rand", "math/rand/v2", "crypto/rand", "blob", "cost", "syscall"}
	for _, s := range tree(t) {
		if s.test || !slices.ContainsFunc(codecs, func(c string) bool { return within(s.room, c) }) {
			continue
		}
		for _, imp := range s.imports {
			if slices.Contains(banned, imp) || within(imp, "blob") || strings.HasPrefix(imp, "net/") {
				t.Errorf("%s imports %s: a codec is a function of bytes", s.path, imp)
			}
		}
		for _, c := range calls(s, "time") {
			if c == "Now" || c == "Since" || c == "Sleep" {
				t.Errorf("%s calls time.%s: a codec has no clock", s.path, c)
			}
		}
	}
}

// calls lists the functions of package pkg that a file calls or mentions.
func calls(s source, pkg string) []string {
	var out []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
				out = append(out, sel.Sel.Name)
			}
		}
		return true
	})
	return out
}

// onBehalf are the files of rooms that write to a store on behalf of txn, which
// is the only one to set them going, and what they call there.
var onBehalf = map[string][]string{
	// Transaction, deletion and hint files; the manifest; what a lost attempt made.
	"lance/commit/store.go": {"Put", "PutImmutable", "PutIfAbsent", "Delete"},
	// Data files, side-cars and deletion files of a staged transaction, under
	// random names that no version knows yet. Nothing is replaced or deleted.
	"lance/upload.go": {"PutImmutable"},
	// What recovery has shown that it removes: a fork's ref and tree, a dataset that
	// a schema apply began.
	"lance/refs/remove.go": {"Delete"},
	// The schema files of a schema apply that was published, or is taken back: the
	// leaf rooms of recovery write what no transaction holds.
	"recovery/promote/files.go": {"Put", "Delete"},
	// What a user set aside: copied under a name of its own, and then removed.
	"recovery/aside/move.go": {"PutIfAbsent", "Delete"},
}

// mayCommit are the rooms whose shipped code may import lance/commit.
var mayCommit = []string{"lance", "manifest", "txn", bookOfRecoveries}

// bookOfRecoveries keeps a dataset that is no part of the graph: `__manifest` does
// not know it, and no row of the graph is in it.
const bookOfRecoveries = "recovery/audit"

// TestOneCallerOfTheCAS: what is visible changes by manifest.Publish, and a graph
// begins by manifest.Create. Only txn calls them. Below it, only manifest stages
// a change of a dataset.
func TestOneCallerOfTheCAS(t *testing.T) {
	for _, s := range tree(t) {
		if s.test || within(s.room, "txn") || within(s.room, "internal") {
			continue
		}
		for _, c := range calls(s, "manifest") {
			if c == "Publish" || c == "Create" {
				t.Errorf("%s mentions manifest.%s: only txn makes anything visible", s.path, c)
			}
		}
		if within(s.room, "lance") || s.room == "manifest" || s.room == bookOfRecoveries || !slices.Contains(s.imports, "lance") {
			continue
		}
		if slices.Contains(calls(s, "lance"), "CommitOptions") {
			t.Errorf("%s mentions lance.CommitOptions: only txn and manifest commit what was staged", s.path)
		}
		if slices.Contains(calls(s, "lance"), "Create") {
			t.Errorf("%s mentions lance.Create: only txn and manifest make datasets", s.path)
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "Stage") && sel.Sel.IsExported() {
				t.Errorf("%s: %s: only txn and manifest stage transactions", s.fset.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	}
}

// TestOneDoorForWrites: outside the store's own room, only txn may call the
// writing half of the store contract, and what it does so through. fixtures
// fill stores in memory.
func TestOneDoorForWrites(t *testing.T) {
	writes := []string{"PutIfAbsent", "PutImmutable", "Put", "Delete"}
	for _, s := range tree(t) {
		if s.test || within(s.room, "blob") || within(s.room, "txn") || within(s.room, "fixtures") || within(s.room, "internal") {
			continue
		}
		if slices.Contains(s.imports, "lance/commit") && !slices.Contains(mayCommit, s.room) {
			t.Errorf("%s imports lance/commit: commits go through %v", s.path, mayCommit)
		}
		if !slices.ContainsFunc(s.imports, func(i string) bool { return within(i, "blob") }) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(writes, sel.Sel.Name) && len(call.Args) >= 2 && !slices.Contains(onBehalf[s.path], sel.Sel.Name) {
				t.Errorf("%s: %s.%s: only txn writes to a store", s.fset.Position(call.Pos()), s.room, sel.Sel.Name)
			}
			return true
		})
	}
}

// TestOneJudgeOfHeads: what a newest version above the published one means is
// asked of txn (Judge, Interpret), and compared nowhere else (decisions 25).
// Nothing but names tells which numbers are compared: one side speaks of a head
// or the newest, the other of a pin or what is published or expected; or a version
// is ordered against one of these. Package lance does not know what is published,
// so that its heads are only the ends of chains.
func TestOneJudgeOfHeads(t *testing.T) {
	found := 0
	for _, s := range tree(t) {
		judges := within(s.room, "txn")
		if s.test || within(s.room, "lance") || within(s.room, "blob") || within(s.room, "internal") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			b, ok := n.(*ast.BinaryExpr)
			if !ok || !slices.Contains([]token.Token{token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ}, b.Op) {
				return true
			}
			x, y := words(b.X), words(b.Y)
			order := b.Op != token.EQL && b.Op != token.NEQ // a version that equals the head is the row of the head
			head, pin := both(x, y, headWords, pinWords), order && both(x, y, []string{"version"}, append(headWords, pinWords...))
			if head || pin {
				if found++; !judges {
					t.Errorf("%s: a head is compared with a version: ask txn.Judge or txn.Interpret", s.fset.Position(b.Pos()))
				}
			}
			return true
		})
	}
	if found < 5 {
		t.Errorf("only %d comparisons of heads found, all in txn: the names changed, and this test looks past them", found)
	}
}

var (
	headWords = []string{"head", "newest"}
	pinWords  = []string{"pin", "published", "expected"}
)

// both: one expression has a word of one list, the other one of the second.
func both(x, y, a, b []string) bool { return says(x, a) && says(y, b) || says(y, a) && says(x, b) }

// words are the names in an expression, as the words that they consist of.
func words(e ast.Expr) (out []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		from := 0
		for i, r := range id.Name {
			if i > from && unicode.IsUpper(r) {
				out, from = append(out, strings.ToLower(id.Name[from:i])), i
			}
		}
		out = append(out, strings.ToLower(id.Name[from:]))
		return true
	})
	return out
}

func says(names, any []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(any, n) })
}

func TestEveryPackageIsDescribed(t *testing.T) {
	said := map[string]bool{}
	for _, s := range tree(t) {
		if s.test {
			continue
		}
		said[s.room] = said[s.room] || s.file.Doc != nil || s.made
	}
	for room, ok := range said {
		if !ok {
			t.Errorf("no file of %s has a package comment", room)
		}
	}
}

func TestNoMarksOfUnfinishedWork(t *testing.T) {
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK", "not implemented " + "yet", "for " + "now,"}
	for _, s := range tree(t) {
		for _, group := range s.file.Comments {
			for _, m := range marks {
				if strings.Contains(group.Text(), m) {
					t.Errorf("%s: a comment says %q", s.fset.Position(group.Pos()), m)
				}
			}
		}
	}
}

// TestArchitecturePageNamesTheRooms: ARCHITECTURE.md is the living copy of the
// plan, so every room with code stands on it and every room on it has code.
func TestArchitecturePageNamesTheRooms(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(rootDir(t), "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	rooms := map[string]bool{}
	for _, s := range tree(t) {
		if !s.test && s.room != "." {
			rooms[s.room] = true
		}
	}
	for room := range rooms {
		if !strings.Contains(string(page), "`"+room+"`") {
			t.Errorf("ARCHITECTURE.md does not name `%s`", room)
		}
	}
	for _, line := range strings.Split(string(page), "\n") {
		name, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, "`")
		if name != "main.go" && !rooms[name] {
			t.Errorf("ARCHITECTURE.md names `%s`, which has no code", name)
		}
	}
}
