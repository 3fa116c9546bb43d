package cost

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLedgerOfStrangers: of a ledger of 100 MB the end is read, noise is passed
// over, and what is no file is refused instead of waited for.
func TestLedgerOfStrangers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.ndjson")
	var text bytes.Buffer
	for i := 0; text.Len() < 100<<20; i++ {
		fmt.Fprintf(&text, `{"at":"2026-11-29T12:00:00Z","operation":"rows %d","uri":"u","requests":%d}`+"\n\x00\xff{]\n", i, -i)
	}
	text.WriteString(strings.Repeat("x", 2*maxLine) + "\n" + `{"at":"2026-11-29T12:00:01Z","operation":"last","uri":"u"}`)
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := OpenLedger(path).Read(0, nil)
	if err != nil || len(all) == 0 || all[len(all)-1].Operation != "last" {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	if least, most := maxLedger/200, maxLedger/60; len(all) < least || len(all) > most {
		t.Errorf("%d entries, want %d to %d: those of the last %d bytes", len(all), least, most, maxLedger)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLedger(path).Read(0, nil); err == nil || !strings.Contains(err.Error(), "expected a file") {
		t.Errorf("a folder is read as a ledger: %v", err)
	}
}
