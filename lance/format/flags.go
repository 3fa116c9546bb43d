package format

import (
	"fmt"
	"math/bits"
	"strings"
)

// Flags are the feature flags of a manifest, one set for readers and one for
// writers.
type Flags uint64

// The flags that Lance 10 defines.
const (
	FlagDeletionFiles  Flags = 1 << iota // some fragment has a deletion file
	FlagStableRowIDs                     // row ids are stable
	FlagV2Format                         // no longer written
	FlagTableConfig                      // the table has configuration
	FlagBasePaths                        // files may lie in other folders
	FlagNoTransactions                   // no .txn files are written
	FlagDataOverlays                     // unstable; release builds of Lance refuse it
)

// readable are the flags that this program understands, as a reader and as a
// writer.
const readable = FlagDeletionFiles | FlagStableRowIDs | FlagV2Format | FlagTableConfig | FlagBasePaths | FlagNoTransactions

var flagNames = []string{"deletion files", "stable row ids", "v2 format", "table config", "base paths", "no transaction files", "data overlay files"}

// String lists the names of the bits that are set.
func (f Flags) String() string {
	if f == 0 {
		return "none"
	}
	var out []string
	for rest := uint64(f); rest != 0; rest &= rest - 1 {
		out = append(out, bitName(bits.TrailingZeros64(rest)))
	}
	return strings.Join(out, ", ")
}

func bitName(bit int) string {
	if bit < len(flagNames) {
		return flagNames[bit]
	}
	return fmt.Sprintf("bit %d (unknown)", bit)
}

// FlagError: a table demands of its readers or writers what this program does
// not know. It is an ErrUnsupported.
type FlagError struct {
	Bit     int
	Meaning string // the flag's name, or that it has none
	Writing bool   // it is a writer's flag
}

func (e *FlagError) Error() string {
	if e.Writing {
		return fmt.Sprintf("the table demands writer feature bit %d (value %d, %s), which this program does not know; writing on would break what that promises. Write with the program that set it, or with a newer omnideck",
			e.Bit, uint64(1)<<e.Bit, e.Meaning)
	}
	return fmt.Sprintf("the table demands reader feature bit %d (value %d, %s), which this program does not know; reading on could show wrong rows. Open it with the program that wrote it, or with a newer omnideck",
		e.Bit, uint64(1)<<e.Bit, e.Meaning)
}

// Is makes every FlagError an ErrUnsupported.
func (e *FlagError) Is(target error) bool { return target == ErrUnsupported }

// CheckReadable refuses a manifest that asks its reader for what this program
// does not understand, with a FlagError about the lowest such bit.
func (f Flags) CheckReadable() error {
	bad := f &^ readable
	if bad == 0 {
		return nil
	}
	bit := bits.TrailingZeros64(uint64(bad))
	return &FlagError{Bit: bit, Meaning: meaning(bit)}
}

// CheckWritable refuses, like CheckReadable, a manifest that asks its writers
// for what this program does not understand.
func (f Flags) CheckWritable() error {
	bad := f &^ readable
	if bad == 0 {
		return nil
	}
	bit := bits.TrailingZeros64(uint64(bad))
	return &FlagError{Bit: bit, Meaning: meaning(bit), Writing: true}
}

func meaning(bit int) string {
	if bit < len(flagNames) {
		return flagNames[bit]
	}
	return "not defined by Lance 10"
}
