package cli

import (
	"context"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/lance"
)

func lanceVerifyVerb() *verb {
	return &verb{
		name: "lance verify", place: onDataset, flags: []string{"branch", "at-version", "deep"},
		short:   "Check a dataset's version against the objects that it names",
		long:    "Check a dataset's version against the objects that it names. --deep also opens every data file and reads every\ndeletion file. Exits with 3 when something is wrong. Changes nothing.",
		example: "lance verify demo:__manifest --deep",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			s, err := d.snapshot(ctx)
			if err != nil {
				return err
			}
			r, err := lance.Verify(ctx, s, lance.VerifyOptions{Deep: c.boolean("deep")})
			if err != nil {
				return err
			}
			v := &engine.Verification{Clean: len(r.Problems) == 0, Problems: []engine.Problem{},
				Checked: engine.VerifyChecked{Files: r.Files, Fragments: r.Fragments, Rows: r.Rows, Refs: r.Refs}}
			for _, p := range r.Problems {
				v.Problems = append(v.Problems, engine.Problem{ID: p.ID, Branch: mainOr(s.Branch()), Version: p.Version, Key: p.Key,
					Found: p.Found, Expected: p.Expected, RowsAffected: p.RowsAffected})
			}
			if err := c.own(v, func(t *out.Text) { printVerification(t, v) }); err != nil {
				return err
			}
			if !v.Clean {
				return &findingsError{len(v.Problems)}
			}
			return nil
		}),
	}
}
