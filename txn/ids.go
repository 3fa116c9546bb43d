package txn

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/omnideck/omnideck/lance/format"
)

// IDs gives ULIDs that only grow (decisions 19): two of one millisecond differ
// by one. It is safe for concurrent use; one serves a whole process, so that the
// order of names is that of their being minted.
type IDs struct {
	mu   sync.Mutex
	now  func() time.Time
	rand io.Reader
	last [16]byte
}

// NewIDs takes a clock and randomness; nil = time.Now, crypto/rand.
func NewIDs(now func() time.Time, random io.Reader) *IDs {
	if now == nil {
		now = time.Now
	}
	if random == nil {
		random = rand.Reader
	}
	return &IDs{now: now, rand: random}
}

// process are the ids of writes that bring none of their own.
var process = NewIDs(nil, nil)

// crockford is the alphabet of ULIDs.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Next is a new ULID.
func (g *IDs) Next() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], uint64(g.now().UnixMilli())<<16)
	if string(id[:6]) > string(g.last[:6]) {
		if _, err := io.ReadFull(g.rand, id[6:]); err != nil {
			return "", fmt.Errorf("drawing an id: %w", err)
		}
		id[6] &= 0x7f // room to count up
	} else {
		id = g.last
		for i := 15; ; i-- {
			if id[i]++; id[i] != 0 {
				break
			}
		}
	}
	g.last = id
	// 26 characters of 5 bits hold 130: two zero bits come first.
	var wide [20]byte
	var carry byte
	for i, b := range id {
		wide[i] = carry<<6 | b>>2
		carry = b & 3
	}
	wide[16] = carry << 6
	return crockford.EncodeToString(wide[:])[:26], nil
}

// uuid is the identity of a transaction.
func (g *IDs) uuid() (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b [16]byte
	if _, err := io.ReadFull(g.rand, b[:]); err != nil {
		return "", fmt.Errorf("drawing the identity of a transaction: %w", err)
	}
	return format.UUIDText(format.UUIDv4(b)), nil
}

// drawn is what a staged transaction is called, and from what the names of its
// files follow.
type drawn struct {
	uuid  string
	names [32]byte
}

func (g *IDs) draw() (*drawn, error) {
	var d drawn
	var err error
	if d.uuid, err = g.uuid(); err != nil {
		return nil, err
	}
	if _, err := g.Read(d.names[:]); err != nil {
		return nil, fmt.Errorf("drawing the names of files: %w", err)
	}
	return &d, nil
}

// Read gives randomness to what names files.
func (g *IDs) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return io.ReadFull(g.rand, p)
}
