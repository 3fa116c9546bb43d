package screen

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

var errSlow = errors.New("reading node:Port: GET nodes/1f/data/7b.lance: 503 Slow Down after 4 attempts")

// graphCases are the screens of entities in every state.
var graphCases = []struct {
	name string
	make func(t testing.TB) *walk
}{
	{"entity/node", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load()
	}},
	{"entity/node-edge", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load().do(action.Down, action.Down)
	}},
	{"entity/dangling", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00000")).load().do(action.Down, action.Down)
	}},
	{"entity/edge", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("edge:CallsAt", call(1))).load()
	}},
	{"entity/edge-gone", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("edge:CallsAt", call(5))).load()
	}},
	{"entity/fields", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load().do(action.PrevTab)
	}},
	{"entity/in", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load().do(action.NextTab, action.NextTab)
	}},
	{"entity/filtered", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load().filter("edge:Registered")
	}},
	{"entity/loading", func(t testing.TB) *walk {
		b := newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001"))
		b.top().Start(b.e)
		return b
	}},
	{"entity/missing", func(t testing.TB) *walk { return newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-x")).load() }},
	{"entity/error", func(t testing.TB) *walk {
		w := fake.Harbor()
		w.Script = map[string]fake.Step{"Neighbors": {Err: errSlow}}
		return newWalk(t, w, NewEntity("node:Port", "port-00001")).load()
	}},
	{"entity/stale", func(t testing.TB) *walk {
		b := newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load()
		b.ws.Set("", fake.Step{Err: errSlow})
		b.answer(b.top().Reload(b.e))
		return b
	}},
	{"entity/truncated", func(t testing.TB) *walk { return newWalk(t, many(1000), NewEntity("node:Port", "port-00001")).load() }},
	{"entity/no-schema", func(t testing.TB) *walk {
		w := fake.Harbor()
		w.Contract = &engine.Schema{}
		return newWalk(t, w, NewEntity("node:Port", "port-00001")).load().do(action.Down)
	}},
	{"entity/wide", func(t testing.TB) *walk {
		return newWalk(t, wideNames(), NewEntity("node:港", "横浜\x1b[31m")).load().do(action.Down)
	}},
	{"find/hits", func(t testing.TB) *walk { return newWalk(t, fake.Harbor(), NewFind("port-00001")).load() }},
	{"find/nothing", func(t testing.TB) *walk { return newWalk(t, fake.Harbor(), NewFind("atlantis")).load() }},
	{"find/error", func(t testing.TB) *walk {
		w := fake.Harbor()
		w.Script = map[string]fake.Step{"Find": {Err: errSlow}}
		return newWalk(t, w, NewFind("port-00001")).load()
	}},
	{"compare/points", func(t testing.TB) *walk { return newWalk(t, fake.Harbor(), points()).load() }},
	{"compare/points-change", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), points()).load().do(action.Down, action.Down, action.Down, action.Down, action.Down)
	}},
	{"compare/points-all", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), points()).load().do(action.Bottom, action.Up, action.HideSame)
	}},
	{"compare/points-filtered", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), points()).load().filter("op:update depth")
	}},
	{"compare/same", func(t testing.TB) *walk {
		w := fake.Harbor()
		w.Compared = nil
		return newWalk(t, w, points()).load()
	}},
	{"compare/truncated", func(t testing.TB) *walk {
		w := fake.Harbor()
		d := *w.Compared
		d.Truncated = true
		w.Compared = &d
		return newWalk(t, w, points()).load()
	}},
	{"compare/error", func(t testing.TB) *walk {
		w := fake.Harbor()
		w.Script = map[string]fake.Step{"Diff": {Err: errSlow}}
		return newWalk(t, w, points()).load()
	}},
	{"compare/versions", func(t testing.TB) *walk { return newWalk(t, fake.Harbor(), versions("node:Port")).load() }},
	{"compare/versions-change", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), versions("node:Port")).load().do(action.Down)
	}},
	{"compare/manifest", func(t testing.TB) *walk {
		w := fake.Harbor()
		d := *w.ComparedV
		d.Table, d.Changes, d.Count = manifestTable, []engine.Change{}, engine.DiffCount{}
		w.ComparedV = &d
		return newWalk(t, w, versions(manifestTable)).load()
	}},
	{"compare/rows", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), rowPins("port-00001", "port-00002")).load().do(action.Down)
	}},
	{"compare/rows-hidden", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), rowPins("port-00001", "port-00002")).load().do(action.HideSame)
	}},
	{"compare/rows-missing", func(t testing.TB) *walk { return newWalk(t, fake.Harbor(), rowPins("port-00001", "port-x")).load() }},
	{"rows/table", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows")).load().do(action.Down)
	}},
	{"rows/words", func(t testing.TB) *walk {
		return newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows")).load().filter("yokohama pilotage")
	}},
	{"rows/condition", func(t testing.TB) *walk {
		return newWalk(t, matching(), NewTable("node:Port").Show("rows")).load().filter("name = 'Hamburg'")
	}},
	{"rows/condition-error", func(t testing.TB) *walk {
		b := newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows")).load()
		b.ws.Set("Rows", fake.Step{Err: errors.New("reading the condition: at character 1: there is no property nam; there is id, cranes, name")})
		return b.filter("nam = 'Hamburg'")
	}},
	{"rows/nothing", func(t testing.TB) *walk {
		return newWalk(t, matching(), NewTable("node:Port").Show("rows")).load().filter("name = 'Atlantis'")
	}},
}

