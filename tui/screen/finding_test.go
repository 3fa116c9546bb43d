package screen

import (
	"testing"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/workspace/fake"
)

// TestEvidenceLeadsToTheObject: one object is opened, of several one is chosen,
// and a folder or a table is none.
func TestEvidenceLeadsToTheObject(t *testing.T) {
	keys := func(keys ...string) engine.Finding {
		f := engine.Finding{ID: "G1", Title: "x"}
		for _, k := range keys {
			f.Evidence = append(f.Evidence, engine.Evidence{Key: k})
		}
		return f
	}
	e := env(t)
	one := NewFinding(keys("__recovery/a.json", "node:Port", "__manifest/_versions/", "__manifest"))
	if eff := one.Do(e, action.Raw); eff.Push == nil || eff.Push.(*Object).key != "__recovery/a.json" {
		t.Errorf("one object: %+v", eff)
	}
	two := NewFinding(keys("a/1.manifest", "b/2.manifest", "a/1.manifest")).Do(e, action.Raw)
	if two.Menu == nil || len(two.Menu.Items) != 2 || two.Menu.Choose(e, 1).Push.(*Object).key != "b/2.manifest" {
		t.Errorf("two objects: %+v", two)
	}
	if n := NewFinding(keys("node:Port")).Context(e).Items; n != 0 {
		t.Errorf("a table is taken for %d objects", n)
	}
}

func TestNextStepOfAFinding(t *testing.T) {
	for want, f := range map[string]engine.Finding{
		"omnideck versions s3://b/g node:Port | node:Port/versions": {Action: &engine.Action{Verb: "versions", Args: []string{"node:Port"}}},
		"omnideck versions s3://b/g __manifest | versions":          {Action: &engine.Action{Verb: "versions", Args: []string{"__manifest"}}},
		"omnideck branch list s3://b/g | branches":                  {Action: &engine.Action{Verb: "branch list"}},
		"omnideck verify s3://b/g | ":                               {Action: &engine.Action{Verb: "verify"}},
	} {
		if got := nextStep(&Env{Address: "s3://b/g"}, f) + " | " + nextPlace(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, err := At(nextPlace(f)); err != nil {
			t.Error(err)
		}
	}
	if got := shortIDs("Load 01M8KXVHPS374W4YK0ME79DFSC on main", onStage(t, fake.Harbor(), NewCommits()).e.Theme.Glyph); got != "Load …79DFSC on main" {
		t.Error(got)
	}
}

func TestObjectsThatAreText(t *testing.T) {
	for in, want := range map[string]int{"{\n  \"a\": 1\n}\n": 3, "": 0, "a\x00b": 0, "port \xc3": 1, "\xff\xfe\xfd\xfc\xfb": 0, "a\x1b[31mb": 0, "one\r\ntwo": 2} {
		if lines, ok := textLines([]byte(in)); len(lines) != want || ok != (want > 0) {
			t.Errorf("%q: %q %v, want %d lines", in, lines, ok, want)
		}
	}
}

// While requests fail and are tried again, the reason stands where one waits.
