package file

import (
	"bytes"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/format"
	"github.com/omnideck/omnideck/lance/pb"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
)

// The descriptions in small files repeat byte for byte: a table of three
// hundred fragments of a few rows has a handful of different ones, and parsing
// them again is most of what opening such a file costs. Parsed messages are
// never written to, so they are shared.

// memo remembers messages by their bytes. When it is full it forgets all.
type memo[M proto.Message] struct {
	count, size int // most messages, and most bytes of one
	mu          sync.RWMutex
	known       map[string]M
}

func (m *memo[M]) get(b []byte) (M, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	v, ok := m.known[string(b)]
	return v, ok
}

func (m *memo[M]) put(b []byte, v M) {
	if len(b) > m.size {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= m.count {
		m.known = make(map[string]M)
	}
	m.known[string(b)] = v
}

var (
	layouts     = memo[*enc21pb.PageLayout]{count: 1024, size: 512}
	descriptors = memo[*filepb.FileDescriptor]{count: 64, size: 16 << 10}
)

// plainColumn is the description of every column since 2.1: a ColumnEncoding
// that says nothing but that its values are in pages.
var plainColumn = append(append([]byte("\x0a\x1f/"), pb.ColumnEncodingName...), "\x12\x02\x0a\x00"...)

// isPlain reports whether a column's description is the usual one.
func isPlain(d description) bool { return bytes.Equal(d, plainColumn) }

// pageLayout is unwrap for the description of a page.
func pageLayout(d description) (*enc21pb.PageLayout, error) {
	if pl, ok := layouts.get(d); ok {
		return pl, nil
	}
	pl := new(enc21pb.PageLayout)
	if err := unwrap(d, pb.PageLayoutName, pl); err != nil {
		return nil, err
	}
	layouts.put(d, pl)
	return pl, nil
}

// descriptor parses global buffer 0.
func descriptor(b []byte) (*filepb.FileDescriptor, error) {
	if d, ok := descriptors.get(b); ok {
		return d, nil
	}
	d := new(filepb.FileDescriptor)
	if err := proto.Unmarshal(b, d); err != nil {
		return nil, format.Corruptf("the file's description is no protobuf message: %w", err)
	}
	descriptors.put(b, d)
	return d, nil
}