// call is the id of a call of the sample graph.
func call(i int) string { return fmt.Sprintf("01KD8X%020d", i*7919+31) }

func points() Screen {
	return NewCompare(Pin{Kind: PinPoint, Label: "commit …467221", At: engine.At{Version: 120}}, Pin{Kind: PinPoint, Label: "main", At: engine.At{Branch: "main"}})
}

func versions(table string) Screen {
	return NewCompare(Pin{Kind: PinVersion, Table: table, Branch: "main", Version: 41}, Pin{Kind: PinVersion, Table: table, Branch: "main", Version: 42})
}

func rowPins(a, b string) Screen {
	return NewCompare(*rowPin("node:Port", a, engine.At{}), *rowPin("node:Port", b, engine.At{}))
}

// many is the sample graph with n edges around every node, and more behind.
func many(n int) *fake.Workspace {
	w := fake.Harbor()
	w.Around = func(_, id string) *engine.Neighbors {
		out := &engine.Neighbors{Truncated: true}
		for i := range n {
			out.Edges = append(out.Edges, engine.NeighborEdge{Type: "CallsAt", ID: call(i), From: fmt.Sprintf("9%06d", i*7+11), To: id})
		}
		return out
	}
	return w
}

// wideNames is a graph whose names are wide, long or hostile.
func wideNames() *fake.Workspace {
	w := fake.Harbor()
	long := strings.Repeat("とても長い名前", 40)
	w.Contract = &engine.Schema{Types: []engine.SchemaType{{Kind: "edge", Name: "寄港" + long, From: "港", To: "港"}}}
	w.Around = func(_, id string) *engine.Neighbors {
		return &engine.Neighbors{Edges: []engine.NeighborEdge{{Type: "寄港" + long, ID: "e\n\x1b]0;x\x07", From: id, To: "神戸" + long}, {Type: "寄港" + long, ID: "👩‍👩‍👦", From: id, To: id}}}
	}
	w.Page = func(table string, o engine.RowsOptions) *engine.RowPage {
		row := engine.Row{ID: "横浜\x1b[31m", Values: []engine.Cell{{Kind: engine.CellText, Text: "横浜"}, {Kind: engine.CellText, Text: long + "\n" + long}, {Kind: engine.CellNumber, Text: "NaN"}, {Kind: engine.CellList, Text: "[]"}, {Kind: engine.CellText}, {}}}
		return &engine.RowPage{Table: table, Columns: []string{"id", "名前" + long, "数", "list", "empty", "null"}, Types: []string{"String", "String", "F64?", "[String]?", "String?", long}, Rows: []engine.Row{row}}
	}
	return w
}

// matching is the sample graph whose rows heed a condition on the name.
func matching() *fake.Workspace {
	w := fake.Harbor()
	all := w.Page
	w.Page = func(table string, o engine.RowsOptions) *engine.RowPage {
		if o.Where == "" {
			return all(table, o)
		}
		p := *all(table, engine.RowsOptions{Limit: 200})
		var rows []engine.Row
		for _, r := range p.Rows {
			if strings.Contains(o.Where, r.Values[4].Text) {
				rows = append(rows, r)
			}
		}
		p.Rows, p.Truncated = rows, false
		return &p
	}
	return w
}

