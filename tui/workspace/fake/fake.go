// Package fake is a workspace that answers from a script: what each question
// returns, how long it takes, whether it fails, hangs or panics. Tests use it
// to show every state of a screen.
package fake

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Step is what one kind of question does.
type Step struct {
	Delay time.Duration // time until the answer, all requests included
	Err   error
	Hang  bool // no answer until the context ends
	Deaf  bool // with Hang: not even then, only when Release is called
	Panic string
	Get   int64 // requests that it counts
	List  int64
	Bytes int64
	Hops  int
	Put   int64
}

// Workspace answers from its fields. Set them before use; a nil answer is
// given as it is.
type Workspace struct {
	Address  string
	IsRemote bool

	InfoAnswer *engine.Info
	BranchList []engine.Branch
	Tables     *engine.Snapshot
	Log        []engine.LogEntry
	Chains     map[string]*engine.Versions
	Layouts    map[string]*engine.Fragments
	Page       func(table string, o engine.RowsOptions) *engine.RowPage
	Contract   *engine.Schema
	Around     func(typ, id string) *engine.Neighbors // edges of an entity
	Hits       func(id string) []engine.Hit
	Compared   *engine.Diff
	ComparedV  *engine.VersionDiff
	Bytes      []byte // of every object
	Ledger     []cost.Entry
	Detail     cost.Trace // of every meter; the zero value: made up from the steps

	// Writing says what writes come to, and Recovering what recoveries do.
	Writing    Writing
	Recovering Recovering

	// Script says what the questions do, by method name; "" is for all others.
	Script map[string]Step

	mu       sync.Mutex
	asked    map[string]int
	closed   int
	released chan struct{}
}

// Release lets deaf questions return.
func (w *Workspace) Release() {
	ch := w.gate()
	close(ch)
}

func (w *Workspace) gate() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.released == nil {
		w.released = make(chan struct{})
	}
	return w.released
}

// Asked is how often a method was called.
func (w *Workspace) Asked(method string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[method]
}

// Closed is how often Close was called.
func (w *Workspace) Closed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// Set changes the step of a method while the program runs.
func (w *Workspace) Set(method string, s Step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Script == nil {
		w.Script = map[string]Step{}
	}
	w.Script[method] = s
}

