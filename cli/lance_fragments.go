package cli

import (
	"context"

	"github.com/omnideck/omnideck/cli/out"
	"github.com/omnideck/omnideck/engine"
)

func lanceFragmentsVerb() *verb {
	return &verb{
		name: "lance fragments", place: onDataset, flags: []string{"branch", "at-version"},
		short:   "How a dataset lies on disk: fragments, files, deletions, indexes",
		example: "lance fragments demo:__manifest --json",
		run: onLance(func(ctx context.Context, c *call, d *dataset) error {
			s, err := d.snapshot(ctx)
			if err != nil {
				return err
			}
			f, err := engine.Layout(c.uri, s)
			if err != nil {
				return err
			}
			return c.own(f, func(t *out.Text) { printFragments(t, f) })
		}),
	}
}
