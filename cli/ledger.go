package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/cost"
)

// record writes the line of a finished run into this machine's ledger. A ledger
// that cannot be written fails nobody's run.
func (c *call) record(err error) {
	ledger, lerr := openLedger()
	if lerr != nil {
		return
	}
	_ = ledger.Append(cost.NewEntry(c.verb.name, canonical(c.uri), c.commit, c.began, c.env.Now(), c.meter.Totals(), err))
}

// canonical is the spelling of an address in the ledger: local folders are
// absolute, so that an entry means the same from every folder.
func canonical(uri string) string {
	uri = strings.TrimRight(opener.Spelled(uri), "/")
	if path, ok := strings.CutPrefix(uri, "file://"); ok {
		uri = path
	}
	if strings.Contains(uri, "://") || uri == demoURI {
		return uri
	}
	if abs, err := filepath.Abs(uri); err == nil {
		return abs
	}
	return uri
}

func sameURI(a, b string) bool { return canonical(a) == canonical(b) }

// milliseconds is a duration for people.
func milliseconds(ms float64) string {
	if ms >= 10_000 {
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.0f ms", ms)
}
