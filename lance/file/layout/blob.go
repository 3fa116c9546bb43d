package layout

import (
	"encoding/binary"

	"github.com/omnideck/omnideck/lance/file/nest"
	"github.com/omnideck/omnideck/lance/file/values"
	"github.com/omnideck/omnideck/lance/format"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

// blobPage is positions and sizes of payloads, with the nulls among them.
type blobPage struct {
	Page
	m *nest.Map
}

// onlyValues is the path of the inner layout: values without nulls.
var onlyValues = func() *nest.Path {
	p, err := nest.NewPath([]nest.Layer{{Kind: nest.Item}})
	if err != nil {
		panic("a path of one layer: " + err.Error()) // constant arguments
	}
	return p
}()

func parseBlob(l *enc21pb.BlobLayout, buffers []Range, rows int64, col Column) (Page, error) {
	if l.GetInnerLayout().GetBlob() != nil {
		return nil, format.Corruptf("a blob page inside a blob page")
	}
	t := col.Type
	if t.Kind != values.Packed || len(t.Fields) != 2 || t.Fields[0].Width != 8 || t.Fields[1].Width != 8 || col.Path.Lists > 0 {
		return nil, format.Unsupportedf("a blob page for values of %s with %d lists around them", t.Arrow, col.Path.Lists)
	}
	m, err := mapOf(l.GetLayers(), col.Path)
	if err != nil {
		return nil, err
	}
	inner, err := Parse(l.GetInnerLayout(), buffers, rows, Column{t, onlyValues})
	if err != nil {
		return nil, err
	}
	return &blobPage{inner, m}, nil
}

func (p *blobPage) Open(get Get) (Body, error) {
	inner, err := p.Page.Open(get)
	if err != nil {
		return nil, err
	}
	return &blobBody{inner, p}, nil
}

type blobBody struct {
	Body
	page *blobPage
}

func (b *blobBody) Reader() Reader { return &blobReader{Reader: b.Body.Reader(), page: b.page} }

type blobReader struct {
	Reader
	page  *blobPage
	inner Sink
	def   []uint8
}

func (r *blobReader) Read(get Get, from, to int64, s *Sink) error {
	r.inner = Sink{Values: s.Values, encoded: s.encoded, done: s.done}
	if err := r.Reader.Read(get, from, to, &r.inner); err != nil {
		return err
	}
	if r.inner.Levels().Def != nil {
		return format.Corruptf("a blob page whose positions are null")
	}
	n := int(to - from)
	positions, sizes := s.Values.Fields[0].Last(n), s.Values.Fields[1].Last(n)
	r.def = r.def[:0]
	for i := range n {
		pos, size := binary.LittleEndian.Uint64(positions[8*i:]), binary.LittleEndian.Uint64(sizes[8*i:])
		if size != 0 || pos == 0 {
			r.def = append(r.def, 0)
			continue
		}
		if def := pos >> 16; pos&0xffff != 0 || def >= uint64(len(r.page.m.Codes)) {
			return format.Corruptf("a null blob of levels %d and %d, where at most 0 and %d are possible", pos&0xffff, def, len(r.page.m.Codes)-1)
		}
		r.def = append(r.def, r.page.m.Codes[pos>>16])
	}
	s.codes(nil, r.def, n)
	return nil
}
