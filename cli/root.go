package cli

import (
	"context"
	"errors"
	"fmt"
	"github.com/spf13/pflag"
	"io"
	"slices"
	"strings"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"
)

// Run runs one command line and returns its exit code. It never exits the
// process and reads the environment only through env.
func Run(ctx context.Context, env Env) int {
	root := newRoot(&env)
	root.SetArgs(append([]string{}, env.Args...)) // never nil: cobra would read os.Args
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := execute(ctx, root, env.Args)
	if err != nil {
		env.report(ctx, err)
	}
	return exitCode(ctx, err)
}

// execute leaves help and manual pages to fang and runs verbs by cobra alone:
// fang asks the terminal for its colours even after an error, which can take
// seconds.
func execute(ctx context.Context, root *cobra.Command, args []string) error {
	if !wantsHelp(args) {
		return root.ExecuteContext(ctx)
	}
	silent := func(_ io.Writer, _ fang.Styles, _ error) {}
	return fang.Execute(ctx, root, fang.WithoutVersion(), fang.WithErrorHandler(silent))
}

func wantsHelp(args []string) bool {
	if len(args) > 0 && (args[0] == "help" || args[0] == "man") {
		return true
	}
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// newRoot builds the commands.
func newRoot(env *Env) *cobra.Command {
	open := openVerb()
	root := open.command(env)
	root.Use = "omnideck [URI]"
	root.GroupID = ""
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SuggestionsMinimumDistance = 2
	root.AddGroup(groups...)
	root.SetCompletionCommandGroupID("house")
	root.SetHelpCommandGroupID("house")
	parents := map[string]*cobra.Command{}
	for _, f := range families {
		p := &cobra.Command{Use: f.name, Short: f.short, GroupID: f.group, Args: cobra.ArbitraryArgs, RunE: family}
		// A flag may stand between the family and the verb: cobra must know which
		// flags take no value to find the verb behind them.
		for _, id := range append(slices.Clone(commonFlags), "ndjson") {
			define(p.Flags(), id)
			p.Flags().Lookup(nameOf(id)).Hidden = true
		}
		parents[f.name] = p
		root.AddCommand(p)
	}
	for _, v := range verbs() {
		parent := root
		if name, _, ok := strings.Cut(v.name, " "); ok {
			parent = parents[name]
		}
		parent.AddCommand(v.command(env))
	}
	root.SetFlagErrorFunc(flagError)
	return root
}

// family answers a family without a verb.
func family(c *cobra.Command, args []string) error {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	if len(args) == 0 {
		return usagef("%s needs a verb: one of %s", c.Name(), strings.Join(names, ", "))
	}
	return usagef("%s has no verb %q: there is %s", c.Name(), args[0], strings.Join(names, ", "))
}

// foreign are flags of the Rust CLI that no verb here can use, and why.
var foreign = map[string]string{
	"server":  "omnideck opens storage directly and talks to no server: give the graph's URI or --store URI",
	"cluster": "omnideck opens storage directly and knows no clusters: give the graph's URI or --store URI",
	"graph":   "it chooses a graph of a server or a cluster, and a URI is one graph already",
	"as":      "it names the author of a commit, and this verb records none",
	"yes":     "it confirms what destroys, and this verb does not",
}

// flagError explains a flag that a verb cannot use.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	name := strings.TrimPrefix(c.CommandPath(), "omnideck ")
	help := c.CommandPath() + " --help"
	if !errors.As(err, &unknown) {
		return usagef("%v: see `%s`", err, help)
	}
	flag := unknown.GetSpecifiedName()
	dashed := "--" + flag
	if len(flag) == 1 {
		dashed = "-" + flag
	}
	if why := foreign[flag]; why != "" {
		return usagef("%s cannot use %s: %s", name, dashed, why)
	}
	if _, known := flagTable[flag]; known {
		return usagef("%s cannot use %s: see `%s` for the flags that it has", name, dashed, help)
	}
	return usagef("%s has no flag %s: see `%s`", name, dashed, help)
}

// suggest is a verb whose name is close to what was typed, or where to look.
func (c *call) suggest(typed string) string {
	if near := c.cmd.Root().SuggestionsFor(typed); len(near) > 0 {
		return fmt.Sprintf("; did you mean the verb %s?", strings.Join(near, " or "))
	}
	return "; `omnideck --help` lists the verbs"
}
