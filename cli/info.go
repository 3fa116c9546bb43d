package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
)

func infoVerb() *verb {
	return &verb{
		name: "info", group: "look", flags: []string{"branch", "at"},
		short:   "What a graph is, how it stands, and which store it was read from",
		long:    "What a graph is and how it stands, without reading rows: format, branch, head, size, pending recoveries,\nand the findings that can be seen at this depth, worst first. Findings never change the exit code here; verify does that.",
		example: "info demo:\ninfo s3://bucket/graph --json --rpc",
		run:     reading(info),
	}
}

func info(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
	i, err := g.Info(ctx, at)
	if err != nil {
		return err
	}
	c.commit = i.HeadCommit
	return c.whole(i, func(t *out.Text) { printInfo(t, i) })
}

func printInfo(t *out.Text, i *engine.Info) {
	if i.Kind == "lance" {
		t.Pairs([2]string{"dataset", i.URI}, [2]string{"rows", strconv.FormatUint(i.Rows, 10) + " recorded"})
	} else {
		printGraph(t, i)
	}
	for _, p := range i.PendingRecovery {
		t.Line("pending   %s", pendingText(p))
	}
	findings(t, i.Findings)
	store := make([][2]string, 0, len(i.Store))
	for _, f := range i.Store {
		store = append(store, [2]string{f.Name, f.Value})
	}
	t.Pairs(store...)
}

func printGraph(t *out.Text, i *engine.Info) {
	versions := part.Plural(i.Manifest.Versions, "version", "versions")
	if !i.Manifest.Exact {
		versions = "at least " + versions
	}
	t.Pairs(
		[2]string{"graph", i.URI},
		[2]string{"format", fmt.Sprintf("internal schema %d", i.InternalSchemaVersion)},
		[2]string{"branch", fmt.Sprintf("%s, one of %d", i.Branch, i.Branches)},
		[2]string{"head", i.HeadCommit},
		[2]string{"manifest", fmt.Sprintf("version %d, %s, %s, %s", i.GraphManifestVersion,
			part.Plural(i.Manifest.Fragments, "fragment", "fragments"), versions, part.Bytes(i.Manifest.Bytes))},
		[2]string{"types", strconv.Itoa(i.Types)},
		[2]string{"rows", strconv.FormatUint(i.Rows, 10) + " recorded"},
	)
}

func pendingText(p engine.Pending) string {
	s := fmt.Sprintf("%s %s", p.Kind, p.Key)
	if p.Branch != "" {
		s += " on " + p.Branch
	}
	if p.Phase != "" {
		s += ", " + p.Phase
	}
	if !p.StartedAt.IsZero() {
		s += ", begun " + moment(p.StartedAt)
	}
	switch {
	case p.Published:
		s += ", published"
	case p.Moved:
		s += ", written at another address"
	}
	if p.Problem != "" {
		s += ": " + p.Problem
	}
	return s
}
