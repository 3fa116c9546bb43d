package cli

import (
	"context"
	"fmt"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/fixtures"
)

// demoURI is the address of the graph that the binary carries.
const demoURI = "demo:"

// reading is the run of a verb that looks at a graph: it opens it, finds the
// place in history, and closes it.
func reading(f func(context.Context, *call, *engine.Graph, engine.At) error) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) (err error) {
		g, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer func() {
			if e := g.Close(); err == nil && e != nil {
				err = fmt.Errorf("close %s: %w", c.uri, e)
			}
		}()
		at, err := c.at(ctx, g)
		if err != nil {
			return err
		}
		return f(ctx, c, g, at)
	}
}

// open opens the graph that the verb addresses.
func (c *call) open(ctx context.Context) (*engine.Graph, error) {
	o, err := c.engineOptions(c.uri)
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, c.uri, o)
}

func demoStore() (blob.Store, error) {
	s, err := fixtures.DemoStore()
	if err != nil {
		return nil, fmt.Errorf("open the embedded graph: %w", err)
	}
	return s, nil
}
