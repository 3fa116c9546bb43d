package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// loads loads a million nodes and a million edges (-rows) into a new graph: ours
// in one process, in chunks; the Rust CLI, which makes one commit of each load
// and takes at most 8,192 entities of a type, in one process a part.
func loads(c config) error {
	both, err := programs(c)
	if err != nil {
		return err
	}
	bound := bind(c.threads)
	in, err := generate(filepath.Join(c.dir, fmt.Sprintf("load-%d", c.rows)), c.rows)
	if err != nil {
		return err
	}
	fmt.Printf("%d nodes and %d edges in %d parts of at most %d; %s; %d threads, bound to processors: %t\n\n", c.rows, c.rows, len(in.parts), perLoad, disk(c.dir), c.threads, bound)
	var total [2]cost
	for i, load := range []func(program, string, *input) (cost, error){loadWhole, loadParts} {
		p := both[i]
		if c.only != "" && c.only != p.name {
			continue
		}
		root := filepath.Join(c.dir, "graph-"+filepath.Base(p.home))
		if err := os.RemoveAll(root); err != nil {
			return err
		}
		if _, err := p.run("init", "--schema", in.schema, root); err != nil {
			return err
		}
		if total[i], err = load(p, root, in); err != nil {
			return err
		}
		fmt.Printf("%-14s %8.1f s, processor %8.1f s, at most %5.0f MB\n", p.name, total[i].wall/1e3, total[i].cpu/1e3, total[i].peak)
	}
	if total[0].wall > 0 && total[1].wall > 0 {
		fmt.Printf("ours / theirs  %8.2f of the time, %.2f of the processor time\n", total[0].wall/total[1].wall, total[0].cpu/total[1].cpu)
	}
	return nil
}

func loadWhole(p program, root string, in *input) (cost, error) {
	return p.run("load", "--data", in.all, "--mode", "append", "--chunk", root)
}

// loadParts loads part by part. It prints what one load took in each tenth, so
// that what grows with the graph is seen.
func loadParts(p program, root string, in *input) (cost, error) {
	var all cost
	for tenth := range slices.Chunk(in.parts, max(len(in.parts)/10, 1)) {
		var some cost
		for _, part := range tenth {
			one, err := p.run("load", "--data", part, "--mode", "append", root)
			if err != nil {
				return all, err
			}
			some.add(one)
		}
		fmt.Printf("  to %s: %.0f ms a load\n", filepath.Base(tenth[len(tenth)-1]), some.wall/float64(len(tenth)))
		all.add(some)
	}
	return all, nil
}
