package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
	"github.com/omnideck/omnideck/tui/workspace"
)

// onGraph runs a test on a bench over the embedded graph, which can be written
// to.
func onGraph(t *testing.T, place string, w, h int, test func(b *bench)) {
	t.Helper()
	files, err := fixtures.Graph(fixtures.Demo)
	if err != nil {
		t.Fatal(err)
	}
	onFiles(t, files, place, w, h, test)
}

func onFiles(t *testing.T, files map[string][]byte, place string, w, h int, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store, err := fixtures.Store(memstore.Options{Name: "midlife", Now: func() time.Time { return look }}, files)
		if err != nil {
			t.Fatal(err)
		}
		o := engine.Options{Store: store, NoCache: true, Write: true}
		if files == nil {
			g, err := engine.Open(t.Context(), "mem://midlife", o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = g.Init(t.Context(), engine.InitOptions{Source: []byte(odd)}); err == nil {
				_, err = g.Load(t.Context(), engine.LoadOptions{Mode: engine.LoadAppend, Input: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(oddLines)), nil }})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		ws, err := workspace.Open(context.Background(), "mem://midlife", o)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t, ws, Options{URI: "mem://midlife", Screen: place}, w, h)
		b.clock = look
		b.drain()
		test(b)
		if b.crash != nil {
			t.Errorf("crashed: %v\n%s", b.crash.cause, b.crash.stack)
		}
		b.stop()
	})
}

// odd is a graph of types that the language can hardly address, and of one with
// many properties.
const odd = `
node Pair { x: String y: I32 note: String? @key(x, y) }
node Loose { note: String? }
node Key { slug: String @key }
edge Tie: Key -> Key { weight: F64 }
node Many { slug: String @key @description("what it is called in the harbour")
  a00: String? a01: String? a02: I32? a03: [I32]? a04: Bool? a05: enum(north, south, east, west, up, down, in, out, left, right, here, there)? a06: Date? a07: DateTime?
  a08: F32 a09: F64? a10: U32? a11: U64? a12: Vector(4)? a13: Blob? a14: String? a15: String? a16: String? a17: String? a18: String? a19: String?
  a20_with_a_name_that_goes_on: String? a21: [Date]? a22: String? a23: String? a24: String? a25: String? a26: String? a27: String? a28: String? a29: String?
  @check(a00, "^[0-9]{3}-[a-z]+$") @range(a02, 1..12) }
`

const oddLines = `{"type":"Pair","data":{"x":"north","y":1,"note":"one"}}
{"type":"Pair","data":{"x":"north","y":2,"note":"two"}}
{"type":"Pair","data":{"x":"south","y":1}}
{"type":"Loose","data":{"id":"first","note":"same"}}
{"type":"Loose","data":{"id":"second","note":"same"}}
{"type":"Loose","data":{"id":"third","note":"other"}}
{"type":"Key","data":{"slug":"a"}}
{"type":"Key","data":{"slug":"検査 ∅"}}
{"edge":"Tie","from":"a","to":"a","data":{"id":"t1","weight":0.5}}
{"edge":"Tie","from":"a","to":"a","data":{"id":"t2","weight":0.5}}
{"type":"Many","data":{"slug":"m","a00":"123-abc","a05":"up","a08":1.1,"a14":"∅","a15":"\"\"","a16":"tab\tand\nlines\u0007","a17":"検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査 検査","a18":""}}
`

// form is the form that is open.
func (b *bench) form() *entityForm {
	for _, o := range b.overlays {
		if f, ok := o.(*entityForm); ok {
			return f
		}
	}
	b.t.Fatalf("no form is open:\n%s", text(b.draw()))
	return nil
}

// fill types into the fields by name.
func (b *bench) fill(texts ...string) {
	for i := 0; i < len(texts); i += 2 {
		b.field(texts[i])
		b.keys("ctrl+u")
		b.typeIn(texts[i+1])
	}
}

