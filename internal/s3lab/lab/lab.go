// Package lab runs a real S3 endpoint on this machine for tests: versitygw on a
// folder, and on request s3meter, the independent counting proxy of
// ../shared/oracle, in front of it.
//
// The endpoint keeps buckets as folders: Path(name) is where the objects below
// s3://lab/name lie on disk. Test is for tests; `go run ./internal/s3lab` uses
// the rest.
package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Bucket is the one bucket that is there from the beginning.
const Bucket = "lab"

// Options of Start.
type Options struct {
	// Dir keeps the buckets.
	Dir string
	// Meter puts s3meter in front, so that Stats and Log work.
	Meter bool
	// RTT is what s3meter adds to every request.
	RTT time.Duration
	// Between, when set, stands behind s3meter and in front of the endpoint.
	Between func(endpoint http.Handler) http.Handler
}

// Lab is a running endpoint.
type Lab struct {
	Endpoint string // URL for clients
	control  string
	dir      string
	procs    []*exec.Cmd
	between  *httptest.Server
	gate     *gate // nil without s3meter
}

// Start runs the endpoint; binaries are looked for in bin (see Binaries).
func Start(ctx context.Context, bin string, opts Options) (l *Lab, err error) {
	l = &Lab{dir: opts.Dir}
	defer func() {
		if err != nil {
			l.Stop()
		}
	}()
	if err := os.MkdirAll(filepath.Join(opts.Dir, Bucket), 0o755); err != nil {
		return nil, err
	}
	addr, err := l.run(ctx, func(addr string) *exec.Cmd {
		return exec.Command(filepath.Join(bin, "versitygw"), "-q", "--access", "lab", "--secret", "labsecret",
			"--keep-alive", "--port", addr, "posix", opts.Dir)
	})
	if err != nil {
		return nil, err
	}
	l.Endpoint = "http://" + addr
	if opts.Between != nil {
		u, err := url.Parse(l.Endpoint)
		if err != nil {
			return nil, err
		}
		l.between = httptest.NewServer(opts.Between(forward(u, &http.Transport{DisableCompression: true}, func() {})))
		l.Endpoint = l.between.URL
	}
	if !opts.Meter {
		return l, nil
	}
	control, err := freeAddr()
	if err != nil {
		return nil, err
	}
	upstream := l.Endpoint
	addr, err = l.run(ctx, func(addr string) *exec.Cmd {
		return exec.Command(filepath.Join(bin, "s3meter"), "-listen", addr, "-control", control,
			"-upstream", upstream, "-rtt", opts.RTT.String())
	})
	if err != nil {
		return nil, err
	}
	l.control = "http://" + control
	if err := reachable(ctx, control); err != nil {
		return nil, err
	}
	l.gate = newGate(&url.URL{Scheme: "http", Host: addr})
	l.Endpoint = l.gate.server.URL
	return l, nil
}

// run starts a program on a free port and waits until it accepts connections.
func (l *Lab) run(ctx context.Context, command func(addr string) *exec.Cmd) (string, error) {
	addr, err := freeAddr()
	if err != nil {
		return "", err
	}
	cmd := command(addr)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	l.procs = append(l.procs, cmd)
	if err := reachable(ctx, addr); err != nil {
		l.Stop()
		return "", fmt.Errorf("%s does not answer on %s: %w\n%s", cmd.Path, addr, err, out.String())
	}
	return addr, nil
}

// given are the addresses that freeAddr has given.
var given sync.Map

// freeAddr is an address that a program may listen on, and that nobody else
// takes before it does: it is on a host that is this process's own (see hostOf).
func freeAddr() (string, error) {
	for {
		ln, err := net.Listen("tcp", hostOf(os.Getpid())+":0")
		if err != nil {
			return "", err
		}
		addr := ln.Addr().String()
		ln.Close()
		if _, again := given.LoadOrStore(addr, true); !again {
			return addr, nil
		}
	}
}