func TestGraphScreens(t *testing.T) {
	for _, c := range graphCases {
		for _, size := range [][2]int{{80, 21}, {120, 35}, {171, 55}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size[0], size[1]), func(t *testing.T) {
				golden.RequireEqual(t, []byte(c.make(t).text(size[0], size[1])))
			})
		}
	}
}

// TestGraphScreensFitEverySize: exactly h lines of w cells, whatever is shown.
func TestGraphScreensFitEverySize(t *testing.T) {
	for _, c := range pace.Every(t, 4, graphCases) {
		b := c.make(t)
		for _, w := range []int{20, 21, 33, 40, 59, 60, 79, 80, 99, 100, 101, 139, 160, 220} {
			for _, h := range []int{1, 2, 3, 4, 5, 7, 10, 17, 18, 19, 24, 70} {
				b.text(w, h)
			}
		}
		b.do(action.Flip)
		for _, w := range []int{20, 60, 100, 220} {
			for _, h := range []int{1, 2, 5, 18, 70} {
				b.text(w, h)
			}
		}
	}
}

// TestWalkingAnEdgeAndBack: from a row along an edge to the other end and its
// other end, and back to where one was, each with its selection.
func TestWalkingAnEdgeAndBack(t *testing.T) {
	b := newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows")).load()
	b.do(action.Down)
	rows := b.text(80, 21)
	b.do(action.Open, action.Down, action.Down, action.Down)
	port := b.top().(*Entity)
	l := *port.selected()
	atPort := b.text(80, 21)
	b.do(action.Open)
	vessel := b.top().(*Entity)
	if vessel.table != l.table || vessel.id != l.id {
		t.Fatalf("the edge leads to %s %s, expected %s %s", vessel.table, vessel.id, l.table, l.id)
	}
	found := false
	for i := range vessel.links {
		found = found || vessel.links[i].edgeID == l.edgeID && vessel.links[i].id == port.id
	}
	if !found {
		t.Errorf("from %s the edge %s does not lead back to %s: %+v", vessel.id, l.edgeID, port.id, vessel.links)
	}
	b.do(action.Down, action.OpenEdge)
	if e := b.top().(*Entity); !isEdge(e.table) || len(e.links) != 2 {
		t.Errorf("x opens %s with %d ends", e.table, len(e.links))
	}
	b.do(action.Back, action.Back)
	if got := b.text(80, 21); got != atPort {
		t.Errorf("back at the port:\n%s\nbefore:\n%s", got, atPort)
	}
	b.do(action.Back)
	if got := b.text(80, 21); got != rows {
		t.Errorf("back at the rows:\n%s\nbefore:\n%s", got, rows)
	}
}

// TestNothingIsReadThatIsNotShown: what stands at the other end of an edge is
// read when the edge is selected, and once.
func TestNothingIsReadThatIsNotShown(t *testing.T) {
	b := newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load()
	if n := b.ws.Asked("Entity"); n != 1 {
		t.Errorf("%d records were read for one entity", n)
	}
	b.do(action.Down)
	b.do(action.Up, action.Down)
	if n := b.ws.Asked("Entity"); n != 2 {
		t.Errorf("%d records were read for one entity and one neighbour", n)
	}
	before := b.ws.Asked("Rows")
	b.do(action.PrevTab, action.NextTab)
	if n := b.ws.Asked("Neighbors"); n != 1 || b.ws.Asked("Rows") != before {
		t.Errorf("the edges were read %d times", n)
	}
}

// TestAnotherMomentIsReadAnew: an entity that stays on the screen while the
// moment changes shows nothing of the moment before.
func TestAnotherMomentIsReadAnew(t *testing.T) {
	b := newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load()
	b.e.At = engine.At{Version: 7}
	reqs := b.top().Start(b.e)
	if s := b.top().(*Entity); s.around.Loaded() != s.record.Loaded() || !s.record.Loaded().IsZero() || len(reqs) < 2 {
		t.Errorf("after travelling %d questions are asked", len(reqs))
	}
	fixed := newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001").on(engine.At{Version: 3})).load()
	fixed.e.At = engine.At{Version: 7}
	if reqs := fixed.top().Start(fixed.e); len(reqs) != 0 {
		t.Errorf("an entity at its own moment is asked for again: %d questions", len(reqs))
	}
	if pin := fixed.top().(Pinner).Pin(fixed.e); pin.At.Version != 3 {
		t.Errorf("it is marked at %+v", pin.At)
	}
}

