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
		"action b stands twice", "action b has no plain key and no verb", "on rows the key x means b and a", "action w writes and is on j",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not reported:\n%s", want, all)
		}
	}
}

func TestWhy(t *testing.T) {
	write := Action{ID: "merge", Writes: true}
	open := Context{Graph: true, Opened: true}
	for want, c := range map[string]Context{
		"":                               open,
		"no graph is open":               {ReadOnly: true},
		"the graph is not open yet":      {Graph: true},
		"read-only until it is unlocked": {Graph: true, Opened: true, ReadOnly: true, Travelling: true},
		"a moment that is past is shown": {Graph: true, Opened: true, Travelling: true},
		"a write is running":             {Graph: true, Opened: true, Writing: true},
	} {
		if got := write.Why(c); got != want {
			t.Errorf("a write in %+v: %q, want %q", c, got, want)
		}
	}
	own := Action{ID: "own", Writes: true, Enabled: func(Context) string { return "nothing to edit" }}
	if got := own.Why(open); got != "nothing to edit" {
		t.Errorf("a write with a reason of its own: %q", got)
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

func TestBind(t *testing.T) {
	m, err := Read([]byte("[keys]\nfilter = [\"/\", \"ctrl+f\"]\nfollow = []\ndown = \"J\"\npage-down = [\"pgdown\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := m.Find(OnRows, "ctrl+f"); !ok || a.ID != Filter {
		t.Errorf("ctrl+f is %q", a.ID)
	}
	if a, ok := m.Find(OnRows, "R"); ok {
		t.Errorf("R still means %q", a.ID)
	}
	if got := m.Key(Down) + m.Key(PageDown) + m.Key(Follow); got != "JPgDn" {
		t.Errorf("the keys are shown as %q", got)
	}
	if a, ok := Default().Find(OnRows, "J"); !ok || a.ID != PageDown {
		t.Error("binding changed the table itself")
	}
}

func TestBindSaysEverythingThatIsWrong(t *testing.T) {
	_, err := Read([]byte("[keys]\nfiltre = [\"f\"]\nsort = [\"y\"]\nquit = [\"x\"]\nback = []\nhelp = [\"shift+x\"]\nfind = [\"Ctrl+F\"]\n"))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`there is no action "filtre"; did you mean filter?`, `there is no action "quit"`, "the key y means sort and copy",
		"action back (go back) has no key any more", "action help (this sheet) has no key any more", `found the key "shift+x"`, `found the key "Ctrl+F"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not said:\n%v", want, err)
		}
	}
	for text, want := range map[string]string{
		"keys = 3":                        "keys is not a table",
		"[keys]\nfilter = 3":              "expected a list of keys",
		"[keys]\nfilter = [3]":            "expected text such as",
		"[key]\nfilter = [\"/\"]":         "expected one table [keys]",
		"[keys":                           "it is not TOML",
		"#" + strings.Repeat("x", 70_000): "at most 65536 are read",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q gives %v, want %q", text, err, want)
		}
	}
}

func TestWritesKeepToCapitals(t *testing.T) {
	table := []Action{
		{ID: "merge", Keys: []string{"G"}, Writes: true, Scopes: []string{"branches"}},
		{ID: Bottom, Keys: []string{"G"}, Scopes: []string{"rows"}},
	}
	errs := clashes(table, []string{"rows"})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "a key for moving or reading again") {
		t.Errorf("a write on a key for moving: %v", errs)
	}
}
