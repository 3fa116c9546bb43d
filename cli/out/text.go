package out

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/theme"
)

// Text prints for people. Its writer keeps the first error; see Err.
type Text struct {
	w     io.Writer
	theme *theme.Theme
	err   error
}

// NewText prints to w in the styles of th.
func NewText(w io.Writer, th *theme.Theme) *Text { return &Text{w: w, theme: th} }

// Err is the first error of the writer.
func (t *Text) Err() error { return t.err }

// Raw prints text as it is.
func (t *Text) Raw(s string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, s)
	}
}

// Line prints one line. The arguments are cleaned when they are strings, the
// format is not.
func (t *Text) Line(format string, args ...any) {
	for i, a := range args {
		switch s := a.(type) {
		case string:
			args[i] = Clean(s)
		case fmt.Stringer:
			args[i] = Clean(s.String())
		}
	}
	t.Raw(fmt.Sprintf(format, args...) + "\n")
}

// Paint cleans text and gives it the style of a role.
func (t *Text) Paint(r theme.Role, s string) string { return t.theme.Paint(r, Clean(s)) }

// Pairs prints name and value lines, the values aligned. Empty values are
// passed over.
func (t *Text) Pairs(pairs ...[2]string) {
	width := 0
	for _, p := range pairs {
		if p[1] != "" {
			width = max(width, ansi.StringWidth(p[0]))
		}
	}
	for _, p := range pairs {
		if p[1] == "" {
			continue
		}
		pad := strings.Repeat(" ", width-ansi.StringWidth(p[0]))
		t.Raw(t.theme.Paint(theme.Muted, p[0]) + pad + "  " + Clean(p[1]) + "\n")
	}
}

// Theme is what the text is printed in.
func (t *Text) Theme() *theme.Theme { return t.theme }