// TestAnEntityKeepsItsPlace: side, filter and selected edge.
func TestAnEntityKeepsItsPlace(t *testing.T) {
	b := newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001")).load().do(action.PrevTab, action.PrevTab).filter("edge:Registered").do(action.Down, action.Down)
	raw := b.top().(Keeper).Keep()
	again := newWalk(t, fake.Harbor(), NewEntity("node:Port", "port-00001"))
	again.top().(Keeper).Restore(raw)
	if got, want := again.load().text(80, 21), b.text(80, 21); got != want || !strings.Contains(got, "▸ ←") {
		t.Errorf("restored from %s:\n%s\nwas:\n%s", raw, got, want)
	}
	for _, bad := range []string{"", "[]", `{"side":99,"filter":"~(","key":"x"}`} {
		odd := newWalk(t, fake.Harbor(), NewEntity("edge:CallsAt", call(1)))
		odd.top().(Keeper).Restore(json.RawMessage(bad))
		odd.load().text(80, 21)
	}
}

func TestPlacesOfTheGraph(t *testing.T) {
	for place, want := range map[string]string{
		"node:Port/rows/a/b": "*screen.Entity", "edge:E/rows/x": "*screen.Entity", "find/a/b": "*screen.Find",
		"diff/main..review/ports": "*screen.comparePoints", "node:Port/rows": "*screen.Table",
	} {
		s, err := At(place)
		if err != nil || fmt.Sprintf("%T", s) != want {
			t.Errorf("%s is %T, %v; want %s", place, s, err, want)
			continue
		}
		if got := s.Place(); got != place {
			t.Errorf("%s says its place is %s", place, got)
		}
	}
	for _, bad := range []string{"find/", "node:Port/rows/", "diff/", "diff/a", "diff/..b", "diff/a.."} {
		if s, err := At(bad); err == nil {
			t.Errorf("%s is %T", bad, s)
		}
	}
}

func TestWhatIsMeantAsACondition(t *testing.T) {
	for text, want := range map[string]string{
		"name = 'x'": "asked", "id contains 'x'": "asked", "notes is null": "asked", "a >= 3 and not b": "wrong", "name = ": "wrong",
		"depth in (1, 2)": "asked", "rotterdam": "words", "name:x": "words", "depth_m:>100": "words", "~^a=b": "words", "!open": "words",
		"contains": "words", "is in": "words", "two words": "words", "": "words", "notes is nul": "words", "notes starts_with 3": "asked", "name contains": "wrong",
	} {
		meant, err := condition(text)
		got := "words"
		if meant && err == nil {
			got = "asked"
		} else if meant {
			got = "wrong"
		}
		if got != want {
			t.Errorf("%q is %s (%v), want %s", text, got, err, want)
		}
	}
}

// TestRowsKeepWhatWasThereUntilTheAnswer: a condition that fails or hangs takes
// nothing away, and one that is answered starts at its first row.
func TestRowsKeepWhatWasThereUntilTheAnswer(t *testing.T) {
	b := newWalk(t, matching(), NewTable("node:Port").Show("rows")).load()
	b.do(action.Down, action.Down, action.Down)
	f := b.top().(Filterer).SetFilter(b.e, "name = 'Hamburg'")
	if got := b.text(80, 21); !strings.Contains(got, "port-00003") || !strings.Contains(got, "the rows below are those before") {
		t.Errorf("while it is asked:\n%s", got)
	}
	b.effect(f)
	if got := b.text(80, 21); strings.Contains(got, "port-00003") || !strings.Contains(got, "29 that match") || !strings.Contains(got, "where name = 'Hamburg'") {
		t.Errorf("when it is answered:\n%s", got)
	}
	raw := b.top().(Keeper).Keep()
	again := newWalk(t, matching(), NewTable("node:Port").Show("rows"))
	again.top().(Keeper).Restore(raw)
	again.load()
	if got, want := again.text(80, 21), b.text(80, 21); got != want {
		t.Errorf("restored from %s:\n%s\nwas:\n%s", raw, got, want)
	}
	b.filter("")
	if got := b.text(80, 21); !strings.Contains(got, "48 210 recorded") {
		t.Errorf("without a condition:\n%s", got)
	}
}

