package file

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/omnideck/omnideck/lance/file/layout"
	"github.com/omnideck/omnideck/lance/pb"
	enc20pb "github.com/omnideck/omnideck/lance/pb/encodings"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// PageInfo describes a page of a physical column for people.
type PageInfo struct {
	Column   int    // physical column
	Page     int    // counted from 0 in the column
	FirstRow int64  // counted as Rows
	Rows     int64  // as the page says; below a fixed-size list of structs rows × dimension
	Layout   string // miniblock, fullzip, constant or blob; "array" in 2.0
	Encoding string // the tree of encodings
	Layers   []string
	Buffers  []BufferInfo
}

// BufferInfo is where a page's buffer lies in the file.
type BufferInfo struct{ Offset, Size int64 }

// Pages describes every page, column by column. It reads no data.
func (r *Reader) Pages() ([]PageInfo, error) {
	var out []PageInfo
	for i := range r.cmo {
		meta, err := r.meta(i)
		if err != nil {
			return out, r.fail(fmt.Sprintf("number %d", i), -1, err)
		}
		first := int64(0)
		for k, m := range meta.pages {
			info := PageInfo{Column: i, Page: k, FirstRow: first, Rows: m.rows}
			if err := r.describe(m, &info); err != nil {
				return out, r.fail(fmt.Sprintf("number %d", i), k, err)
			}
			for _, b := range m.buffers {
				info.Buffers = append(info.Buffers, BufferInfo{b.Off, b.Len})
			}
			first += m.rows
			out = append(out, info)
		}
	}
	return out, nil
}

func (r *Reader) describe(m pageMeta, info *PageInfo) error {
	if r.foot.minor == 0 {
		enc := new(enc20pb.ArrayEncoding)
		if err := unwrap(m.encoding, pb.ArrayEncodingName, enc); err != nil {
			return err
		}
		info.Layout, info.Encoding = "array", oldText(enc.ProtoReflect(), 16)
		return nil
	}
	pl := new(enc21pb.PageLayout)
	if err := unwrap(m.encoding, pb.PageLayoutName, pl); err != nil {
		return err
	}
	info.Layout, info.Encoding, info.Layers = layout.Describe(pl)
	return nil
}

// oldText is a tree of encodings of format 2.0: the names of the nodes, and
// the numbers in them.
func oldText(m protoreflect.Message, depth int) string {
	if depth == 0 {
		return "…"
	}
	var parts []string
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) || f.IsList() || f.IsMap() {
			continue
		}
		v := m.Get(f)
		switch {
		case f.Kind() == protoreflect.BytesKind:
			parts = append(parts, fmt.Sprintf("%s of %d bytes", f.Name(), len(v.Bytes())))
		case f.Message() == nil:
			parts = append(parts, fmt.Sprintf("%s %v", f.Name(), v.Interface()))
		case f.Message().Name() == "Buffer":
		case f.ContainingOneof() != nil:
			parts = append(parts, fmt.Sprintf("%s(%s)", f.Name(), oldText(v.Message(), depth-1)))
		default:
			parts = append(parts, oldText(v.Message(), depth-1))
		}
	}
	return strings.Join(parts, ", ")
}
