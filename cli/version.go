package cli

import (
	"context"
	"runtime/debug"

	"github.com/omnideck/omnideck/cli/out"
)

// version is set by the linker (see the Makefile).
var version string

// internalSchema is the format of graphs that this program reads whole.
const internalSchema = 6

func versionVerb() *verb {
	return &verb{
		name: "version", place: onNothing, group: "house", flags: []string{"json"},
		short: "The version of this program and of the graph format that it reads",
		run:   func(_ context.Context, c *call) error { return c.printVersion() },
	}
}

func (c *call) printVersion() error {
	doc := []out.Member{out.M("name", "omnideck"), out.M("version", programVersion()), out.M("internal_schema_version", internalSchema)}
	return c.answer(doc, func(t *out.Text) {
		t.Line("omnideck %s", programVersion())
		t.Line("internal-schema %d", internalSchema)
	})
}

// programVersion is what the linker said, else what the module says, else the
// commit that it was built from.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "-dirty"
			}
		}
	}
	if len(rev) > 12 {
		rev = rev[:12]
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev + dirty
}
