package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// openFile opens a file of the user, in a command. A path may begin with ~/.
func openFile(path string) (*os.File, error) {
	name := path
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		name = filepath.Join(home, rest)
	}
	// A pipe is not opened: nobody may ever write into it.
	switch info, err := os.Stat(name); {
	case err != nil:
		var why *fs.PathError
		if errors.As(err, &why) {
			err = why.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder, expected a file", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.Open(name)
}

// readFile is screen.ReadFile.
func readFile(_ context.Context, path string, most int64) (data []byte, err error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, most))
}
