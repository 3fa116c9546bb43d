package runner

import (
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/shell"
	"github.com/omnideck/omnideck/tui/screen"
)

// CommandLine is the line that does the same in a shell.
func (r *Runner) CommandLine(e *screen.Env) string {
	if r.rec != nil {
		return r.recoverCLI(e)
	}
	if r.Write.CLI != "" {
		return r.Write.CLI
	}
	uri := screen.Stripped(e.URI)
	var args []string
	switch {
	case r.Write.Mutate != nil:
		m := r.Write.Mutate
		args = []string{"mutate", "--store", uri, "-e", oneLine(m.Source)}
		if m.Name != "" {
			args = append(args, m.Name)
		}
		if p := strings.TrimSpace(string(m.Params)); p != "" && p != "{}" {
			args = append(args, "--params", oneLine(p))
		}
	case r.Write.Load != nil:
		l := r.Write.Load
		args = []string{"load", uri, "--data", l.File, "--mode", string(l.Mode)}
		if l.Chunk {
			args = append(args, "--chunk")
		}
		if l.Mode == engine.LoadOverwrite && e.Remote {
			args = append(args, "--yes")
		}
	}
	if r.Branch != "" {
		args = append(args, "--branch", r.Branch)
	}
	if r.step == Review && r.plan != nil {
		args = append(args, "--plan", r.plan.ID)
	}
	return shell.Line(args...)
}

// oneLine is a text on one line, without the comments that fill lines, when its
// line breaks mean nothing: they stand outside of quotes, and end no comment.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	var out []string
	for l := range strings.Lines(s) {
		l = strings.TrimSpace(l)
		switch {
		case l == "" || strings.HasPrefix(l, "//"):
		case strings.Contains(l, "//") || strings.Contains(l, "*"):
			return s
		default:
			out = append(out, l)
		}
	}
	if !quotesClose(s) {
		return s
	}
	return strings.Join(out, " ")
}

// quotesClose says that each line closes the double quotes that it opens.
func quotesClose(s string) bool {
	for l := range strings.Lines(s) {
		if strings.Count(l, `"`)%2 != 0 || strings.Contains(l, `\"`) {
			return false
		}
	}
	return true
}
