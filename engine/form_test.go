package engine

import (
	"strings"
	"testing"
)

func TestFormOfASchema(t *testing.T) {
	made := &Schema{Source: "node Port { code: String @key }", Types: []SchemaType{{Kind: "node", Name: "Port"}}}
	if f, err := made.Form("node:Port"); err != nil || f.Alias() != "node:Port" || len(f.Fields) != 1 {
		t.Errorf("%+v %v", f, err)
	}
	for want, c := range map[string]struct {
		s     *Schema
		table string
	}{
		"has no edge Port":     {made, "edge:Port"},
		"has no node port":     {made, "node:port"},
		"is not known":         {&Schema{Source: made.Source}, "node:Port"},
		"the marker is lost":   {&Schema{Source: made.Source, Finding: &Finding{Title: "the marker is lost"}}, "node:Port"},
		"reading the schema: ": {&Schema{Source: "node", Types: made.Types}, "node:Port"},
	} {
		if f, err := c.s.Form(c.table); f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v, want %q", c.table, f, err, want)
		}
	}
}
