package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnideck/omnideck/blob/opener"
)

// verb is one verb: what it is called, what it takes and what it does.
type verb struct {
	name     string   // "commit list"
	alias    string   // another name of its last word
	args     string   // positionals as help shows them, the URI excepted
	need     int      // positionals that must be there, the URI excepted
	more     int      // positionals that may follow
	short    string   // one line of help
	long     string   // more of it; "" = short
	example  string   // lines, without the program's name
	group    string   // id of a help group
	flags    []string // ids, the common ones excepted
	without  []string // ids of common flags that it cannot use
	required []string // ids of flags that must be given
	limit    int      // default of --limit
	place    place
	anyGraph bool // no graph need be addressed
	fresh    bool // the address stands on the line: no default is meant
	named    bool // the only positional is the graph when it can be nothing else, or nothing else says which graph is meant
	run      func(context.Context, *call) error
}

// place says what a verb works on.
type place uint8

const (
	onGraph   place = iota // a graph, or a folder that might be one
	onDataset              // one Lance dataset or file, by its path only
	onNothing              // no store at all
)

// groups are the headings of help.
var groups = []*cobra.Group{
	{ID: "look", Title: "look at a graph"},
	{ID: "read", Title: "read its rows"},
	{ID: "judge", Title: "judge it"},
	{ID: "change", Title: "change it"},
	{ID: "lance", Title: "Lance datasets"},
	{ID: "house", Title: "omnideck itself"},
}

// families are the verbs that only hold others.
var families = []struct{ name, short, group string }{
	{"branch", "Branches of a graph", "look"},
	{"commit", "Commits of a graph", "look"},
	{"schema", "The schema of a graph", "look"},
	{"blob", "One blob value of a node or an edge", "read"},
	{"lance", "Any Lance dataset, graph or not", "lance"},
}

// verbs lists every verb, in the order of help.
func verbs() []*verb {
	return []*verb{
		infoVerb(), snapshotVerb(), branchListVerb(), commitListVerb(), commitShowVerb(), logVerb(), diffVerb(), schemaShowVerb(),
		versionsVerb(), fragmentsVerb(), holdsVerb(), snapVerb(),
		rowsVerb(), findVerb(), neighborsVerb(), exportVerb(), blobGetVerb(), blobStatVerb(),
		verifyVerb(), opsVerb(),
		initVerb(), loadVerb(), mutateVerb(), recoverVerb(),
		lanceInfoVerb(), lanceVersionsVerb(), lanceFragmentsVerb(), lanceScanVerb(), lanceTakeVerb(), lancePagesVerb(), lanceVerifyVerb(),
		versionVerb(),
	}
}

// allFlags are the ids of the verb's flags, the common ones included.
func (v *verb) allFlags() []string {
	var ids []string
	switch v.place {
	case onGraph:
		ids = append(append(ids, commonFlags...), scopeFlags...)
	case onDataset:
		ids = []string{"json", "rpc", "no-color", "timeout", "concurrency"} // nothing is kept, and there is little to say
	case onNothing:
	}
	ids = append(ids, v.flags...)
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(v.without, id) })
}

// usage is the line of help, the program's name excepted.
func (v *verb) usage() string {
	_, last, ok := strings.Cut(v.name, " ")
	if !ok {
		last = v.name
	}
	switch v.place {
	case onGraph:
		last += " URI"
	case onDataset:
		last += " PATH"
	case onNothing:
	}
	return strings.TrimSpace(last + " " + v.args)
}

// command makes the verb known to cobra.
func (v *verb) command(env *Env) *cobra.Command {
	c := &cobra.Command{
		Use:     v.usage(),
		Short:   v.short,
		Long:    paragraphs(v.long),
		Example: examples(v.example),
		Args:    cobra.ArbitraryArgs,
		RunE:    func(c *cobra.Command, args []string) error { return v.start(env, c, args) },
	}
	if v.alias != "" {
		c.Aliases = []string{v.alias}
	}
	if !strings.Contains(v.name, " ") {
		c.GroupID = v.group
	}
	c.Flags().SortFlags = true
	for _, id := range v.allFlags() {
		define(c.Flags(), id)
		if words := flagTable[id].words; words != nil {
			_ = c.RegisterFlagCompletionFunc(nameOf(id), cobra.FixedCompletions(words(), cobra.ShellCompDirectiveNoFileComp)) // fails for a flag that is not there
		}
	}
	if f := c.Flags().Lookup("limit"); f != nil && v.limit != 0 {
		f.DefValue = fmt.Sprint(v.limit)
		_ = f.Value.Set(f.DefValue)
	}
	return c
}

// paragraphs leaves the breaking of lines to the one who prints, who knows the
// width: only an empty line parts.
func paragraphs(s string) string {
	parts := strings.Split(s, "\n\n")
	for i, p := range parts {
		parts[i] = strings.Join(strings.Fields(p), " ")
	}
	return strings.Join(parts, "\n\n")
}

func examples(s string) string {
	if s == "" {
		return ""
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = "omnideck " + l
	}
	return strings.Join(lines, "\n")
}

// split parts positionals into the URI ("" = none given) and the others.
func (v *verb) split(args []string, addressed bool) (uri string, rest []string, err error) {
	lo, hi := v.need, v.need+v.more
	if v.place != onNothing {
		hi++
	}
	if v.place == onDataset {
		lo++
	}
	switch {
	case len(args) < lo:
		return "", nil, usagef("missing %s: usage is `omnideck %s`", missing(v, len(args)), v.fullUsage())
	case len(args) > hi:
		return "", nil, usagef("unexpected argument %q: usage is `omnideck %s`", args[hi], v.fullUsage())
	}
	switch v.place {
	case onDataset:
		return args[0], args[1:], nil
	case onGraph:
		if v.leadsWithURI(args, addressed) {
			return args[0], args[1:], nil
		}
	case onNothing:
	}
	return "", args, nil
}

// leadsWithURI: the first positional is the graph. With optional positionals it
// is told from a table by its form: node:T, edge:T or __manifest is no URI.
func (v *verb) leadsWithURI(args []string, addressed bool) bool {
	switch {
	case len(args) <= v.need:
		return false
	case len(args) == v.need+v.more+1:
		return true
	}
	if v.named {
		return isAddress(args[0]) || strings.ContainsAny(args[0], `/\.`)
	}
	return !addressed && !isTable(args[0])
}

// isTable: the text is the name of a table.
func isTable(s string) bool {
	return s == manifestTable || strings.HasPrefix(s, "node:") || strings.HasPrefix(s, "edge:")
}

// isAddress: the text can only be the address of a graph.
func isAddress(s string) bool {
	return strings.Contains(opener.Spelled(s), "://") || strings.HasPrefix(s, demoURI)
}

// manifestTable is the name of the table of tables.
const manifestTable = "__manifest"

func (v *verb) fullUsage() string {
	family, _, ok := strings.Cut(v.name, " ")
	if !ok {
		return v.usage()
	}
	return family + " " + v.usage()
}

// missing names the first positional that is not there.
func missing(v *verb, have int) string {
	words := strings.Fields(v.args)
	if v.place == onDataset {
		words = append([]string{"PATH"}, words...)
	}
	if have < len(words) {
		return words[have]
	}
	return "an argument"
}
