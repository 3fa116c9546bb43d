package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/omnideck/omnideck/cost"
)

// state is the folder beside the ledger in which the workstation keeps where
// one was on each graph, and what was copied last.
type state struct{ dir string }

func openState() (state, error) {
	ledger, err := cost.DefaultLedgerPath()
	if err != nil {
		return state{}, err
	}
	return state{filepath.Dir(ledger)}, nil
}

// stateMax is how many bytes of a kept state are read; more are none of ours.
const stateMax = 1 << 20

// file is where the state of a graph is kept. The name is a hash: an address
// may hold anything.
func (s state) file(graph string) string {
	sum := sha256.Sum256([]byte(canonical(graph)))
	return filepath.Join(s.dir, "graphs", hex.EncodeToString(sum[:16])+".json")
}

// load reads the state of a graph; nil when there is none.
func (s state) load(graph string) ([]byte, error) {
	text, err := readAtMost(s.file(graph), stateMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was kept of this graph: %w", err)
	}
	return text, nil
}

// save replaces the state of a graph. A crash leaves the old one or the new
// one.
func (s state) save(graph string, text []byte) error {
	if err := replace(s.file(graph), text); err != nil {
		return fmt.Errorf("keeping the state of this graph: %w", err)
	}
	return nil
}

// copied writes what was copied to a file, for terminals whose clipboard cannot
// be reached, and says which.
func (s state) copied(text []byte) (string, error) {
	file := filepath.Join(s.dir, "copied.txt")
	if err := replace(file, text); err != nil {
		return "", fmt.Errorf("writing what was copied: %w", err)
	}
	return file, nil
}

// replace writes a file that only its owner can read, whole or not at all.
func replace(path string, text []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// readAtMost reads a file that has at most n bytes. What is no file, such as a
// pipe, is not waited for.
func readAtMost(path string, n int64) ([]byte, error) {
	fi, err := os.Stat(path)
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("found %s at %s, expected a file", fi.Mode().Type(), path)
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, n+1))
	if err == nil && int64(len(text)) > n {
		err = fmt.Errorf("read %s: found more than %d bytes", path, n)
	}
	return text, err
}
