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
	Layouts   ID = "layouts"
	Raw       ID = "raw-object"
	OpenEdge  ID = "open-edge"
	FirstLine ID = "first-parent"
	HideSame  ID = "hide-unchanged"
	Insert    ID = "insert"
	Edit      ID = "edit"
	Delete    ID = "delete"
	Address   ID = "address"
	Filter    ID = "filter"
	NextMatch ID = "next-match"
	PrevMatch ID = "previous-match"
	Sort      ID = "sort"
	Columns   ID = "columns"
	Wide      ID = "wide"
	Grow      ID = "grow"
	Shrink    ID = "shrink"
	Tree      ID = "navigator"
	Travel    ID = "travel"
	Mark      ID = "mark"
	Compare   ID = "compare"
	Copy      ID = "copy"
	Export    ID = "export"
	Find      ID = "find"
	Overview  ID = "overview"
	Branches  ID = "branches"
	Commits   ID = "commits"
	Tables    ID = "tables"
	Versions  ID = "versions"
	Ops       ID = "operations"
	HistBack  ID = "history-back"
	HistNext  ID = "history-forward"
	Palette   ID = "palette"
	Command   ID = "command"
	Drawer    ID = "meter-drawer"
	Follow    ID = "follow"
	Plain     ID = "plain"
	Unlock    ID = "unlock"
	Mutate    ID = "mutate"
	Load      ID = "load"
	Recover   ID = "recovery"
	Hurry     ID = "recover-now"
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
	OnSchema    = "schema"
	OnIndexes   = "indexes"
	OnEntity    = "entity"
	OnFind      = "find"
	OnCompare   = "compare"
	OnOps       = "operations"
	OnVersions  = "versions"
	OnFinding   = "finding"
	OnRecovery  = "recovery" // above any screen
)

// Screens lists the names of all screens.
var Screens = []string{OnPicker, OnOverview, OnBranches, OnCommits, OnTables, OnFragments, OnVersions, OnRows, OnFinding, OnSchema, OnIndexes, OnEntity, OnFind, OnCompare, OnOps, OnRecovery}

