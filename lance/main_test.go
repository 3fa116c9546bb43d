package lance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/omnideck/omnideck/fixtures"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if pylanceDir != "" {
			if err := os.RemoveAll(pylanceDir); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// made is one dataset that pylance made, and what it reads from it.
type made struct {
	Case   string  `json:"case"`
	Stable bool    `json:"stable"`
	States []state `json:"states"`
}

type state struct {
	N       int    `json:"n"` // -1: nothing was written down
	Branch  string `json:"branch"`
	Version uint64 `json:"version"`
	Rows    uint64 `json:"rows"`
}

var (
	pylanceOnce  sync.Once
	pylanceDir   string
	pylanceCases []made
	pylanceErr   error
)

// makeCases runs pylance, once for all tests, which do not write to the folder.
func makeCases(t *testing.T) (dir string, cases []made) {
	t.Helper()
	python(t)
	pylanceOnce.Do(func() {
		if pylanceDir, pylanceErr = os.MkdirTemp("", "omnideck-lance-"); pylanceErr != nil {
			return
		}
		out := filepath.Join(pylanceDir, "cases")
		run(t, "make_cases.py", out)
		var b []byte
		if b, pylanceErr = os.ReadFile(filepath.Join(out, "cases.json")); pylanceErr == nil {
			pylanceErr = json.Unmarshal(b, &pylanceCases)
		}
	})
	if pylanceErr != nil || pylanceCases == nil {
		t.Fatalf("the cases that pylance makes are not there: %v", pylanceErr)
	}
	return filepath.Join(pylanceDir, "cases"), pylanceCases
}

// field are the files of one dataset of the cases from the field.
func field(t *testing.T, name string) map[string][]byte {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("testdata", "field_cases.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := fixtures.Unpack(archive)
	if err != nil {
		t.Fatal(err)
	}
	return under(all, name)
}
