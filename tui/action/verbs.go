package action

import "slices"

// Verb is a word of the command line: one of the verbs of the program, or a
// word for what the table of actions knows. Besides these, the ID of each
// action is a verb without arguments.
type Verb struct {
	Name string
	Also []string // other names
	Args string   // as they are written in the help; [] may be left out
	Help string
	Act  ID // the action that it is without arguments; "" = none
}

// Verbs is every word of the command line. The order is that of the help.
var Verbs = []Verb{
	{Name: "info", Also: []string{"overview"}, Help: "the overview of the graph", Act: Overview},
	{Name: "branches", Also: []string{"branch"}, Help: "branches, and who needs whom", Act: Branches},
	{Name: "log", Also: []string{"commits"}, Help: "the commits of all branches", Act: Commits},
	{Name: "snapshot", Also: []string{"tables"}, Help: "node and edge types", Act: Tables},
	{Name: "versions", Args: "[TABLE]", Help: "the versions of a table, else of __manifest", Act: Versions},
	{Name: "fragments", Args: "TABLE", Help: "the fragments of a table"},
	{Name: "indexes", Args: "TABLE", Help: "the indexes of a table"},
	{Name: "rows", Args: "TYPE [--where EXPR]", Help: "the rows of a type, those that meet a condition"},
	{Name: "schema", Args: "TYPE", Help: "the properties of a type, its keys and constraints"},
	{Name: "find", Args: "ID", Help: "where an id stands, in all types"},
	{Name: "neighbors", Args: "TYPE ID", Help: "one entity with its edges"},
	{Name: "diff", Args: "A B", Help: "compare two commits, versions or branches"},
	{Name: "at", Args: "COMMIT|VERSION|BRANCH", Help: "show that moment on all screens"},
	{Name: "now", Help: "back to the head of the branch"},
	{Name: "mutate", Also: []string{"change"}, Help: "insert, update and delete by a query: it is planned and shown before it runs", Act: Mutate},
	{Name: "load", Args: "[FILE]", Help: "load a file of JSON lines: it is planned and shown before it runs", Act: Load},
	{Name: "recover", Also: []string{"recovery"}, Help: "what interrupted operations left, what recovery would do, and doing it after a confirmation", Act: Recover},
	{Name: "ops", Also: []string{"operations"}, Help: "what was asked of the store", Act: Ops},
	{Name: "holds", Args: "TABLE VERSION", Help: "what keeps a version of a table"},
	{Name: "theme", Args: "NAME", Help: "change the colours"},
	{Name: "mouse", Help: "use the mouse, and leave it to the terminal again"},
	{Name: "keys", Also: []string{"help"}, Help: "what every key does", Act: Help},
	{Name: "write", Help: "allow writing to a remote graph, after typing its name", Act: Unlock},
	{Name: "lock", Help: "allow no writing any more"},
	{Name: "export", Args: "[FILE]", Help: "write what is shown to a file", Act: Export},
	{Name: "reload", Help: "load this screen again", Act: Reload},
	{Name: "quit", Also: []string{"q", "exit"}, Help: "leave the program"},
}

// ShellVerbs are the verbs of the program that have no screen.
var ShellVerbs = []string{"verify", "blob", "lance", "snap", "completion", "version"}

// FindVerb returns a verb by one of its names.
func FindVerb(name string) (Verb, bool) {
	for _, v := range Verbs {
		if v.Name == name || slices.Contains(v.Also, name) {
			return v, true
		}
	}
	return Verb{}, false
}

func hasVerb(id ID) bool {
	return slices.ContainsFunc(Verbs, func(v Verb) bool { return v.Act == id })
}
