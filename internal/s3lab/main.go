// Command s3lab is `make s3`: it builds versitygw, a real S3 endpoint, into
// ./bin, runs it on a free port of this machine with a bucket called "lab", and
// prints the environment that clients need. Where ../shared is at hand,
// s3meter, the counting proxy, stands in front. It ends on Ctrl-C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "s3lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir := flag.String("dir", "", "folder of the buckets (default: a temporary one, removed at the end)")
	rtt := flag.Duration("rtt", 0, "latency that s3meter adds to every request")
	build := flag.Bool("build", false, "build the binaries and stop")
	flag.Parse()
	root, err := lab.Root()
	if err != nil {
		return err
	}
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	if err := lab.BuildEndpoint(ctx, bin); err != nil {
		return err
	}
	meter := true
	if err := lab.BuildMeter(ctx, root, bin); errors.Is(err, fs.ErrNotExist) {
		meter = false
		fmt.Fprintln(os.Stderr, "s3lab: without s3meter, ../shared/oracle is not here")
	} else if err != nil {
		return err
	}
	if *build {
		return nil
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "s3lab"); err != nil {
			return err
		}
		defer os.RemoveAll(*dir)
	}
	l, err := lab.Start(ctx, bin, lab.Options{Dir: *dir, Meter: meter, RTT: *rtt})
	if err != nil {
		return err
	}
	defer l.Stop()
	env := l.Env()
	for _, k := range slices.Sorted(maps.Keys(env)) {
		fmt.Printf("export %s=%s\n", k, env[k])
	}
	fmt.Fprintf(os.Stderr, "buckets are folders in %s; open s3://%s/…; Ctrl-C ends this\n", *dir, lab.Bucket)
	<-ctx.Done()
	return nil
}
