package cost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
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

// Read returns the last n entries (n < 1: all), oldest first, of the URIs that
// keep accepts (nil: of all).
func (l *Ledger) Read(n int, keep func(uri string) bool) ([]Entry, error) {
	var out []Entry
	for e, err := range l.Newest(keep) {
		if err != nil {
			return nil, err
		}
		if out = append(out, e); len(out) == n {
			break
		}
	}
	slices.Reverse(out)
	return out, nil
}

// Newest yields the entries of the URIs that keep accepts (nil: of all),
// newest first; a screen asks for the lines of one graph among those of many,
// so keep is asked before a line is decoded. Lines that are not entries are
// passed over: the file is a convenience, and a crash may have cut its last
// line. An error is the last that is yielded.
func (l *Ledger) Newest(keep func(uri string) bool) iter.Seq2[Entry, error] {
	if keep == nil {
		keep = func(string) bool { return true }
	}
	return func(yield func(Entry, error) bool) {
		var last os.FileInfo
		for _, path := range []string{l.path, l.path + ".1"} {
			data, fi, err := readTail(path)
			if err != nil {
				yield(Entry{}, fmt.Errorf("read the ledger: %w", err))
				return
			}
			if os.SameFile(fi, last) { // put aside meanwhile
				return
			}
			last = fi
			for len(data) > 0 {
				i := bytes.LastIndexByte(data, '\n')
				line := data[i+1:]
				data = data[:max(i, 0)]
				if e, ok := entryOf(line, keep); ok && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// entryOf decodes a line whose URI is wanted.
func entryOf(line []byte, keep func(uri string) bool) (e Entry, ok bool) {
	if len(line) == 0 || len(line) > maxLine { // not ours: no line is that long
		return e, false
	}
	if _, rest, found := bytes.Cut(line, []byte(`"uri":"`)); found {
		uri, _, _ := bytes.Cut(rest, []byte{'"'})
		if bytes.IndexByte(uri, '\\') < 0 && !keep(string(uri)) {
			return e, false
		}
	}
	return e, json.Unmarshal(line, &e) == nil && !e.At.IsZero() && keep(e.URI)
}

// readTail reads a file that need not exist; of one that is longer than any
// that this program makes, the last maxLedger bytes.
func readTail(path string) ([]byte, os.FileInfo, error) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !fi.Mode().IsRegular() { // a pipe would be waited for
		return nil, nil, fmt.Errorf("found %s at %s, expected a file", fi.Mode().Type(), path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if fi, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	size := fi.Size()
	if size > 2*maxLedger {
		size = maxLedger
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, fi.Size()-size)
	if errors.Is(err, io.EOF) { // shorter than it was
		err = nil
	}
	return data[:n], fi, err
}
