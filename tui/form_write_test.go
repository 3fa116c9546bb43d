package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/omnideck/omnideck/engine"
)

// review waits until the review takes keys.
func (b *bench) review(want ...string) {
	b.t.Helper()
	b.clock = b.clock.Add(time.Second)
	b.shows(want...)
}

// run confirms what is reviewed.
func (b *bench) run() {
	b.t.Helper()
	s := text(b.draw())
	switch _, after, ok := strings.Cut(s, " Press "); {
	case ok:
		b.keys(strings.Fields(after)[0])
	case strings.Contains(s, "Run: "):
		b.keys("tab", "enter")
	default:
		b.t.Fatalf("nothing to confirm:\n%s", s)
	}
}

// entity is a row of the graph as it is now; "" = none.
func (b *bench) entity(table, id string) string {
	b.t.Helper()
	page, err := b.ws.Entity(b.t.Context(), table, id, engine.At{})
	if err != nil {
		if strings.Contains(err.Error(), "no entity") || strings.Contains(err.Error(), id) {
			return ""
		}
		b.t.Fatal(err)
	}
	return string(page.Rows[0].Line)
}

func TestInsertEditAndDelete(t *testing.T) {
	onGraph(t, "node:Port/rows", 120, 44, func(b *bench) {
		b.keys("I")
		b.fill("code", "JPYOK", "country", "JP", "name", `横浜 "} delete Port`, "depth_m", "12.5", "services", `["ro-ro"]`)
		b.keys("ctrl+s")
		b.review("insert Port JPYOK", "+1", "横浜", "mutate")
		if b.entity("node:Port", "JPYOK") != "" {
			t.Fatal("it is there before it was confirmed")
		}
		b.run()
		b.shows("commit")
		if got, want := b.entity("node:Port", "JPYOK"), `"country":"JP","depth_m":12.5,"name":"横浜 \"} delete Port","opened":null,"services":["ro-ro"]}}`; !strings.HasSuffix(got, want) {
			t.Fatalf("inserted: %s", got)
		}
		b.keys("enter")
		if len(b.overlays) != 0 || b.drafts["form insert node:Port"] != "" {
			t.Fatalf("the form stays after the write:\n%s", text(b.draw()))
		}
		b.keys("G")
		b.shows("1 to 13 of 13", "JPYOK")

		b.keys("E")
		b.shows("edit Port JPYOK")
		b.fill("depth_m", "13")
		b.field("services")
		b.keys("ctrl+x", "ctrl+s")
		b.review("edit Port JPYOK", "12.5 → 13", `["ro-ro"] → ∅`, "~1")
		b.lacks("country")
		b.run()
		if got, want := b.entity("node:Port", "JPYOK"), `"country":"JP","depth_m":13.0,"name":"横浜 \"} delete Port","opened":null,"services":null}}`; !strings.HasSuffix(got, want) {
			t.Fatalf("edited: %s", got)
		}
		b.keys("enter", "X")
		b.review("delete Port JPYOK", "-1")
		b.keys("esc")
		if b.entity("node:Port", "JPYOK") == "" || len(b.overlays) != 0 {
			t.Fatal("esc at the review deletes")
		}
		b.keys("X")
		b.review()
		b.run()
		if got := b.entity("node:Port", "JPYOK"); got != "" {
			t.Fatalf("deleted: %s", got)
		}
		b.keys("enter")
		b.lacks("JPYOK")
	})
}

// TestARefusedRule: what only the engine sees is said by it, and the form is
// there again with all that was typed.
func TestARefusedRule(t *testing.T) {
	onGraph(t, "node:Company/rows", 120, 44, func(b *bench) {
		b.keys("E")
		b.field("tax_no")
		taken := b.entity("node:Company", "north-line")
		_, taken, _ = strings.Cut(taken, `"tax_no":"`)
		taken, _, _ = strings.Cut(taken, `"`)
		b.fill("tax_no", taken)
		b.keys("ctrl+s")
		b.review("tax_no", "@unique")
		b.keys("esc")
		b.shows("edit Company", taken)
		if b.form().Selected() != "tax_no" {
			t.Errorf("the field %q is selected", b.form().Selected())
		}
		b.keys("esc")
	})
}

func TestInsertOfAKeyThatIsTaken(t *testing.T) {
	onGraph(t, "node:Port/rows", 120, 44, func(b *bench) {
		b.keys("I")
		b.fill("code", "NLRTM", "country", "NL", "name", "X")
		b.keys("ctrl+s")
		b.shows("a Port with this key is there already")
		if b.form().Selected() != "code" || b.writer != nil {
			t.Error("it is handed over all the same")
		}
		b.keys("esc")
	})
}

func TestAnEdgeWithoutAnEnd(t *testing.T) {
	onGraph(t, "edge:CallsAt/rows", 120, 44, func(b *bench) {
		b.keys("I")
		b.fill("from", "12345", "to", "NLRTM", "arrived", "2026-11-29T14:02:11Z")
		b.keys("ctrl+s")
		b.shows("no Vessel has this id")
		if b.form().Selected() != "from" || b.writer != nil {
			t.Errorf("the field %q is selected:\n%s", b.form().Selected(), text(b.draw()))
		}
		b.keys("ctrl+u")
		b.typeIn("9000017")
		b.keys("ctrl+s")
		b.review("insert CallsAt", "edge:CallsAt", "+1")
		b.run()
		b.keys("enter", "G")
		b.shows("2026-11-29T14:02:11.000Z", "9000017")

		b.keys("X")
		b.review("delete CallsAt", "arrived = '2026-11-29T14:02:11Z'", "9000017", "-1")
		b.run()
		b.keys("enter")
		b.lacks("2026-11-29T14:02:11.000Z")
	})
}

