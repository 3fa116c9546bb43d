package commit

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// The only filter that Lance makes, and so the only one that it can compare:
// a split-block Bloom filter of 1024 blocks of eight 32-bit words.
const (
	filterBlocks      = 1024
	filterBytes       = filterBlocks * 32
	filterItems       = 8192
	filterProbability = 0.00057
)

// filterSalts choose the bit of each word of a block.
var filterSalts = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// KeyFilter is the set of keys that a transaction inserts, so that a rival that
// inserts one of them is noticed. The zero value is empty and ready to use.
type KeyFilter struct{ bits [filterBytes]byte }

// Add puts a key in: of text and binary the bytes, of integers 8 bytes
// little-endian, of a key of several columns every part followed by a zero
// byte. A null key is not added.
func (f *KeyFilter) Add(key []byte) { f.add(xxhash.Sum64(key)) }

// AddString is Add for text.
func (f *KeyFilter) AddString(key string) { f.add(xxhash.Sum64String(key)) }

// add: the upper half of the hash chooses the block, the lower the bits.
func (f *KeyFilter) add(h uint64) {
	block := (h >> 32 * filterBlocks) >> 32
	for lane, salt := range filterSalts {
		bit := uint32(h) * salt >> 27
		at := block*32 + uint64(lane)*4
		word := f.bits[at : at+4]
		binary.LittleEndian.PutUint32(word, binary.LittleEndian.Uint32(word)|1<<bit)
	}
}

// Proto is the message of an Update; fields are the ids of the key's columns.
func (f *KeyFilter) Proto(fields ...int32) *tablepb.KeyExistenceFilter {
	return &tablepb.KeyExistenceFilter{
		FieldIds: fields,
		Data: &tablepb.KeyExistenceFilter_Bloom{Bloom: &tablepb.BloomFilter{
			Bitmap: bytes.Clone(f.bits[:]), NumBits: filterBytes * 8, NumberOfItems: filterItems, Probability: filterProbability,
		}},
	}
}

// keysMeet says why two filters may hold a common key, or "".
func keysMeet(ours, theirs *tablepb.KeyExistenceFilter) string {
	if !slices.Equal(ours.GetFieldIds(), theirs.GetFieldIds()) {
		return "both inserted keys, of different columns"
	}
	if a, b := ours.GetExact(), theirs.GetExact(); a != nil && b != nil {
		in := make(map[uint64]bool, len(a.GetKeyHashes()))
		for _, h := range a.GetKeyHashes() {
			in[h] = true
		}
		if slices.ContainsFunc(b.GetKeyHashes(), func(h uint64) bool { return in[h] }) {
			return "both inserted the same key"
		}
		return ""
	}
	a, b := ours.GetBloom(), theirs.GetBloom()
	if a == nil || b == nil || len(a.GetBitmap()) != len(b.GetBitmap()) || a.GetNumBits() != b.GetNumBits() ||
		a.GetNumberOfItems() != b.GetNumberOfItems() || a.GetProbability() != b.GetProbability() {
		return "both inserted keys, and their filters cannot be compared"
	}
	other := b.GetBitmap()
	for i, x := range a.GetBitmap() {
		if x&other[i] != 0 {
			return "both inserted the same key, or keys whose filters overlap"
		}
	}
	return ""
}
