package action

// The actions.
const (
	Down      ID = "down"
	Up        ID = "up"
	Top       ID = "top"
	Bottom    ID = "bottom"
	PageDown  ID = "page-down"
	PageUp    ID = "page-up"
	HalfDown  ID = "half-down"
	HalfUp    ID = "half-up"
	Open      ID = "open"
	Flip      ID = "flip"
	PrevTab   ID = "previous-tab"
	NextTab   ID = "next-tab"
	PrevCol   ID = "previous-column"
	NextCol   ID = "next-column"
	Decode    ID = "decode"
	LookAt    ID = "look-at-branch"
	Address   ID = "address"
	Overview  ID = "overview"
	Branches  ID = "branches"
	Commits   ID = "commits"
	Tables    ID = "tables"
	Versions  ID = "versions"
	Reload    ID = "reload"
	Scope     ID = "meter-scope"
	Help      ID = "help"
	Back      ID = "back"
	Leave     ID = "leave"
	Interrupt ID = "interrupt"
)

// Names of the screens, which are scopes of the table.
const (
	OnPicker    = "picker"
	OnOverview  = "overview"
	OnBranches  = "branches"
	OnCommits   = "commits"
	OnTables    = "tables"
	OnFragments = "fragments"
	OnRows      = "rows"
	OnVersions  = "versions"
	OnFinding   = "finding"
)

// Screens lists the names of all screens.
var Screens = []string{OnPicker, OnOverview, OnBranches, OnCommits, OnTables, OnFragments, OnVersions, OnRows, OnFinding}

// Table is every action. The order is that of the help sheet.
var Table = []Action{
	{ID: Open, Title: "open", Help: "open what is selected", Scopes: []string{Lists}, Keys: []string{"enter"}, Footer: 1,
		Enabled: func(c Context) string { return unless(c.Openable, "nothing to open") }},
	{ID: LookAt, Title: "look at it", Help: "look at the selected branch on every screen", Scopes: []string{OnBranches}, Keys: []string{"b"}, Footer: 2,
		Enabled: func(c Context) string { return unless(c.Items > 0, "no branch") }},
	{ID: Decode, Title: "all operations", Help: "read every manifest: operation, rows and fragments of each version", Scopes: []string{OnVersions}, Keys: []string{"d"}, Footer: 5,
		Enabled: func(c Context) string { return unless(c.Truncated, "nothing left to read") }},
	{ID: Address, Title: "other address", Help: "type the address of a graph", Scopes: []string{OnPicker}, Keys: []string{"a", "/"}, Footer: 2},
	{ID: Flip, Title: "detail", Help: "go between list and detail", Scopes: []string{Lists}, Keys: []string{"tab"}, Footer: 3,
		Enabled: func(c Context) string { return unless(c.Detail, "no detail") }},
	{ID: PrevTab, Title: "previous tab", Help: "previous tab", Scopes: []string{Lists}, Keys: []string{"h", "left"}, Show: "h left",
		Enabled: func(c Context) string { return unless(c.Tabs, "no tabs") }},
	{ID: NextTab, Title: "tabs", Help: "next tab", Scopes: []string{Lists}, Keys: []string{"l", "right"}, Show: "l right", Pair: "h l", Footer: 4,
		Enabled: func(c Context) string { return unless(c.Tabs, "no tabs") }},
	{ID: PrevCol, Title: "columns left", Help: "columns to the left", Scopes: []string{OnRows}, Keys: []string{"<", "shift+left"},
		Enabled: func(c Context) string { return unless(c.Columns, "no columns") }},
	{ID: NextCol, Title: "columns", Help: "columns to the right", Scopes: []string{OnRows}, Keys: []string{">", "shift+right"}, Pair: "< >", Footer: 5,
		Enabled: func(c Context) string { return unless(c.Columns, "no columns") }},

	{ID: Down, Title: "down", Help: "down", Scopes: []string{Lists}, Keys: []string{"j", "down"}, Show: "j down"},
	{ID: Up, Title: "up", Help: "up", Scopes: []string{Lists}, Keys: []string{"k", "up"}, Show: "k up"},
	{ID: Top, Title: "top", Help: "to the beginning", Scopes: []string{Lists}, Keys: []string{"g", "home"}},
	{ID: Bottom, Title: "end", Help: "to the end, loading what is not loaded", Scopes: []string{Lists}, Keys: []string{"G", "end"}},
	{ID: HalfDown, Title: "half down", Help: "half a page down", Scopes: []string{Lists}, Keys: []string{"ctrl+d", "f"}, Show: "^d f"},
	{ID: HalfUp, Title: "half up", Help: "half a page up", Scopes: []string{Lists}, Keys: []string{"ctrl+u", "u"}, Show: "^u u"},
	{ID: PageDown, Title: "page down", Help: "a page down", Scopes: []string{Lists}, Keys: []string{"pgdown", "space", " "}, Show: "PgDn space"},
	{ID: PageUp, Title: "page up", Help: "a page up", Scopes: []string{Lists}, Keys: []string{"pgup", "p"}, Show: "PgUp p"},

	{ID: Overview, Title: "overview", Help: "overview of the graph", Keys: []string{"1"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Branches, Title: "branches", Help: "branches, and who needs whom", Keys: []string{"2"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Commits, Title: "commits", Help: "commits of all branches as a graph", Keys: []string{"3"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Tables, Title: "tables", Help: "node and edge types", Keys: []string{"4"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Versions, Title: "versions", Help: "version chain of __manifest", Keys: []string{"5"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Back, Title: "back", Help: "go back", Scopes: []string{Global}, Keys: []string{"esc", "backspace"}, Footer: 6,
		Enabled: func(c Context) string { return unless(c.Deep, "this is the first screen") }},
	{ID: Reload, Title: "reload", Help: "load this screen again", Scopes: []string{Global}, Keys: []string{"r"}, Footer: 8,
		Enabled: func(c Context) string { return unless(c.Loads, "nothing here is loaded") }},
	{ID: Scope, Title: "meter scope", Help: "meter in the status line: screen, last operation, since start", Scopes: []string{Global}, Keys: []string{"m"}},
	{ID: Help, Title: "help", Help: "this sheet", Scopes: []string{Global}, Keys: []string{"?"}, Footer: 7},
	{ID: Interrupt, Title: "cancel", Help: "cancel what is loading; twice within 2 s, quit", Scopes: []string{Global}, Keys: []string{"ctrl+c"}, Show: "^c"},
	{ID: Leave, Title: "quit", Help: "go back, from the first screen leave the program", Scopes: []string{Global}, Keys: []string{"q"}, Footer: 9},
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

func needsGraph(c Context) string { return unless(c.Graph, "no graph is open") }
