package cli

import (
	"context"
	"errors"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/tui/part"
	"github.com/omnideck/omnideck/tui/theme"
)

func lanceVerifyVerb() *verb {
	return &verb{
		name: "lance verify", place: onDataset, flags: []string{"branch", "at-version", "deep", "key-column", "external"},
		short:   "Check a version of a dataset, its chain and its refs",
		long:    "Check a version of a dataset against the objects that it names, its chain, branches and tags. --deep also reads\nevery manifest, every deletion file and every value, compares where blobs lie with the lengths of their files, and lists\nrows with the same key. A flip inside a blob cannot be seen: Lance keeps no checksums. Exits with 3 when something is wrong. Changes nothing.",
		example: "lance verify demo:__manifest --deep",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			r, err := d.verify(ctx)
			if err != nil {
				return err
			}
			doc := tellReport(mainOr(d.options().Branch), r)
			if err := c.own(doc, func(t *out.Text) { printReport(t, doc) }); err != nil {
				return err
			}
			if !doc.Clean {
				return &findingsError{len(doc.Problems)}
			}
			return nil
		}),
	}
}

// verify judges the version that the flags name. When its manifest is damaged
// that is a finding, and chain and refs are judged all the same.
func (d *dataset) verify(ctx context.Context) (*lance.Report, error) {
	o := lance.VerifyOptions{Deep: d.c.boolean("deep"), Refs: true, Chains: true, Keys: true, Key: d.c.text("key-column")}
	s, err := d.snapshot(ctx)
	var damaged *lance.DamagedManifestError
	switch {
	case errors.As(err, &damaged):
		return lance.VerifyUnopened(ctx, d.store, d.root, d.options(), damaged, o)
	case err != nil:
		return nil, err
	}
	return lance.Verify(ctx, s, o)
}

// datasetReport is the document of lance verify: that of verify, and a
// severity for each problem. Warnings leave a dataset clean.
type datasetReport struct {
	Clean    bool             `json:"clean"`
	Problems []datasetProblem `json:"problems"`
	Checked  datasetChecked   `json:"checked"`
}

type datasetProblem struct {
	ID           string `json:"id"`
	Severity     string `json:"severity"`
	Branch       string `json:"branch"`
	Version      uint64 `json:"version"`
	Key          string `json:"key"`
	Found        string `json:"found"`
	Expected     string `json:"expected"`
	RowsAffected uint64 `json:"rows_affected"`

	Copies []lance.Copy `json:"copies,omitempty"` // of duplicate-key
}

type datasetChecked struct {
	Files     int    `json:"files"`
	Fragments int    `json:"fragments"`
	Rows      uint64 `json:"rows"`
	Indexes   int    `json:"indexes"`
	Versions  int    `json:"versions"`
	Refs      int    `json:"refs"`
}

func tellReport(branch string, r *lance.Report) *datasetReport {
	d := &datasetReport{Clean: r.Clean(), Problems: []datasetProblem{},
		Checked: datasetChecked{r.Files, r.Fragments, r.Rows, r.Indexes, r.Versions, r.Refs}}
	for _, p := range r.Problems {
		d.Problems = append(d.Problems, datasetProblem{p.ID, p.Severity, branch, p.Version, p.Key, p.Found, p.Expected, p.RowsAffected, p.Copies})
	}
	return d
}

func printReport(t *out.Text, d *datasetReport) {
	for _, p := range d.Problems {
		role := theme.Warn
		if p.Severity == "error" {
			role = theme.Bad
		}
		t.Raw(t.Paint(role, p.Severity) + "  " + out.Clean(p.ID+"  "+p.Key) + "\n")
		t.Line("      found %s, expected %s", p.Found, p.Expected)
	}
	k := d.Checked
	t.Line("checked %s, %s, %s, %s, %s, %s", part.Plural(k.Files, "file", "files"), part.Plural(k.Fragments, "fragment", "fragments"),
		part.Plural(k.Rows, "row", "rows"), part.Plural(k.Indexes, "index segment", "index segments"),
		part.Plural(k.Versions, "version", "versions"), part.Plural(k.Refs, "ref", "refs"))
	if d.Clean {
		t.Raw(t.Paint(theme.OK, "clean") + "\n")
	}
}
