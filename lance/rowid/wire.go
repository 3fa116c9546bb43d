package rowid

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/omnideck/omnideck/lance/encoding/corrupt"
)

// damaged makes the package's errors.
func damaged(msg string, args ...any) error {
	return fmt.Errorf("%w: row sequence: %w", corrupt.ErrCorrupt, fmt.Errorf(msg, args...))
}

// field is one field of a message: a varint or a length-delimited value.
type field struct {
	num protowire.Number
	typ protowire.Type
	n   uint64
	b   []byte
}

// next cuts the first field off a message. Fields of other wire types are
// returned with neither value and are to be ignored.
func next(b []byte) (field, []byte, error) {
	num, typ, used := protowire.ConsumeTag(b)
	if used < 0 {
		return field{}, nil, damaged("%w", protowire.ParseError(used))
	}
	b = b[used:]
	f := field{num: num, typ: typ}
	switch typ {
	case protowire.VarintType:
		f.n, used = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		f.b, used = protowire.ConsumeBytes(b)
	default:
		used = protowire.ConsumeFieldValue(num, typ, b)
	}
	if used < 0 {
		return field{}, nil, damaged("%w", protowire.ParseError(used))
	}
	return f, b[used:], nil
}

// is reports whether the field has the number and wire type.
func (f field) is(num protowire.Number, typ protowire.Type) bool {
	return f.num == num && f.typ == typ
}