// field goes to a field.
func (b *bench) field(name string) {
	b.keys("ctrl+home")
	for range 40 {
		if b.form().Selected() == name {
			return
		}
		b.keys("down")
	}
	b.t.Fatalf("there is no field %s:\n%s", name, text(b.draw()))
}

// formPlaces are forms in the states that are worth a look.
var formPlaces = []struct {
	name, place string
	keys        []string
	then        func(b *bench)
}{
	{"insert", "node:Vessel/rows", []string{"I"}, nil},
	{"wrong", "node:Vessel/rows", []string{"I"}, func(b *bench) {
		b.fill("imo", "12x", "name", "lower case", "tonnage", "9223372036854775808", "draft_m", "7.25", "last_seen", "2026-11-29T14:02", "profile", "[1, 2, 3]")
		b.keys("ctrl+s")
		b.field("last_seen")
	}},
	{"choices", "node:Vessel/rows", []string{"I"}, func(b *bench) {
		b.fill("imo", "9321483", "name", "Ævar 検査船")
		b.field("kind")
		b.keys("right", "right")
	}},
	{"edit", "node:Vessel/rows", []string{"E"}, func(b *bench) {
		b.fill("tonnage", "1")
		b.field("built")
		b.keys("ctrl+x")
	}},
	{"empty-text", "node:Inspection/rows", []string{"E"}, func(b *bench) {
		b.field("notes")
		b.keys("ctrl+u")
	}},
	{"blob", "node:Inspection/rows", []string{"E"}, func(b *bench) {
		b.field("photo")
	}},
	{"long", "node:Port/rows", []string{"E"}, func(b *bench) {
		b.fill("name", strings.Repeat("港の名前はとても長い ", 12))
		b.keys("home")
		b.field("country")
		b.form().Paste("two\nlines\tand a tab")
	}},
	{"edge", "edge:CallsAt/rows", []string{"I"}, func(b *bench) {
		b.fill("from", "1", "to", "NLRTM", "arrived", "2026-11-29")
		b.field("cargo_t")
	}},
	{"look-up", "edge:CallsAt/rows", []string{"I"}, func(b *bench) {
		b.fill("to", "er")
		b.keys("ctrl+f")
	}},
	{"no-address", "edge:Tie/rows", []string{"X"}, nil},
	{"no-value", "node:Loose/rows", []string{"E"}, nil},
	{"all-key", "node:Key/rows", []string{"E"}, nil},
	{"many", "node:Many/rows", []string{"E"}, func(b *bench) {
		b.fill("a02", "13", "a18", "now it has one")
		b.field("a05")
	}},
	{"many-end", "node:Many/rows", []string{"E", "ctrl+end", "up", "up"}, nil},
	{"edge-of-node", "node:Port/rows/NLRTM", []string{"I"}, nil},
}

// unmetered is a screen without what was measured: hops and times of a store
// that answers at once differ from run to run.
func unmetered(screen string) string {
	for _, begin := range []string{"\n── meter", "\n GET "} {
		screen, _, _ = strings.Cut(screen, begin)
	}
	return screen + "\n"
}

func TestForms(t *testing.T) {
	for _, p := range formPlaces {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", p.name, size[0], size[1]), func(t *testing.T) {
				place := onGraph
				if strings.Contains("edge:Tie node:Loose node:Key node:Many", strings.TrimSuffix(p.place, "/rows")) {
					place = func(t *testing.T, place string, w, h int, test func(b *bench)) { onFiles(t, nil, place, w, h, test) }
				}
				place(t, p.place, size[0], size[1], func(b *bench) {
					b.keys(p.keys...)
					if p.then != nil {
						p.then(b)
					}
					lines := b.draw()
					check(t, lines, size[0], size[1])
					golden.RequireEqual(t, []byte(unmetered(text(lines))))
				})
			})
		}
	}
}

