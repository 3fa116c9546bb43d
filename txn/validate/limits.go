package validate

import (
	"fmt"

	"github.com/omnideck/omnideck/schema"
)

// What one write may bring of one type. Rows of an overwrite are not counted.
const (
	MaxRows  = 8192
	MaxBytes = 32 << 20 // by Size
)

// The resources that are limited, as the Rust engine names them.
const (
	ResourceRows  = "keyed entities"
	ResourceBytes = "strict_input_arrow_bytes"
)

// LimitError: a write brings more than it may. Nothing was written.
type LimitError struct {
	Resource      string
	Of            string // the type, node:Book; "" when it is of no type
	Line          int    // of the input, 0 when it is of no line
	Limit, Actual int64  // Actual is what was counted when it was noticed
	Advice        string // how to split it
}

func (e *LimitError) Error() string {
	s := "resource limit exceeded for " + e.Resource
	if e.Of != "" {
		s += " for " + e.Of
	}
	s += fmt.Sprintf(": actual %d, limit %d", e.Actual, e.Limit)
	if e.Line > 0 {
		s += fmt.Sprintf(" (line %d)", e.Line)
	}
	if e.Advice != "" {
		s += "; nothing was written: " + e.Advice
	}
	return s
}

// Size is what a row counts of MaxBytes: for each column 16 bytes and what is in
// it, as the Rust engine reckons input.
func Size(t *schema.Type, row *Row) int64 {
	n := 16 + int64(len(row.ID))
	if t.Kind == schema.KindEdge {
		n += 32 + int64(len(row.Src)) + int64(len(row.Dst))
	}
	for i := range t.Properties {
		n += row.Values[i].Size(t.Properties[i].Type)
	}
	return n
}

// Meter counts what a write brings of one type.
type Meter struct {
	Type      *schema.Type
	Unbounded bool // rows are not counted
	Advice    string
	Rows      int64
	Bytes     int64
}

// Add counts one more row of a size. The error is a *LimitError.
func (m *Meter) Add(size int64, line int) error {
	m.Rows++
	m.Bytes += size
	if !m.Unbounded && m.Rows > MaxRows {
		return &LimitError{Resource: ResourceRows, Of: m.Type.Alias(), Line: line, Limit: MaxRows, Actual: m.Rows, Advice: m.Advice}
	}
	return m.bytes(line)
}

// More counts bytes of a row that was counted already. The error is a
// *LimitError.
func (m *Meter) More(size int64) error {
	m.Bytes += size
	return m.bytes(0)
}

func (m *Meter) bytes(line int) error {
	if m.Bytes > MaxBytes {
		return &LimitError{Resource: ResourceBytes, Of: m.Type.Alias(), Line: line, Limit: MaxBytes, Actual: m.Bytes, Advice: m.Advice}
	}
	return nil
}
