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
	b.WriteString("# Keys\n\nMade from the action table (`tui/action`) by its tests; do not edit. No key of this release writes anything.\n")
	sections := append([]string{Global, Lists}, Screens...)
	for _, scope := range sections {
		rows := Default().Of(scope)
		if len(rows) == 0 {
			continue
		}
		title := map[string]string{Global: "everywhere", Lists: "in every list"}[scope]
		if title == "" {
			title = "on " + scope
		}
		fmt.Fprintf(&b, "\n## %s\n\n| keys | action | what it does |\n|---|---|---|\n", strings.ToUpper(title[:1])+title[1:])
		for _, a := range rows {
			keys := make([]string, len(a.Keys))
			for i, k := range a.Keys {
				keys[i] = "`" + strings.ReplaceAll(k, "|", `\|`) + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(keys, " "), a.Title, a.Help)
		}
	}
	golden.Equal(t, "../docs/KEYS.md", []byte(b.String()))
}
