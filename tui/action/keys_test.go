package action

import (
	"fmt"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/golden"
)

// TestKeysPage: docs/KEYS.md is the table, in words. `go test -update` writes
// it anew.
func TestKeysPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Keys\n\nMade from the action table (`tui/action`) by its tests; do not edit. What writes to a graph is on a capital letter and first shows what it would do.\n")
	sections := append([]string{Global, Lists}, Screens...)
	for _, scope := range sections {
		rows := Default().Of(scope)
		if len(rows) == 0 {
			continue
		}
		title := map[string]string{Global: "everywhere", Lists: "in every list", OnRecovery: "in the plan of a recovery, above any screen"}[scope]
		if title == "" {
			title = "on " + scope
		}
		fmt.Fprintf(&b, "\n## %s\n\n| keys | action | what it does |\n|---|---|---|\n", strings.ToUpper(title[:1])+title[1:])
		for _, a := range rows {
			var keys []string
			for _, k := range a.Keys {
				if k != " " { // another spelling of space
					keys = append(keys, "`"+strings.ReplaceAll(k, "|", `\|`)+"`")
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(keys, " "), a.Title, a.Help)
		}
	}
	b.WriteString("\n## The command line\n\n`:` takes a verb. The names of actions, at the end of this page, are verbs too.\n\n| verb | also | what it does |\n|---|---|---|\n")
	for _, v := range Verbs {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.ReplaceAll(strings.TrimSpace(v.Name+" "+v.Args), "|", `\|`), strings.Join(v.Also, ", "), v.Help)
	}
	b.WriteString("\n## Your own keys\n\n`~/.config/omnideck/keys.toml` (below `$XDG_CONFIG_HOME` when that is set), or the file that `--keys` names, gives actions other keys. An empty list takes an action off\nthe keyboard; the command line still knows it.\n\n```toml\n[keys]\nfilter = [\"/\", \"ctrl+f\"]\nfollow = []\n```\n\nThe names of the actions: ")
	for i, a := range Default().Actions() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "`%s`", a.ID)
	}
	b.WriteString(".\n")
	golden.Equal(t, "../docs/KEYS.md", []byte(b.String()))
}
