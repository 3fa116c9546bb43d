package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/omnideck/omnideck/engine"
)

// A template is a query of the language, with the parameters that it declares.
func TestTemplatesAreQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := scripted()
		b := settled(t, ws, Options{URI: ws.Address, Screen: "tables"}, 80, 24)
		for i, typ := range ws.Contract.Types {
			for _, verb := range []string{"i", "u", "d"} {
				if (typ.Kind == "edge" || typ.Name == "Carrier") && verb == "u" {
					continue
				}
				b.keys("W")
				if b.drafts["mutate query"] != "" {
					b.keys("ctrl+t", "0")
				}
				b.keys("ctrl+t", "g")
				b.keys(slices.Repeat([]string{"j"}, i)...)
				b.keys("enter", verb)
				text, params := b.writer.Drafts()["mutate query"], b.writer.Drafts()["mutate params"]
				queries, err := engine.Queries(text)
				if err != nil || len(queries) != 1 || queries[0].Reads {
					t.Errorf("%s %s: %v\n%s", verb, typ.Name, err, text)
					continue
				}
				for _, p := range queries[0].Params {
					if !strings.Contains(params, `"`+p.Name+`": `) {
						t.Errorf("%s %s: the parameters %s lack %s", verb, typ.Name, params, p.Name)
					}
				}
				b.keys("esc")
			}
		}
		b.keys("W", "ctrl+t", "g", "j", "j", "enter", "u") // Carrier has nothing but its key
		if !strings.Contains(strings.Join(b.draw(), ""), "Carrier") || strings.Contains(b.writer.Drafts()["mutate query"], "update Carrier") {
			t.Error("an update of a type with nothing to set is offered")
		}
		b.stop()
	})
}
