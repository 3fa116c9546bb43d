package action

import (
	"strings"
	"testing"
)

func TestTableIsSound(t *testing.T) {
	for _, err := range Check(Table, Screens) {
		t.Error(err)
	}
	for _, a := range Table {
		if a.Writes {
			t.Errorf("action %s writes: nothing writes yet", a.ID)
		}
		if a.Title == "" || a.Help == "" || len(a.Scopes) == 0 {
			t.Errorf("action %s lacks a title, a help phrase or a scope", a.ID)
		}
	}
}

func TestCheckFindsFaults(t *testing.T) {
	table := []Action{
		{ID: "a", Keys: []string{"x"}, Scopes: []string{Global}},
		{ID: "b", Keys: []string{"x"}, Scopes: []string{"rows"}},
		{ID: "b", Keys: []string{"ctrl+x"}, Scopes: []string{"other"}},
		{ID: "w", Keys: []string{"j"}, Writes: true, Scopes: []string{"other"}},
	}
	var said []string
	for _, err := range Check(table, []string{"rows"}) {
		said = append(said, err.Error())
	}
	all := strings.Join(said, "\n")
	for _, want := range []string{
		"action b stands twice", "action b has no plain key", "on rows the key x means b and a", "action w writes and is on j",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not reported:\n%s", want, all)
		}
	}
}

func TestWhy(t *testing.T) {
	write := Action{ID: "merge", Writes: true}
	if got := write.Why(Context{ReadOnly: true}); got != "read-only" {
		t.Errorf("a write on a read-only graph: %q", got)
	}
	if got := Default().Get(Back).Why(Context{}); got == "" {
		t.Error("back on the first screen is not refused")
	}
	if a, ok := Default().Find(OnVersions, "a"); !ok || a.ID != Decode {
		t.Errorf("a on versions is %v", a.ID)
	}
	if _, ok := Default().Find(OnOverview, "a"); ok {
		t.Error("a on the overview means something")
	}
}
