package tui

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/theme"
	"github.com/omnideck/omnideck/tui/workspace"
)

// Overview writes the overview as plain text: what is shown where there is no
// terminal. It asks what the overview screen asks. A part that cannot be read
// says so in its place; the first such error is returned after everything
// else was written.
func Overview(ctx context.Context, out io.Writer, ws workspace.Workspace, at engine.At, ascii bool) error {
	th, err := theme.New("mono", theme.Unknown, ascii)
	if err != nil {
		return err
	}
	info, infoErr := ws.Info(ctx, at)
	names, namesErr := ws.BranchNames(ctx)
	snap, snapErr := ws.Snapshot(ctx, at)
	var b strings.Builder
	textFacts(&b, ws, info, infoErr, names, namesErr)
	if infoErr == nil {
		textFindings(&b, th, info)
	}
	b.WriteString("\ntables\n")
	if snapErr != nil {
		fmt.Fprintf(&b, "  could not be read: %v\n", snapErr)
	} else {
		textTables(&b, th, snap)
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("writing the overview: %w", err)
	}
	for _, err := range []error{infoErr, namesErr, snapErr} {
		if err != nil {
			return err
		}
	}
	return nil
}

func textFacts(b *strings.Builder, ws workspace.Workspace, info *engine.Info, infoErr error, names []string, namesErr error) {
	fact := func(name, value string) { fmt.Fprintf(b, "%-11s %s\n", name, value) }
	fact("address", ws.URI())
	if infoErr != nil {
		fact("graph", "could not be read: "+infoErr.Error())
	} else {
		f := screen.FactsOf(info, ", ")
		fact("head", f.Head)
		fact("rows", f.Rows)
		fact("__manifest", f.Manifest)
		for _, f := range info.Store {
			fact(f.Name, f.Value)
		}
	}
	if namesErr != nil {
		fact("branches", "could not be read: "+namesErr.Error())
	} else {
		fact("branches", strings.Join(names, ", "))
	}
}

func textFindings(b *strings.Builder, th *theme.Theme, info *engine.Info) {
	b.WriteString("\nfindings\n")
	if len(info.Findings) == 0 {
		b.WriteString("  none by the quick checks; deeper ones were not run\n")
	}
	for _, f := range info.Findings {
		fmt.Fprintf(b, "  %s %s %s\n", screen.SeverityMark(th, f.Severity), f.ID, part.Clean(f.Title, th.Glyph))
		for _, e := range f.Evidence {
			fmt.Fprintf(b, "      %s: %s\n", part.Clean(e.Key, th.Glyph), part.Clean(e.Fact, th.Glyph))
		}
	}
	for _, p := range info.PendingRecovery {
		fmt.Fprintf(b, "  %s recovery pending: %s on %s, %s\n", th.Glyph.Warn, p.Kind, p.Branch, p.Key)
	}
}

func textTables(b *strings.Builder, th *theme.Theme, snap *engine.Snapshot) {
	if len(snap.Datasets) == 0 {
		b.WriteString("  none: the schema has no types yet\n")
	}
	name, rows := 0, 0
	for _, d := range snap.Datasets {
		name = max(name, part.Width(part.Clean(d.Table(), th.Glyph)))
		rows = max(rows, len(part.Count(d.EntityCount)))
	}
	for _, d := range snap.Datasets {
		fmt.Fprintf(b, "  %s  %s rows  v%s\n", part.Pad(part.Clean(d.Table(), th.Glyph), name), part.PadLeft(part.Count(d.EntityCount), rows), part.Count(d.Version))
	}
}