// hostOf is the loopback address of a process. Elsewhere than on Linux there is
// only one.
func hostOf(pid int) string {
	if runtime.GOOS != "linux" {
		return "127.0.0.1"
	}
	return fmt.Sprintf("127.%d.%d.%d", 1+pid>>16&127, pid>>8&255, pid&255) // of 22 bits
}

func reachable(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Stop ends what Start started.
func (l *Lab) Stop() {
	if l.gate != nil {
		l.gate.close()
		l.gate = nil
	}
	for _, p := range l.procs {
		_ = p.Process.Signal(syscall.SIGTERM)
	}
	for _, p := range l.procs {
		done := make(chan struct{})
		go func() { _ = p.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = p.Process.Kill()
			<-done
		}
	}
	l.procs = nil
	if l.between != nil {
		l.between.Close()
		l.between = nil
	}
}

// URI is the address of a root in the bucket.
func (l *Lab) URI(name string) string { return "s3://" + Bucket + "/" + name }

// Path is where a root's objects lie on disk. Files put there are objects.
func (l *Lab) Path(name string) string { return filepath.Join(l.dir, Bucket, name) }

// Env are the settings that clients need, for our programs and the Rust ones,
// shielded from the user's own.
func (l *Lab) Env() map[string]string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": "lab", "AWS_SECRET_ACCESS_KEY": "labsecret", "AWS_REGION": "us-east-1",
		"AWS_ENDPOINT_URL": l.Endpoint, "AWS_ENDPOINT_URL_S3": l.Endpoint, "AWS_ENDPOINT": l.Endpoint,
		"AWS_ALLOW_HTTP": "true", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false", "AWS_S3_FORCE_PATH_STYLE": "true",
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	}
}

// Stats are the counts of s3meter.
type Stats struct {
	Requests     int64            `json:"requests"`
	SerialDepth  int              `json:"serial_depth"`
	Ops          map[string]int64 `json:"ops"`
	Classes      map[string]int64 `json:"classes"`
	BytesRead    int64            `json:"bytes_read"`
	BytesWritten int64            `json:"bytes_written"`
}

// Request is one line of s3meter's log.
type Request struct {
	Op       string  `json:"op"`
	Key      string  `json:"key"`
	Range    string  `json:"range"`
	Cond     string  `json:"cond"`
	Status   int     `json:"status"`
	ReqBytes int64   `json:"req_bytes"`
	ResBytes int64   `json:"res_bytes"`
	StartMS  float64 `json:"start_ms"`
	EndMS    float64 `json:"end_ms"`
}

// Reset makes s3meter forget all requests of clients that are done.
func (l *Lab) Reset() error {
	if err := l.settle(); err != nil {
		return err
	}
	l.gate.forget()
	resp, err := http.Post(l.control+"/reset", "", nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Stats are those of all requests since Reset, of clients that are done.
func (l *Lab) Stats() (s Stats, err error) {
	if err := l.settle(); err != nil {
		return s, err
	}
	return l.stats()
}

func (l *Lab) stats() (s Stats, err error) {
	err = l.ask("/stats", func(d *json.Decoder) error { return d.Decode(&s) })
	return s, err
}

var errNoMeter = errors.New("this lab runs without s3meter")

func (l *Lab) settle() error {
	if l.gate == nil {
		return errNoMeter
	}
	return l.gate.settle(func() (int64, error) { s, err := l.stats(); return s.Requests, err })
}

// Log is every request since Reset, of clients that are done, oldest first.
func (l *Lab) Log() (log []Request, err error) {
	if err := l.settle(); err != nil {
		return nil, err
	}
	err = l.ask("/log", func(d *json.Decoder) error {
		for {
			var r Request
			err := d.Decode(&r)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			log = append(log, r)
		}
	})
	return log, err
}

func (l *Lab) ask(path string, read func(*json.Decoder) error) error {
	resp, err := http.Get(l.control + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return read(json.NewDecoder(resp.Body))
}