// What is looked at when the form is sent is waited for.
func TestSentWhileItIsLookedAt(t *testing.T) {
	onGraph(t, "edge:CallsAt/rows", 120, 44, func(b *bench) {
		b.keys("I")
		b.fill("to", "NLRTM", "arrived", "2026-11-29T14:02:11Z", "from", "12345")
		b.send(press("down"))
		b.send(press("ctrl+s"))
		if b.writer != nil {
			t.Error("it is handed over before the answer")
		}
		b.drain()
		b.shows("no Vessel has this id")
		if b.form().Selected() != "from" || b.writer != nil {
			t.Errorf("the field %q is selected:\n%s", b.form().Selected(), text(b.draw()))
		}
		b.field("from")
		b.keys("ctrl+u")
		b.typeIn("9000017")
		b.send(press("down"))
		b.send(press("ctrl+s"))
		b.drain()
		b.review("insert CallsAt", "edge:CallsAt", "+1")
	})
}

// No key leads to a field that cannot be changed.
func TestKeysPassFixedFields(t *testing.T) {
	onFiles(t, nil, "node:Pair/rows", 120, 44, func(b *bench) {
		b.keys("E")
		b.draw() // a page is what is drawn
		for _, k := range []string{"pgup", "up", "ctrl+home", "shift+tab"} {
			b.keys(k)
			if got := b.form().Selected(); got != "note" {
				t.Errorf("%s leads to %q", k, got)
			}
		}
		b.keys("esc")
	})
}

func TestDeletingANodeTakesItsEdges(t *testing.T) {
	onGraph(t, "node:Port/rows/NLRTM", 120, 44, func(b *bench) {
		b.keys("X")
		b.review("delete Port NLRTM", "edge:CallsAt", "-8", "edge:Registered", "-3")
		b.run()
		b.keys("enter")
		b.shows("no")
		if b.entity("node:Port", "NLRTM") != "" {
			t.Error("it is there still")
		}
	})
}

func TestSomeoneElseWasFaster(t *testing.T) {
	onGraph(t, "node:Port/rows/NLRTM", 120, 44, func(b *bench) {
		b.keys("E")
		b.fill("depth_m", "20")
		other := func(source string) {
			t.Helper()
			if _, err := b.ws.Mutate(b.t.Context(), engine.MutateOptions{Source: source}); err != nil {
				t.Fatal(err)
			}
		}
		other(`query q() { update Port set { name: "Rotterdam II", depth_m: 19.0 } where code = "NLRTM" }`)
		b.keys("ctrl+s")
		b.shows("someone changed name, depth_m meanwhile", "Rotterdam II", "20")
		b.keys("ctrl+s")
		b.review("19 → 20")
		b.lacks("Rotterdam II")
		b.keys("esc")
		other(`query q() { delete Port where code = "NLRTM" }`)
		b.keys("ctrl+s")
		b.shows("someone deleted it")
		b.keys("esc")
	})
}

// TestWhatTheLanguageFinds: a composite key is found by a value that stands in
// no other row, and by nothing else.
func TestWhatTheLanguageFinds(t *testing.T) {
	onFiles(t, nil, "node:Pair/rows", 120, 44, func(b *bench) {
		b.keys("G", "E")
		b.fill("note", "x")
		b.keys("ctrl+s")
		b.review("x = 'south'", "~1")
		b.run()
		b.keys("enter")
		if got := b.entity("node:Pair", `["south","1"]`); !strings.Contains(got, `"note":"x"`) {
			t.Errorf("edited: %s", got)
		}
	})
	onFiles(t, nil, "node:Loose/rows", 120, 44, func(b *bench) {
		b.keys("X")
		b.shows("None means this entity alone", "note = 'same'")
		b.keys("esc", "G", "X")
		b.review("delete Loose third", "-1")
		b.run()
		b.keys("enter")
		b.lacks("third")
		b.keys("I")
		b.fill("note", "fourth")
		b.keys("ctrl+s")
		b.review("insert Loose")
		b.run()
		b.keys("enter", "G")
		b.shows("fourth")
	})
}

func TestAnEdgeFromItsNode(t *testing.T) {
	onGraph(t, "node:Company/rows/north-line", 120, 44, func(b *bench) {
		b.keys("I")
		b.shows("a new edge of north-line", "Owns", "Partner", "to here")
		b.keys("j", "j", "enter") // Partner, to here
		b.shows("insert Partner", "north-line")
		b.field("from")
		b.typeIn("sable")
		b.keys("ctrl+f")
		b.shows("from: Company", "sable-tankers")
		b.keys("enter")
		b.field("from")
		b.shows("sable-tankers", "name Sable")
		b.field("strength")
		b.keys("w")
		b.shows("weak")
		b.keys("ctrl+s")
		b.review("insert Partner", "+1", "strength", "weak")
		b.run()
		b.keys("enter")
		b.shows("sable-tankers")
	})
}
