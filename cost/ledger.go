package cost

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Entry is one line of the ledger: one operation of any front end.
type Entry struct {
	At           time.Time `json:"at"`               // begin, UTC
	Operation    string    `json:"operation"`        // verb or screen
	URI          string    `json:"uri"`              // root of the store
	Commit       string    `json:"commit,omitempty"` // read or made
	Table        string    `json:"table,omitempty"`  // that it was about; "" = the whole graph
	Requests     int64     `json:"requests"`         //
	Hops         int       `json:"hops"`             //
	BytesRead    int64     `json:"bytes_read"`       //
	BytesWritten int64     `json:"bytes_written"`    //
	Retries      int64     `json:"retries"`          //
	MS           float64   `json:"ms"`               // wall time
	Outcome      string    `json:"outcome"`          // "ok", or the error's sentence
}

// NewEntry makes the line of a finished operation from its meter's totals.
func NewEntry(operation, uri, commit string, begin, end time.Time, t blob.Totals, err error) Entry {
	e := Entry{
		At: begin.UTC(), Operation: operation, URI: uri, Commit: commit,
		Requests: t.Requests, Hops: t.Hops, BytesRead: t.BytesRead, BytesWritten: t.BytesWritten, Retries: t.Retries,
		MS: float64(end.Sub(begin).Microseconds()) / 1000, Outcome: "ok",
	}
	if err != nil {
		e.Outcome = err.Error()
	}
	return e
}

// Bounds of the ledger. Two files are kept, the current one and the one before
// it, so the ledger never takes more than about twice maxLedger.
const (
	maxLedger  = 4 << 20  // bytes of one file
	maxLine    = 64 << 10 // bytes of one line, escapes included
	maxOutcome = 1 << 10  // bytes of Outcome, Operation, URI, Commit and Table each
)

// Ledger is a file of one JSON object a line, oldest first, and the same name
// with ".1" for the older half. Several processes may append at once: a line
// is one write to a file opened for appending. Nobody's operation fails
// because of it.
type Ledger struct {
	path string
	max  int64
}

// DefaultLedgerPath is omnideck/ledger.ndjson under $XDG_STATE_HOME, else
// under the user's cache folder.
func DefaultLedgerPath() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "omnideck", "ledger.ndjson"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the ledger: %w", err)
	}
	return filepath.Join(dir, "omnideck", "ledger.ndjson"), nil
}

// OpenLedger returns the ledger in a file, which need not exist.
func OpenLedger(path string) *Ledger { return &Ledger{path, maxLedger} }

// Path of the current file.
func (l *Ledger) Path() string { return l.path }

// Append writes one line. The error is for a caller that wants to mention it
// on a debug line; the operation it reports on has succeeded or failed already.
func (l *Ledger) Append(e Entry) error {
	for _, s := range []*string{&e.Operation, &e.URI, &e.Commit, &e.Table, &e.Outcome} {
		*s = cut(*s, maxOutcome)
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.rotate()
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// rotate puts a full file aside. When two processes do so at once, one rename
// fails or moves a file of a few lines; no line is torn.
func (l *Ledger) rotate() {
	if fi, err := os.Stat(l.path); err == nil && fi.Size() >= l.max {
		_ = os.Rename(l.path, l.path+".1")
	}
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// Read returns the last n entries that keep accepts (nil: all), oldest first.
// Lines that are not entries are passed over: the file is a convenience, and a
// crash may have cut its last line. Of a file that is far longer than this
// program makes any, the last maxLedger bytes are read.
func (l *Ledger) Read(n int, keep func(Entry) bool) ([]Entry, error) {
	var out []Entry
	for _, path := range []string{l.path + ".1", l.path} {
		fi, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !fi.Mode().IsRegular() { // a pipe would be waited for
			err = fmt.Errorf("found %s at %s, expected a file", fi.Mode().Type(), path)
		}
		if err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		out, err = readTail(f, fi.Size(), out, n, keep)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("read the ledger %s: %w", path, err)
		}
	}
	return out, nil
}

// readTail reads the end of a file that is longer than any that this program
// makes, and others whole.
func readTail(f *os.File, size int64, out []Entry, n int, keep func(Entry) bool) ([]Entry, error) {
	if size > 2*maxLedger {
		if _, err := f.Seek(-maxLedger, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	return readEntries(io.LimitReader(f, 2*maxLedger), out, n, keep)
}

func readEntries(r io.Reader, out []Entry, n int, keep func(Entry) bool) ([]Entry, error) {
	br := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := br.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // not ours: no line is that long
			line = nil
			_, err = br.ReadSlice('\n')
		}
		var e Entry
		if line = bytes.TrimSpace(line); len(line) > 0 && json.Unmarshal(line, &e) == nil && !e.At.IsZero() && (keep == nil || keep(e)) {
			out = append(out, e)
			if n > 0 && len(out) > n {
				out = out[1:]
			}
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
