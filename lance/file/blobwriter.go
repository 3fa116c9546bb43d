package file

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/omnideck/omnideck/lance/format"
)

// Metadata keys of a blob field, in bytes.
const (
	metaInline    = "lance-encoding:blob-inline-size-threshold"
	metaDedicated = "lance-encoding:blob-dedicated-size-threshold"
	metaPack      = "lance-encoding:blob-pack-file-size-threshold"
)

// sidecars are the side-cars of a file. Their ids begin with 1.
type sidecars struct {
	all  []Sidecar
	pack int // index + 1 of the one that takes several blobs now
}

func (s *sidecars) add(p []byte) uint32 {
	s.all = append(s.all, Sidecar{BlobID: uint32(len(s.all) + 1), Data: p})
	return uint32(len(s.all))
}

// append puts a payload in the shared side-car, or in a new one if that would
// get longer than most.
func (s *sidecars) append(p []byte, most int64) (id uint32, at uint64) {
	if s.pack == 0 || int64(len(s.all[s.pack-1].Data)+len(p)) > most {
		s.pack = int(s.add(nil))
	}
	car := &s.all[s.pack-1]
	at = uint64(len(car.Data))
	car.Data = append(car.Data, p...)
	return car.BlobID, at
}

// limits are the sizes at which payloads move.
type limits struct{ inline, dedicated, pack int64 }

func (w *Writer) limits(f *format.Field) (l limits, err error) {
	l = limits{64 << 10, 4 << 20, w.opts.PackBytes}
	for _, m := range []struct {
		key string
		v   *int64
	}{{metaInline, &l.inline}, {metaDedicated, &l.dedicated}, {metaPack, &l.pack}} {
		if text, ok := f.Metadata[m.key]; ok {
			if *m.v, err = strconv.ParseInt(text, 10, 64); err != nil || *m.v < 0 {
				return l, format.Unsupportedf("%s is %q, not a number of bytes", m.key, text)
			}
		}
	}
	return l, nil
}

// blobInput is the columns of a blob column that is written.
type blobInput struct {
	*array.Struct
	data           interface{ Value(int) []byte }
	dataOf, uriOf  arrow.Array
	uri            interface{ Value(int) string }
	position, size *array.Uint64
}

func blobInputOf(arr arrow.Array) (in blobInput, err error) {
	if e, ok := arr.(array.ExtensionArray); ok {
		arr = e.Storage()
	}
	s, ok := arr.(*array.Struct)
	if !ok {
		return in, fmt.Errorf("%w: a blob column of %s, not a struct of data and uri", ErrInput, arr.DataType())
	}
	in.Struct = s
	for i, f := range s.DataType().(*arrow.StructType).Fields() {
		col, known := s.Field(i), false
		switch f.Name {
		case "data":
			in.data, known = col.(interface{ Value(int) []byte })
			in.dataOf = col
		case "uri":
			in.uri, known = col.(interface{ Value(int) string })
			in.uriOf = col
		case "position":
			in.position, known = col.(*array.Uint64)
		case "size":
			in.size, known = col.(*array.Uint64)
		}
		if !known {
			return in, fmt.Errorf("%w: a blob column with the field %q of %s", ErrInput, f.Name, f.Type)
		}
	}
	if in.data == nil && in.uri == nil {
		return in, fmt.Errorf("%w: a blob column without data and without uri", ErrInput)
	}
	return in, nil
}

// describe puts the payloads of a blob column where they belong, and returns
// the array of what says where, which is the caller's.
func (w *Writer) describe(f *format.Field, arr arrow.Array) (arrow.ArrayData, error) {
	in, err := blobInputOf(arr)
	if err != nil {
		return nil, err
	}
	l, err := w.limits(f)
	if err != nil {
		return nil, err
	}
	af, err := f.ArrowField()
	if err != nil {
		return nil, err
	}
	b := array.NewStructBuilder(w.opts.Allocator, af.Type.(*arrow.StructType))
	defer b.Release()
	for i := range in.Len() {
		ref, err := w.blob(in, i, l)
		if err != nil {
			return nil, err
		}
		if b.Append(!ref.Null); ref.Null {
			continue // its fields are null with it
		}
		b.FieldBuilder(0).(*array.Uint8Builder).Append(ref.Kind)
		b.FieldBuilder(1).(*array.Uint64Builder).Append(ref.Position)
		b.FieldBuilder(2).(*array.Uint64Builder).Append(ref.Size)
		b.FieldBuilder(3).(*array.Uint32Builder).Append(ref.BlobID)
		b.FieldBuilder(4).(*array.StringBuilder).Append(ref.URI)
	}
	out := b.NewArray()
	defer out.Release()
	out.Data().Retain()
	return out.Data(), nil
}

// blob puts payload i where it belongs.
func (w *Writer) blob(in blobInput, i int, l limits) (BlobRef, error) {
	hasData := in.data != nil && in.dataOf.IsValid(i)
	hasURI := in.uri != nil && in.uriOf.IsValid(i) && in.uri.Value(i) != ""
	switch {
	case in.IsNull(i) || !hasData && !hasURI:
		return BlobRef{Null: true}, nil
	case hasData && hasURI:
		return BlobRef{}, fmt.Errorf("%w: row %d of a blob column has both data and a uri", ErrInput, i)
	case hasURI:
		return external(in, i)
	}
	p := in.data.Value(i)
	ref := BlobRef{Size: uint64(len(p))}
	switch n := int64(len(p)); {
	case n > l.dedicated:
		ref.Kind, ref.BlobID = BlobDedicated, w.cars.add(bytes.Clone(p))
	case n > l.inline:
		ref.Kind = BlobPacked
		ref.BlobID, ref.Position = w.cars.append(p, l.pack)
	case n == 0:
		ref.Position = uint64(w.out.size)
	default:
		if n >= outputSmall {
			p = bytes.Clone(p) // is used in place
		}
		ref.Position = uint64(w.out.put(p))
	}
	return ref, nil
}

// external is a reference to an object of somebody else.
func external(in blobInput, i int) (BlobRef, error) {
	text := in.uri.Value(i)
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return BlobRef{}, fmt.Errorf("%w: row %d of a blob column has the uri %q, which is not absolute", ErrInput, i, text)
	}
	ref := BlobRef{Kind: BlobExternal, URI: u.String()}
	if in.position != nil && in.position.IsValid(i) {
		ref.Position = in.position.Value(i)
	}
	if in.size != nil && in.size.IsValid(i) {
		ref.Size = in.size.Value(i)
	}
	return ref, nil
}