// TestFormsAtEverySize: a form fits into every window.
func TestFormsAtEverySize(t *testing.T) {
	for _, p := range formPlaces[:4] {
		onGraph(t, p.place, 120, 40, func(b *bench) {
			b.keys(p.keys...)
			if p.then != nil {
				p.then(b)
			}
			for w := 60; w < 200; w += 27 {
				for h := 15; h < 60; h += 9 {
					b.w, b.h = w, h
					check(t, b.draw(), w, h)
				}
			}
		})
	}
}

func TestDraftOfAForm(t *testing.T) {
	onGraph(t, "node:Vessel/rows", 100, 40, func(b *bench) {
		b.keys("I")
		b.fill("imo", "42", "name", "A", "draft_m", "x")
		b.field("kind")
		b.keys("right")
		b.keys("esc")
		if len(b.overlays) != 0 {
			t.Fatal("esc does not leave the form")
		}
		b.keys("j", "E", "esc", "I")
		b.shows("what was typed here before is back", "42", "container")
		b.keys("esc")
		if got := b.drafts["form insert node:Vessel"]; !strings.Contains(got, `"draft_m":"x"`) {
			t.Errorf("the draft is %q", got)
		}
		b.keys("I")
		for _, name := range []string{"imo", "name", "kind", "draft_m"} {
			b.field(name)
			b.keys("ctrl+r")
		}
		b.keys("esc")
		if got := b.drafts["form insert node:Vessel"]; got != "" {
			t.Errorf("a form that was put back leaves the draft %q", got)
		}
		b.drafts["form insert node:Vessel"] = `{"imo":"1","name":"see https://ana:secret@host/x?q=1","gone":"y","tonnage":null}`
		if s := string(b.state()); strings.Contains(s, "secret") || !strings.Contains(s, "host/x?q=1") {
			t.Errorf("the state that is kept is %s", s)
		}
		b.keys("I")
		b.shows("see https://")
		b.keys("esc")
	})
}

func TestFieldsTellNullFromEmptyText(t *testing.T) {
	onGraph(t, "node:Company/rows", 100, 30, func(b *bench) {
		b.keys("I")
		b.field("tax_no")
		b.shows("∅ null")
		b.typeIn("x")
		b.keys("backspace")
		b.shows(`"" empty text`)
		b.keys("backspace")
		b.shows("∅ null")
		b.keys("ctrl+x")
		b.shows(`"" empty text`)
		b.keys("ctrl+x")
		b.shows("∅ null")
		b.field("founded")
		b.typeIn("1")
		b.keys("backspace")
		b.shows("∅ null") // there is no empty number
		b.field("name")
		b.keys("ctrl+x")
		b.typeIn("a")
		b.keys("ctrl+x")
		b.shows("name is required")
		b.keys("esc")
	})
}

func TestAFileBecomesABlob(t *testing.T) {
	file := filepath.Join(t.TempDir(), "photo.png")
	if err := os.WriteFile(file, []byte("not really"), 0o600); err != nil {
		t.Fatal(err)
	}
	onGraph(t, "node:Inspection/rows", 120, 30, func(b *bench) {
		b.keys("I")
		b.field("photo")
		b.form().Paste(filepath.Dir(file))
		b.keys("down", "up")
		b.shows("is a folder, expected a file")
		b.keys("ctrl+u")
		b.form().Paste(file + "x")
		b.keys("down", "up")
		b.shows("no such file")
		b.keys("backspace", "down", "up")
		b.shows("10 B")
		b.lacks("no such file")
		b.keys("esc")
	})
}

// TestActionsSayWhyNot: what cannot be done says why, before a form is opened.
func TestActionsSayWhyNot(t *testing.T) {
	onGraph(t, "edge:CallsAt/rows", 100, 30, func(b *bench) {
		b.keys("E")
		b.shows("edit: the language cannot change an edge")
		if len(b.overlays) != 0 {
			t.Error("a form is open all the same")
		}
		b.env.Locked = true
		for _, k := range []string{"I", "X"} {
			b.keys(k)
			b.shows("read-only until it is unlocked")
		}
	})
}
