package cli

import (
	"context"
	"slices"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/cost"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

func opsVerb() *verb {
	return &verb{
		name: "ops", args: "[URI]", more: 1, place: onNothing, group: "judge", flags: []string{"json", "ndjson", "limit", "no-color"}, limit: 50,
		short:   "What was done here lately and what it asked of the store",
		long:    "The ledger of this machine: one line for every operation of the verbs and of the workstation, newest last.\nWith a URI only those on that graph. Asks no store.",
		example: "ops\nops demo: --limit 5 --json",
		run: func(_ context.Context, c *call) error {
			uri := ""
			if len(c.args) > 0 {
				uri = c.args[0]
			}
			ledger, err := openLedger()
			if err != nil {
				return err
			}
			all, err := ledger.Read(c.integer("limit"), func(of string) bool { return uri == "" || sameURI(of, uri) })
			if err != nil {
				return err
			}
			if c.boolean("ndjson") {
				return lines(c, slices.Values(all))
			}
			doc := []out.Member{out.M("uri", uri), out.M("operations", append([]cost.Entry{}, all...))}
			return c.answer(doc, func(t *out.Text) { printOps(t, all) })
		},
	}
}

func openLedger() (*cost.Ledger, error) {
	path, err := cost.DefaultLedgerPath()
	if err != nil {
		return nil, err
	}
	return cost.OpenLedger(path), nil
}

func printOps(t *out.Text, all []cost.Entry) {
	rows := make([][]out.Cell, 0, len(all))
	for _, e := range all {
		outcome := out.Cell{Text: e.Outcome, Role: theme.OK}
		if e.Outcome != "ok" {
			outcome.Role = theme.Bad
		}
		rows = append(rows, []out.Cell{{Text: moment(e.At), Role: theme.Muted}, out.C(e.Operation), out.C(e.URI), out.C(decimal(e.Requests)),
			out.C(decimal(e.Hops)), out.C(part.Bytes(e.BytesRead)), out.C(decimal(e.Retries)), out.C(milliseconds(e.MS)), outcome})
	}
	t.Table([]out.Column{{Name: "when"}, {Name: "operation"}, {Name: "graph"}, {Name: "requests", Right: true}, {Name: "hops", Right: true},
		{Name: "read", Right: true}, {Name: "retries", Right: true}, {Name: "time", Right: true}, {Name: "outcome"}}, rows)
}
