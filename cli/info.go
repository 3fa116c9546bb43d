package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
)

func infoVerb() *verb {
	return &verb{
		name: "info", group: "look", flags: []string{"branch", "at"},
		short:   "What a graph is, how it stands, and which store it was read from",
		long:    "What a graph is and how it stands, without reading rows: format, branch, head, size, pending recoveries,\nand the findings that can be seen at this depth, worst first. Findings never change the exit code here; verify does that.\nOf a plain Lance dataset it tells what `lance info` does.",
		example: "info demo:\ninfo s3://bucket/graph --json --rpc",
		run: func(ctx context.Context, c *call) error {
			err := reading(info)(ctx, c)
			var not *engine.NotAGraphError
			if !errors.As(err, &not) || not.Kind != "lance" || c.given("at") {
				return err
			}
			return onLance(lanceInfo)(ctx, c)
		},
	}
}

func info(ctx context.Context, c *call, g *engine.Graph, at engine.At) error {
	i, err := g.Info(ctx, at)
	if err != nil {
		return err
	}
	c.commit = i.HeadCommit
	return c.whole(tellInfo(i), func(t *out.Text) { printInfo(t, c.uri, i) })
}

// infoDoc is the document of info. What could not be read is null, not 0.
type infoDoc struct {
	URI                   string           `json:"uri"`
	Kind                  string           `json:"kind"`
	InternalSchemaVersion *int             `json:"internal_schema_version"`
	Branch                string           `json:"branch"`
	GraphManifestVersion  *uint64          `json:"graph_manifest_version"`
	HeadCommit            *string          `json:"head_commit"`
	Branches              *int             `json:"branches"`
	Types                 *int             `json:"types"`
	Rows                  *uint64          `json:"rows"`
	Manifest              infoManifest     `json:"manifest"`
	PendingRecovery       []engine.Pending `json:"pending_recovery"`
	Findings              []engine.Finding `json:"findings"`
	Store                 []engine.Fact    `json:"store"`
}

type infoManifest struct {
	Fragments *int    `json:"fragments"`
	Versions  int     `json:"versions"`
	Exact     bool    `json:"versions_exact"`
	Bytes     *uint64 `json:"bytes"`
}

// folded: the rows of `__manifest` were read, which tell head, types and rows.
// opened: its manifest was.
func folded(i *engine.Info) bool { return i.GraphManifestVersion > 0 }
func opened(i *engine.Info) bool { return i.Manifest.Bytes > 0 }

// known is a value, or nil when it could not be read.
func known[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

func tellInfo(i *engine.Info) *infoDoc {
	pending := append([]engine.Pending{}, i.PendingRecovery...)
	if slices.Contains(i.Unread, engine.UnreadRecovery) {
		pending = nil
	}
	return &infoDoc{
		URI: i.URI, Kind: i.Kind, InternalSchemaVersion: known(i.InternalSchemaVersion, i.InternalSchemaVersion > 0), Branch: i.Branch,
		GraphManifestVersion: known(i.GraphManifestVersion, folded(i)), HeadCommit: known(i.HeadCommit, i.HeadCommit != ""), Branches: known(i.Branches, i.Branches > 0),
		Types: known(i.Types, folded(i)), Rows: known(i.Rows, folded(i)),
		Manifest:        infoManifest{known(i.Manifest.Fragments, opened(i)), i.Manifest.Versions, i.Manifest.Exact, known(i.Manifest.Bytes, opened(i))},
		PendingRecovery: pending, Findings: append([]engine.Finding{}, i.Findings...), Store: i.Store,
	}
}

// notRead stands for a number that could not be read.
const notRead = "not readable, see below"

func printInfo(t *out.Text, uri string, i *engine.Info) {
	versions := part.Plural(i.Manifest.Versions, "version", "versions")
	if !i.Manifest.Exact {
		versions = "at least " + versions
	}
	format, manifest, types, rows := notRead, versions+", the newest "+notRead, notRead, notRead
	if i.InternalSchemaVersion > 0 {
		format = fmt.Sprintf("internal schema %d", i.InternalSchemaVersion)
	}
	if opened(i) {
		manifest = fmt.Sprintf("%s, %s, %s", part.Plural(i.Manifest.Fragments, "fragment", "fragments"), versions, part.Bytes(i.Manifest.Bytes))
	}
	if folded(i) {
		manifest = fmt.Sprintf("version %d, %s", i.GraphManifestVersion, manifest)
		types, rows = strconv.Itoa(i.Types), strconv.FormatUint(i.Rows, 10)+" recorded"
	}
	branch := i.Branch + ", one of " + strconv.Itoa(i.Branches)
	if i.Branches == 0 {
		branch = i.Branch + "; others " + notRead
	}
	t.Pairs([2]string{"graph", i.URI}, [2]string{"format", format}, [2]string{"branch", branch},
		[2]string{"head", i.HeadCommit}, [2]string{"manifest", manifest}, [2]string{"types", types}, [2]string{"rows", rows})
	if slices.Contains(i.Unread, engine.UnreadRecovery) {
		t.Line("pending   %s", notRead)
	}
	for _, p := range i.PendingRecovery {
		t.Line("pending   %s", pendingText(p))
	}
	findings(t, uri, i.Findings)
	store := make([][2]string, 0, len(i.Store))
	for _, f := range i.Store {
		store = append(store, [2]string{f.Name, f.Value})
	}
	t.Pairs(store...)
}

func pendingText(p engine.Pending) string {
	s := strings.TrimPrefix(p.Kind+" "+p.Key, " ")
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