func (w *Workspace) step(ctx context.Context, method string) error {
	w.mu.Lock()
	if w.asked == nil {
		w.asked = map[string]int{}
	}
	w.asked[method]++
	s, ok := w.Script[method]
	if !ok {
		s = w.Script[""]
	}
	w.mu.Unlock()
	end := underway(ctx, s)
	defer end()
	if s.Panic != "" {
		panic(s.Panic)
	}
	if s.Hang && s.Deaf {
		<-w.gate()
		return ctx.Err()
	}
	if s.Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.Delay > 0 {
		select {
		case <-time.After(s.Delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Err
}

func answer[T any](ctx context.Context, w *Workspace, method string, v T) (T, error) {
	if err := w.step(ctx, method); err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// missing is the answer about a table that the script does not know.
func missing[T any](ctx context.Context, w *Workspace, method, table string) (T, error) {
	var none T
	if err := w.step(ctx, method); err != nil {
		return none, err
	}
	return none, &engine.NotFoundError{What: "table", Name: table}
}

// URI implements workspace.Workspace.
func (w *Workspace) URI() string { return w.Address }

// Remote implements workspace.Workspace.
func (w *Workspace) Remote() bool { return w.IsRemote }

// Info implements workspace.Workspace.
func (w *Workspace) Info(ctx context.Context, _ engine.At) (*engine.Info, error) {
	return answer(ctx, w, "Info", w.InfoAnswer)
}

// Branches implements workspace.Workspace.
func (w *Workspace) Branches(ctx context.Context) ([]engine.Branch, error) {
	return answer(ctx, w, "Branches", w.BranchList)
}

// BranchNames implements workspace.Workspace.
func (w *Workspace) BranchNames(ctx context.Context) ([]string, error) {
	var names []string
	for _, b := range w.BranchList {
		names = append(names, b.Name)
	}
	return answer(ctx, w, "BranchNames", names)
}

// Snapshot implements workspace.Workspace.
func (w *Workspace) Snapshot(ctx context.Context, _ engine.At) (*engine.Snapshot, error) {
	return answer(ctx, w, "Snapshot", w.Tables)
}

// History implements workspace.Workspace.
func (w *Workspace) History(ctx context.Context, limit int) (*engine.Log, error) {
	log := w.Log
	if limit > 0 && len(log) > limit {
		log = log[:limit]
	}
	return answer(ctx, w, "History", engine.LogOf(log))
}

// Versions implements workspace.Workspace.
func (w *Workspace) Versions(ctx context.Context, table, _ string, o engine.VersionsOptions) (*engine.Versions, error) {
	v := w.Chains[table]
	if v == nil {
		return missing[*engine.Versions](ctx, w, "Versions", table)
	}
	cut := *v
	cut.Versions = append([]engine.Version(nil), v.Versions...)
	if o.Limit > 0 && len(cut.Versions) > o.Limit {
		cut.Versions = cut.Versions[:o.Limit]
	}
	for i := range cut.Versions {
		x := &cut.Versions[i]
		if !o.Details || o.Newest > 0 && i >= o.Newest {
			x.Operation, x.Rows, x.Fragments, x.Transaction, x.Writer, x.DataBytes, x.AddedBytes = "", nil, nil, "", "", nil, nil
		}
		if !o.Holders {
			x.HeldBy = []engine.Holder{}
		}
	}
	return answer(ctx, w, "Versions", &cut)
}

// Fragments implements workspace.Workspace.
func (w *Workspace) Fragments(ctx context.Context, table string, _ engine.At) (*engine.Fragments, error) {
	v := w.Layouts[table]
	if v == nil {
		return missing[*engine.Fragments](ctx, w, "Fragments", table)
	}
	return answer(ctx, w, "Fragments", v)
}

// Rows implements workspace.Workspace.
func (w *Workspace) Rows(ctx context.Context, table string, _ engine.At, o engine.RowsOptions) (*engine.RowPage, error) {
	var page *engine.RowPage
	if w.Page != nil {
		page = w.Page(table, o)
	}
	return answer(ctx, w, "Rows", page)
}

// Schema implements workspace.Workspace.
func (w *Workspace) Schema(ctx context.Context) (*engine.Schema, error) {
	return answer(ctx, w, "Schema", w.Contract)
}

// Entity implements workspace.Workspace: a row of the first page.
func (w *Workspace) Entity(ctx context.Context, table, id string, _ engine.At) (*engine.RowPage, error) {
	if w.Page != nil {
		p := *w.Page(table, engine.RowsOptions{Limit: 200})
		for _, r := range p.Rows {
			if r.ID == id {
				p.Rows = []engine.Row{r}
				if name, edge := strings.CutPrefix(table, "edge:"); edge {
					p.Ends = w.ends()[name]
				}
				return answer(ctx, w, "Entity", &p)
			}
		}
	}
	if err := w.step(ctx, "Entity"); err != nil {
		return nil, err
	}
	return nil, &engine.NotFoundError{What: "entity", Name: id, Where: "in " + table}
}

// Neighbors implements workspace.Workspace.
func (w *Workspace) Neighbors(ctx context.Context, typ, id string, _ engine.At, _ engine.NeighborsOptions) (*engine.Neighbors, error) {
	n := &engine.Neighbors{Edges: []engine.NeighborEdge{}, Nodes: []engine.Hit{}}
	if w.Around != nil {
		around := *w.Around(typ, id)
		around.Ends = w.ends()
		n = &around
	}
	return answer(ctx, w, "Neighbors", n)
}

// ends are those of the edge types of Contract.
func (w *Workspace) ends() map[string]engine.Ends {
	out := map[string]engine.Ends{}
	if w.Contract == nil {
		return out
	}
	for _, t := range w.Contract.Types {
		if t.Kind == "edge" {
			out[t.Name] = engine.Ends{From: t.From, To: t.To}
		}
	}
	return out
}

// Find implements workspace.Workspace.
func (w *Workspace) Find(ctx context.Context, id string, _ engine.At) ([]engine.Hit, error) {
	hits := []engine.Hit{}
	if w.Hits != nil {
		hits = w.Hits(id)
	}
	return answer(ctx, w, "Find", hits)
}

// Diff implements workspace.Workspace.
func (w *Workspace) Diff(ctx context.Context, a, b engine.At, _ engine.DiffOptions) (*engine.Diff, error) {
	if w.Compared == nil {
		return answer(ctx, w, "Diff", &engine.Diff{A: a, B: b, Counts: []engine.DiffCount{}, Changes: []engine.Change{}})
	}
	return answer(ctx, w, "Diff", w.Compared)
}

// DiffVersions implements workspace.Workspace.
func (w *Workspace) DiffVersions(ctx context.Context, table, _ string, _, _ uint64, _ engine.DiffOptions) (*engine.VersionDiff, error) {
	if w.ComparedV == nil {
		return missing[*engine.VersionDiff](ctx, w, "DiffVersions", table)
	}
	return answer(ctx, w, "DiffVersions", w.ComparedV)
}

// ResolveAt implements workspace.Workspace: text is a branch, or a commit.
func (w *Workspace) ResolveAt(ctx context.Context, text, branch string) (engine.At, error) {
	return answer(ctx, w, "ResolveAt", w.resolved(text, branch))
}

// ResolveAll implements workspace.Workspace.
func (w *Workspace) ResolveAll(ctx context.Context, branch string, texts ...string) ([]engine.At, error) {
	out := make([]engine.At, len(texts))
	for i, text := range texts {
		out[i] = w.resolved(text, branch)
	}
	return answer(ctx, w, "ResolveAll", out)
}

func (w *Workspace) resolved(text, branch string) engine.At {
	for _, b := range w.BranchList {
		if b.Name == text {
			return engine.At{Branch: text}
		}
	}
	return engine.At{Branch: branch, Commit: text}
}

// Object implements workspace.Workspace.
func (w *Workspace) Object(ctx context.Context, key string, n int) (*engine.Object, error) {
	return answer(ctx, w, "Object", &engine.Object{Key: key, Size: int64(len(w.Bytes)), Bytes: w.Bytes[:min(n, len(w.Bytes))]})
}

// WriteRows implements workspace.Workspace: the ids of the first page.
func (w *Workspace) WriteRows(ctx context.Context, out io.Writer, table string, _ engine.At, o engine.RowsOptions) (int, error) {
	n := 0
	if w.Page != nil {
		for _, r := range w.Page(table, o).Rows {
			if _, err := io.WriteString(out, r.ID+"\n"); err != nil {
				return n, err
			}
			n++
		}
	}
	return answer(ctx, w, "WriteRows", n)
}

// Operations implements workspace.Workspace.
func (w *Workspace) Operations(ctx context.Context, n int) ([]cost.Entry, error) {
	return answer(ctx, w, "Operations", w.Ledger[max(0, len(w.Ledger)-n):])
}

// Close implements workspace.Workspace.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed++
	return nil
}

type scopeKey struct{}

type scope struct {
	m     *meter
	outer *scope
}

// Scope implements workspace.Workspace.
func (w *Workspace) Scope(ctx context.Context) (context.Context, workspace.Meter) {
	outer, _ := ctx.Value(scopeKey{}).(*scope)
	m := &meter{t: w.Detail}
	return context.WithValue(ctx, scopeKey{}, &scope{m, outer}), m
}

// underway counts the requests of a step as in flight; the returned function ends
// them.
func underway(ctx context.Context, s Step) func() {
	n, began := int(s.Get+s.List+s.Put), time.Now()
	each := func(f func(*meter)) {
		for sc, _ := ctx.Value(scopeKey{}).(*scope); sc != nil; sc = sc.outer {
			sc.m.mu.Lock()
			f(sc.m)
			sc.m.mu.Unlock()
		}
	}
	each(func(m *meter) { m.r.InFlight += n })
	return func() {
		ended := time.Now()
		each(func(m *meter) {
			r := &m.r
			r.InFlight -= n
			r.Get += s.Get
			r.List += s.List
			r.Put += s.Put
			r.BytesRead += s.Bytes
			r.Hops = max(r.Hops, s.Hops)
			if s.Err != nil {
				r.Failed++
			}
			m.take(s, began, ended)
		})
	}
}

var _ workspace.Workspace = (*Workspace)(nil)
