package manifest

import (
	"fmt"
	"strconv"

	"github.com/omnideck/omnideck/lance/format"
)

// CurrentStamp is the internal schema version that this engine reads in full.
const CurrentStamp = 6

// StampKey is the key in the schema metadata of `__manifest`.
const StampKey = "omnigraph:internal_schema_version"

// Stamp is the internal schema version of a graph. It is never edited.
type Stamp struct {
	Version int    // 0 when absent or not a number
	Raw     string // as stored
	Present bool   //
	// Modern: the rows have identity columns. True for every graph of
	// generation 5 and later, stamped or not.
	Modern bool
}

func readStamp(s *format.Schema) Stamp {
	raw, ok := s.Metadata[StampKey]
	st := Stamp{Raw: raw, Present: ok, Modern: s.Lookup("stable_table_id") != nil && s.Lookup("table_incarnation_id") != nil}
	if n, err := strconv.ParseUint(raw, 10, 31); ok && err == nil {
		st.Version = int(n)
	}
	return st
}

// OK reports whether the graph is of the generation that is read in full.
func (s Stamp) OK() bool { return s.Version == CurrentStamp && s.Modern }

// Newer reports whether the graph is of a generation that came after this
// engine: its rows may mean something else and are not folded.
func (s Stamp) Newer() bool { return s.Version > CurrentStamp }

// release names the programs that wrote a generation.
func release(version int) string {
	switch version {
	case 1:
		return "0.3.1 or earlier"
	case 2:
		return "0.4.1 to 0.6.1"
	case 3:
		return "0.6.2 to 0.7.2"
	case 4:
		return "0.8"
	case 5:
		return "an unreleased state between 0.8 and 0.9"
	}
	return "an unknown release"
}

// Finding is the sentence to say about a stamp that is not OK: found,
// expected, and what can be done. "" when it is OK.
func (s Stamp) Finding() string {
	switch {
	case s.OK():
		return ""
	case s.Newer():
		return fmt.Sprintf("__manifest is stamped with internal schema version %d, this program knows up to %d: a newer OmniGraph wrote it; its catalogue is not read, look with a newer program", s.Version, CurrentStamp)
	case s.Version == CurrentStamp:
		return fmt.Sprintf("__manifest is stamped with internal schema version %d but lacks the identity columns of that version: its layout or its stamp was changed by another program", s.Version)
	case s.Version > 0:
		return fmt.Sprintf("__manifest is stamped with internal schema version %d (OmniGraph %s), this program reads %d in full: it is shown as far as it can be read; to write, export it with that release and load it into a new graph", s.Version, release(s.Version), CurrentStamp)
	case s.Present:
		return fmt.Sprintf("the internal schema stamp of __manifest is %q, which is not a version number: the metadata is damaged; what is shown was checked row by row, the stamp is not to be edited", clip(s.Raw))
	case s.Modern:
		return "__manifest has the current layout but no internal schema stamp: an interrupted init of an older release, or damaged metadata; what is shown was checked row by row, do not initialise in place"
	}
	return fmt.Sprintf("__manifest has no internal schema stamp and no identity columns: a graph of OmniGraph %s; it is shown as far as it can be read; to write, export it with that release and load it into a new graph", release(1))
}

// StampError: the graph is of a newer generation.
type StampError struct{ Stamp Stamp }

func (e *StampError) Error() string { return e.Stamp.Finding() }

// Is makes it one of the errors that mean "made for a newer reader".
func (e *StampError) Is(target error) bool { return target == format.ErrUnsupported }
