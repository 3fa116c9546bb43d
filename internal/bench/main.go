// Bench times the reader of data files against pylance, in one run on one
// machine, and the writing verbs against the Rust CLI.
//
//	go run ./internal/bench [-threads N] [-runs N] [-rows N] [-direct] [-write] [-profile FILE]
//	go run ./internal/bench -load [-rows N] [-only NAME]
//	go run ./internal/bench -mutate GRAPH [-runs N] [-statement QUERY]
//
// It lets pylance write a dataset of a million rows in one data file, once,
// and then takes turns: one scan of ours, one of theirs, for every column, for
// the five columns of the issue together, and for 1,000 random rows, in one
// call and one by one. Both have their dataset open, both read from the page
// cache, and both hold the whole result before they let go of it. The number
// of threads is GOMAXPROCS on our side and LANCE_CPU_THREADS on theirs, and
// both processes are bound to so many processors (taskset, where it exists).
//
// With -write it times the writers instead: the columns are in memory on both
// sides, one batch, and end in a data file on the same disk, which nobody syncs
// but ours in the last line; pylance writes the manifest too. The sizes of the data files are compared.
//
// With -load it runs our binary and the Rust CLI: a million nodes and a million
// edges into a new graph, see loads. With -mutate both change a row of copies of
// a graph, a process each. Both programs sync what they write as they do for
// their users. OMNIGRAPH_BIN names the Rust CLI.
//
// OMNIDECK_PYTHON names the interpreter that has pylance; without it python3
// is tried. A ratio above 1 means that ours is faster: of the medians, and of the
// minima, which other work on the machine disturbs less. The last column is the
// median processor time of both, in milliseconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
)

// column is one line: names of columns with commas, what they hold, and the ratio
// that is the goal.
type column struct {
	name, what string
	goal       float64
}

// columns are what is scanned, with the ratios that are the goal.
var columns = []column{
	{"i64", "i64, 20 bits", 1.5},
	{"f64", "f64 in [0,1)", 1.5},
	{"prose", "utf8, 42 bytes of prose", 1},
	{"kind", "utf8, 50 distinct", 1},
	{"vec", "vector of 16 f32", 1.5},
	{"i64,f64,prose,kind,vec", "the five together", 1},
	{"i64r", "i64, random", 1.5},
	{"i32n", "i32, 10% null", 1.5},
	{"bin", "binary, the same prose", 1},
	{"hex", "utf8, 32 hex digits", 1},
	{"list", "list of i64, 0-4 items", 1},
}

const five = "i64,f64,prose,kind,vec"

type config struct {
	dir     string
	rows    int
	runs    int
	threads int
	direct  bool
	write   bool
	only    string
	profile string

	load              bool
	mutate, statement string
	binary            string
}

func main() {
	var c config
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	flag.StringVar(&c.dir, "dir", filepath.Join(cache, "omnideck-bench"), "folder of the dataset, which is written once")
	flag.IntVar(&c.rows, "rows", 1_000_000, "rows")
	flag.IntVar(&c.runs, "runs", 9, "runs of each side")
	flag.IntVar(&c.threads, "threads", runtime.NumCPU(), "threads of each side")
	flag.BoolVar(&c.direct, "direct", false, "read the data file without the dataset and store around it")
	flag.BoolVar(&c.write, "write", false, "time the writers instead of the readers")
	flag.StringVar(&c.only, "only", "", "only this line: names of columns with commas, take or single")
	flag.StringVar(&c.profile, "profile", "", "write a CPU profile of our side to this file")
	flag.BoolVar(&c.load, "load", false, "load a graph, beside the Rust CLI")
	flag.StringVar(&c.mutate, "mutate", "", "change rows of copies of this graph, a folder or a name in shared, beside the Rust CLI")
	flag.StringVar(&c.statement, "statement", `query q() { update Port set { depth_m: %d.5 } where code = "NLRTM" }`, "what changes the row; %d is another number each time")
	flag.StringVar(&c.binary, "binary", "omnideck", "our binary, as make build makes it")
	flag.Parse()
	run := run
	switch {
	case c.load:
		run = func(_ context.Context, c config) error { return loads(c) }
	case c.mutate != "":
		run = func(_ context.Context, c config) error { return mutates(c) }
	}
	if err := run(context.Background(), c); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, c config) error {
	runtime.GOMAXPROCS(c.threads)
	bound := bind(c.threads)
	p, err := startPeer(c)
	if err != nil {
		return err
	}
	defer p.stop()
	path := filepath.Join(c.dir, fmt.Sprintf("rows-%d", c.rows))
	about, err := p.ask("write", path, c.rows)
	if err != nil {
		return err
	}
	open := openDataset
	if c.direct {
		open = openDirect
	}
	ours, err := open(ctx, path, c)
	if err != nil {
		return err
	}
	defer ours.close()
	fmt.Printf("%d rows in %s\npylance %s, pyarrow %s; %s on %s/%s; %d threads each, bound to processors: %t; %d runs in turns; milliseconds min / median / max\n\n",
		c.rows, path, about["lance"], about["pyarrow"], runtime.Version(), runtime.GOOS, runtime.GOARCH, c.threads, bound, c.runs)
	fmt.Printf("%-29s %24s %24s %8s %8s %6s %14s\n", "", "ours", "pylance", "ratio", "of min", "goal", "processor")
	if c.runs < 1 {
		return fmt.Errorf("-runs %d: at least 1", c.runs)
	}
	if c.profile != "" {
		f, err := os.Create(c.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if c.write {
		return writes(ctx, c, p, ours, path)
	}
	return lines(ctx, c, p, ours, path)
}

// lines measures and prints line by line.
func lines(ctx context.Context, c config, p *peer, ours reader, path string) error {
	for _, col := range columns {
		if c.only != "" && c.only != col.name {
			continue
		}
		err := line(c, col.what, col.goal,
			func(int) (cost, error) { return scan(ctx, ours, col.name) },
			func(int) (cost, error) { return p.time("scan", path, col.name) })
		if err != nil {
			return err
		}
	}
	const n = 1000
	if c.only == "" || c.only == "take" {
		err := line(c, "1,000 random rows, one call", 1,
			func(k int) (cost, error) { return take(ctx, ours, k, n, false) },
			func(k int) (cost, error) { return p.time("take", path, k, n, five) })
		if err != nil {
			return err
		}
	}
	if c.only == "" || c.only == "single" {
		return line(c, "1,000 random rows, one by one", 1,
			func(k int) (cost, error) { return take(ctx, ours, k, n, true) },
			func(k int) (cost, error) { return p.time("single", path, k, n, five) })
	}
	return nil
}

// line runs both sides in turns, after one run each that does not count.
func line(c config, what string, goal float64, ours, theirs func(k int) (cost, error)) error {
	var a, b, busyA, busyB sample
	for k := range c.runs + 1 {
		x, err := ours(k)
		if err != nil {
			return fmt.Errorf("%s: ours: %w", what, err)
		}
		y, err := theirs(k)
		if err != nil {
			return fmt.Errorf("%s: pylance: %w", what, err)
		}
		if k > 0 {
			a, b = append(a, x.wall), append(b, y.wall)
			busyA, busyB = append(busyA, x.cpu), append(busyB, y.cpu)
		}
	}
	fmt.Printf("%-29s %24s %24s %7.2fx %7.2fx %5.1fx %6.0f :%6.0f\n", what, a, b,
		b.median()/a.median(), slices.Min(b)/slices.Min(a), goal, busyA.median(), busyB.median())
	return nil
}