// Table is every action. The order is that of the help sheet.
var Table = []Action{
	{ID: Open, Title: "open", Help: "open what is selected", Scopes: []string{Lists}, Keys: []string{"enter"}, Footer: 1, Keep: 70,
		Enabled: func(c Context) string { return unless(c.Openable, "nothing to open") }},
	{ID: Travel, Title: "look at it", Help: "show this branch, commit or version of the graph on all screens; again, or where nothing can be travelled to: back to now", Scopes: []string{Global}, Keys: []string{"t"}, Footer: 2, Keep: 50,
		Enabled: func(c Context) string { return unless(c.Destination || c.Travelling, "nothing to travel to") }},
	{ID: Decode, Title: "all operations", Help: "read every manifest: operation, rows and fragments of each version", Scopes: []string{OnVersions}, Keys: []string{"a"}, Footer: 5, Keep: 80,
		Enabled: func(c Context) string { return unless(c.Truncated, "nothing left to read") }},
	{ID: Layouts, Title: "layouts", Help: "read how every table lies on disk, one manifest each", Scopes: []string{OnTables}, Keys: []string{"a"}, Footer: 5, Keep: 80,
		Enabled: func(c Context) string { return unless(c.Truncated, "nothing to read") }},
	{ID: Address, Title: "other address", Help: "type the address of a graph", Scopes: []string{OnPicker}, Keys: []string{"a"}, Footer: 2, Keep: 80},
	{ID: Flip, Title: "detail", Help: "go between list and detail", Scopes: []string{Lists}, Keys: []string{"tab"}, Footer: 3, Keep: 30,
		Enabled: func(c Context) string { return unless(c.Detail, "no detail") }},
	{ID: PrevTab, Title: "previous tab", Help: "previous tab", Scopes: []string{Lists}, Keys: []string{"h", "left"}, Show: "h left",
		Enabled: func(c Context) string { return unless(c.Tabs, "no tabs") }},
	{ID: NextTab, Title: "tabs", Help: "next tab", Scopes: []string{Lists}, Keys: []string{"l", "right"}, Show: "l right", Pair: PrevTab, Footer: 4, Keep: 45,
		Enabled: func(c Context) string { return unless(c.Tabs, "no tabs") }},
	{ID: PrevCol, Title: "columns left", Help: "columns to the left", Scopes: []string{OnRows}, Keys: []string{"<", "shift+left"},
		Enabled: func(c Context) string { return unless(c.Columns, "no columns") }},
	{ID: NextCol, Title: "columns", Help: "columns to the right", Scopes: []string{OnRows}, Keys: []string{">", "shift+right"}, Pair: PrevCol, Footer: 5, Keep: 80,
		Enabled: func(c Context) string { return unless(c.Columns, "no columns") }},

	{ID: Raw, Title: "raw", Help: "the object itself: key, size, first bytes", Scopes: []string{OnVersions, OnFinding}, Keys: []string{"x"}, Footer: 5, Keep: 55,
		Enabled: func(c Context) string { return unless(c.Items > 0, "no object") }},
	{ID: OpenEdge, Title: "the edge", Help: "open the edge itself, not what it leads to", Scopes: []string{OnEntity}, Keys: []string{"x"}, Footer: 5, Keep: 80,
		Enabled: func(c Context) string { return unless(c.Openable, "no edge is selected") }},
	{ID: FirstLine, Title: "first parents", Help: "only the line of first parents, and back to all", Scopes: []string{OnCommits}, Keys: []string{"f"},
		Enabled: func(c Context) string { return unless(c.Items > 0, "no commit") }},
	{ID: HideSame, Title: "only changes", Help: "hide what is equal on both sides, and show it again", Scopes: []string{OnCompare}, Keys: []string{"."}, Footer: 4, Keep: 80},
	{ID: Insert, Title: "insert", Help: "fill in a new entity of this type; of a node's own screen an edge from or to it", Scopes: []string{OnRows, OnEntity}, Keys: []string{"I"}, Writes: true,
		Enabled: func(c Context) string { return c.NoInsert }},
	{ID: Edit, Title: "edit", Help: "change this entity, property by property", Scopes: []string{OnRows, OnEntity}, Keys: []string{"E"}, Writes: true,
		Enabled: func(c Context) string { return c.NoEdit }},
	{ID: Delete, Title: "delete", Help: "delete this entity, a node with its edges", Scopes: []string{OnRows, OnEntity}, Keys: []string{"X"}, Writes: true,
		Enabled: func(c Context) string { return c.NoDelete }},
	{ID: Filter, Title: "filter", Help: "narrow the list: words, column:value, !not, ~regex", Scopes: []string{Lists}, Keys: []string{"/"}, Footer: 4, Keep: 60,
		Enabled: func(c Context) string { return unless(c.Filters, "nothing to filter") }},
	{ID: NextMatch, Title: "next match", Help: "next match of the last filter", Scopes: []string{Lists}, Keys: []string{"n"},
		Enabled: func(c Context) string { return unless(c.Filters, "nothing to filter") }},
	{ID: PrevMatch, Title: "previous match", Help: "match before", Scopes: []string{Lists}, Keys: []string{"N"},
		Enabled: func(c Context) string { return unless(c.Filters, "nothing to filter") }},
	{ID: Sort, Title: "sort", Help: "order the list by a column; the same again turns it round", Scopes: []string{Lists}, Keys: []string{"o"},
		Enabled: func(c Context) string { return unless(c.Sorts, "nothing to sort") }},
	{ID: Columns, Title: "columns", Help: "choose which columns are shown", Scopes: []string{Lists}, Keys: []string{"c"},
		Enabled: func(c Context) string { return unless(c.Chooses, "its columns are fixed") }},
	{ID: Wide, Title: "wide", Help: "give the list the whole width, and back", Scopes: []string{Lists}, Keys: []string{"w"},
		Enabled: func(c Context) string { return unless(c.Detail, "no detail") }},
	{ID: Grow, Title: "grow", Help: "give the pane with the focus more of the window; kept for windows as wide", Scopes: []string{Lists}, Keys: []string{"+"},
		Enabled: func(c Context) string { return moved(c, c.More) }},
	{ID: Shrink, Title: "shrink", Help: "give it less", Scopes: []string{Lists}, Keys: []string{"-"},
		Enabled: func(c Context) string { return moved(c, c.Less) }},
	{ID: Tree, Title: "navigator", Help: "go into the tree of branches and types at the left of a wide window, and back", Scopes: []string{Global}, Keys: []string{"T", "shift+tab"},
		Enabled: func(c Context) string { return unless(c.Tree, "there is room for it in a window of 160 columns") }},
	{ID: Mark, Title: "mark", Help: "mark this, to compare it with another", Scopes: []string{Global}, Keys: []string{"=", "space", " "}, Show: "= space",
		Enabled: func(c Context) string { return unless(c.Pins, "nothing that can be compared") }},
	{ID: Compare, Title: "compare", Help: "compare what is marked with this; where nothing is, a commit or version with the one before it", Scopes: []string{Global}, Keys: []string{"D"},
		Enabled: func(c Context) string {
			if !c.Pins {
				return "nothing that can be compared"
			}
			return unless(c.Pinned || c.Before, "nothing is marked yet")
		}},
	{ID: Copy, Title: "copy", Help: "copy an id, a row, a key, the command line", Scopes: []string{Global}, Keys: []string{"y"},
		Enabled: func(c Context) string { return unless(c.Copies, "nothing to copy") }},
	{ID: Export, Title: "export", Help: "write what is shown to a file", Scopes: []string{Global}, Keys: []string{"e"},
		Enabled: func(c Context) string { return unless(c.Exports, "nothing to export") }},
	{ID: Find, Title: "find", Help: "find an entity by its id, in all types", Scopes: []string{Global}, Keys: []string{"i"}, Enabled: needsGraph},

	{ID: Down, Title: "down", Help: "down", Scopes: []string{Lists}, Keys: []string{"j", "down"}, Show: "j down"},
	{ID: Up, Title: "up", Help: "up", Scopes: []string{Lists}, Keys: []string{"k", "up"}, Show: "k up"},
	{ID: Top, Title: "top", Help: "to the beginning", Scopes: []string{Lists}, Keys: []string{"g", "home"}},
	{ID: Bottom, Title: "end", Help: "to the end, loading what is not loaded", Scopes: []string{Lists}, Keys: []string{"G", "end"}},
	{ID: HalfDown, Title: "half down", Help: "half a page down", Scopes: []string{Lists}, Keys: []string{"ctrl+d", "d"}, Show: "^d d"},
	{ID: HalfUp, Title: "half up", Help: "half a page up", Scopes: []string{Lists}, Keys: []string{"ctrl+u", "u"}, Show: "^u u"},
	{ID: PageDown, Title: "page down", Help: "a page down", Scopes: []string{Lists}, Keys: []string{"pgdown", "J"}, Show: "PgDn J"},
	{ID: PageUp, Title: "page up", Help: "a page up", Scopes: []string{Lists}, Keys: []string{"pgup", "K"}, Show: "PgUp K"},

	{ID: Overview, Title: "overview", Help: "overview of the graph", Keys: []string{"1"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Branches, Title: "branches", Help: "branches, and who needs whom", Keys: []string{"2"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Commits, Title: "commits", Help: "commits of all branches as a graph", Keys: []string{"3"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Tables, Title: "tables", Help: "node and edge types", Keys: []string{"4"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Versions, Title: "versions", Help: "version chain of __manifest", Keys: []string{"5"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Ops, Title: "operations", Help: "what was asked of the store, and what it cost before", Keys: []string{"0", "@"}, Show: "0 @", Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Palette, Title: "palette", Help: "search actions, branches, tables and commits", Keys: []string{"p", "ctrl+p"}, Show: "p ^p", Scopes: []string{Global}, Footer: 7, Keep: 90},
	{ID: Command, Title: "command", Help: "type a verb, as on the command line", Keys: []string{":"}, Scopes: []string{Global}},
	{ID: HistBack, Title: "back in history", Help: "to the place before, wherever it was", Keys: []string{"b", "[", "alt+left"}, Show: "b [", Scopes: []string{Global}},
	{ID: HistNext, Title: "forward", Help: "forward again", Keys: []string{"v", "]", "alt+right"}, Show: "v ]", Scopes: []string{Global}},
	{ID: Drawer, Title: "meter", Help: "open or close the meter's drawer: classes, hops, the requests one by one", Keys: []string{"m"}, Scopes: []string{Global}},
	{ID: Follow, Title: "follow", Help: "load again every few seconds, and stop", Keys: []string{"R"}, Scopes: []string{Global}, Enabled: needsGraph},
	{ID: Plain, Title: "plain", Help: "this pane alone without lines, for selecting text, and back", Keys: []string{"z"}, Scopes: []string{Global}},
	{ID: Mutate, Title: "mutate", Help: "insert, update and delete by a query: it is planned and shown before it runs", Keys: []string{"W"}, Scopes: []string{Global}, Writes: true},
	{ID: Load, Title: "load", Help: "load a file of JSON lines: it is planned and shown before it runs", Keys: []string{"L"}, Scopes: []string{Global}, Writes: true},
	{ID: Recover, Title: "recovery", Help: "what interrupted operations left, what recovery would do about each, and doing it after a confirmation", Keys: []string{"V"}, Scopes: []string{Global}, Footer: 2, Keep: 65,
		Enabled: needsOpened},
	{ID: Hurry, Title: "at once", Help: "act also on records so young that their writer may be at work, and leave them again: only when it is known to be gone", Keys: []string{"H"}, Scopes: []string{OnRecovery}},
	{ID: Unlock, Title: "unlock", Help: "allow writing to a remote graph, after typing its name; then it shows what is pending; again locks it", Keys: []string{"U"}, Scopes: []string{Global},
		Enabled: func(c Context) string {
			if !c.Graph {
				return "no graph is open"
			}
			return unless(c.Remote, "a graph on this machine is never locked")
		}},
	{ID: Back, Title: "back", Help: "go back", Scopes: []string{Global}, Keys: []string{"esc", "backspace"}, Footer: 6, Keep: 40,
		Enabled: func(c Context) string { return unless(c.Deep, "this is the first screen") }},
	{ID: Reload, Title: "reload", Help: "load this screen again", Scopes: []string{Global}, Keys: []string{"r"}, Footer: 8, Keep: 20,
		Enabled: func(c Context) string { return unless(c.Loads, "nothing here is loaded") }},
	{ID: Scope, Title: "meter scope", Help: "meter in the status line: screen, last operation, since start", Scopes: []string{Global}, Keys: []string{"s"}},
	{ID: Help, Title: "help", Help: "this sheet", Scopes: []string{Global}, Keys: []string{"?"}, Footer: 7, Keep: 100},
	{ID: Interrupt, Title: "cancel", Help: "cancel what is loading; twice within 2 s, quit", Scopes: []string{Global}, Keys: []string{"ctrl+c"}, Show: "^c"},
	{ID: Leave, Title: "quit", Help: "go back, from the first screen leave the program", Scopes: []string{Global}, Keys: []string{"q"}, Footer: 9, Keep: 25},
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

// moved is why the line between two panes cannot be moved in a direction.
func moved(c Context, ok bool) string {
	if !c.More && !c.Less {
		return "one pane has it all"
	}
	return unless(ok, "no further")
}

func needsOpened(c Context) string {
	if !c.Graph {
		return "no graph is open"
	}
	return unless(c.Opened, "the graph is not open yet")
}

func needsGraph(c Context) string { return unless(c.Graph, "no graph is open") }
