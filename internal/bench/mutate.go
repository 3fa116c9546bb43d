package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/omnideck/omnideck/fixtures"
)

// mutates changes one row, in one process each, of two copies of a graph, in
// turns.
func mutates(c config) error {
	both, err := programs(c)
	if err != nil {
		return err
	}
	bound := bind(c.threads)
	var roots [2]string
	for i, p := range both {
		roots[i] = filepath.Join(c.dir, "mutate-"+filepath.Base(p.home))
		if err := os.RemoveAll(roots[i]); err != nil {
			return err
		}
		if err := copyGraph(roots[i], c.mutate); err != nil {
			return err
		}
	}
	fmt.Printf("copies of %s; %s; %d threads, bound to processors: %t; %d runs in turns; whole processes, milliseconds min / median / max\n\n", c.mutate, disk(c.dir), c.threads, bound, c.runs)
	fmt.Printf("%-29s %24s %24s %8s %8s %6s %14s\n", "", "ours", "the Rust CLI", "ratio", "of min", "goal", "processor")
	one := func(i int) func(k int) (cost, error) {
		return func(k int) (cost, error) {
			return both[i].run("mutate", "--store", roots[i], "-e", fmt.Sprintf(c.statement, k))
		}
	}
	return line(c, "one row, one process", 1, one(0), one(1))
}

// copyGraph copies a graph: a folder, or one of those in shared by its name.
func copyGraph(root, graph string) error {
	if fi, err := os.Stat(graph); err == nil && fi.IsDir() {
		return os.CopyFS(root, os.DirFS(graph))
	}
	archive, err := fixtures.Shared("graphs", graph+".tar.gz")
	if err != nil {
		return fmt.Errorf("%s is no folder, nor a graph in shared: %w", graph, err)
	}
	files, err := fixtures.Unpack(archive)
	if err != nil {
		return err
	}
	return fixtures.Write(root, files)
}