// TestRowsRestoreAPlaceFarDown: the position is kept, and one behind the end is
// brought into the table.
func TestRowsRestoreAPlaceFarDown(t *testing.T) {
	for row, want := range map[int]string{5000: "port-05000", 1 << 30: "port-48209"} {
		raw, err := json.Marshal(map[string]any{"rows": map[string]any{"row": row, "hide": []string{"notes"}}})
		if err != nil {
			t.Fatal(err)
		}
		b := newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows"))
		b.top().(Keeper).Restore(raw)
		b.load()
		if got := b.text(200, 21); !strings.Contains(got, "▸ "+want) || strings.Contains(strings.SplitN(got, "│", 2)[0], "notes") {
			t.Errorf("restored at row %d:\n%s", row, got)
		}
	}
}

func TestWordsSearchWhatIsLoadedAndSaySo(t *testing.T) {
	b := newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows")).load().filter("port-00007")
	if got := b.text(80, 21); !strings.Contains(got, "1 of 200 loaded rows") || !strings.Contains(got, "words look in the loaded rows only") {
		t.Errorf("words:\n%s", got)
	}
	b.do(action.Bottom)
	if got := b.text(80, 21); !strings.Contains(got, "1 of 400 loaded rows") {
		t.Errorf("after G:\n%s", got)
	}
	b.filter("")
	if got := b.text(80, 21); !strings.Contains(got, "▸ port-00007") {
		t.Errorf("the selected row is lost:\n%s", got)
	}
}

// TestHistogramsAreComparedBucketByBucket: layouts tell only the sizes that
// they have.
func TestHistogramsAreComparedBucketByBucket(t *testing.T) {
	w := fake.Harbor()
	d := *w.ComparedV
	d.Before = &engine.Fragments{Histogram: []engine.Bucket{{From: 1, To: 1, Count: 3}, {From: 8, To: 15, Count: 4}}}
	d.After = &engine.Fragments{Histogram: []engine.Bucket{{From: 2, To: 3, Count: 6}, {From: 8, To: 15, Count: 5}}}
	w.ComparedV = &d
	got := newWalk(t, w, versions("node:Port")).load().do(action.Flip).text(80, 40)
	for label, want := range map[string][2]string{"1": {"3", "0"}, "2-3": {"0", "6"}, "8-15": {"4", "5"}} {
		found := 0
		for _, l := range strings.Split(got, "\n") {
			f := strings.Fields(strings.NewReplacer("█", "", "▋", "", "▌", "", "▍", "", "▎", "", "▏", "", "▊", "", "▉", "", "│", " ").Replace(l))
			if len(f) == 3 && f[0] == label {
				found++
				if f[1] != want[0] || f[2] != want[1] {
					t.Errorf("bucket %s is %v, want %v", label, f[1:], want)
				}
			}
		}
		if found != 1 {
			t.Errorf("bucket %s stands %d times:\n%s", label, found, got)
		}
	}
}

// TestTheColumnThatOrdersStandsBesideTheID, even when it was hidden.
func TestTheColumnThatOrdersStandsBesideTheID(t *testing.T) {
	b := newWalk(t, fake.Harbor(), NewTable("node:Port").Show("rows")).load()
	b.effect(b.top().(Chooser).SwitchColumn(b.e, 4)) // notes
	columns := b.top().(Sorter).SortColumns(b.e)
	for i, c := range columns {
		if c == "notes" {
			b.effect(b.top().(Sorter).SetSort(b.e, i, true))
		}
	}
	got := b.text(80, 21)
	if !strings.Contains(got, "by notes down") || !strings.Contains(got, "  id          notes") {
		t.Errorf("ordered:\n%s", got)
	}
	b.effect(b.top().(Sorter).SetSort(b.e, -1, false))
	if got := b.text(80, 21); strings.Contains(got, "by notes") || !strings.Contains(got, "  id          cranes") {
		t.Errorf("in the order of the data again:\n%s", got)
	}
}
