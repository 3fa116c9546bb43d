package validate

import (
	"hash/maphash"
	"slices"
)

// seed is another one in each process: nobody can make texts that meet.
var seed = maphash.MakeSeed()

func hash(text string) uint64 { return maphash.String(seed, text) }

// Hashes is a set of texts in eight bytes each: those of their hashes. It may
// hold a text that was never added, with a chance of its size in 2⁶⁴.
type Hashes struct {
	list   []uint64
	sorted bool
}

// Add takes one more text.
func (h *Hashes) Add(text string) { h.list, h.sorted = append(h.list, hash(text)), false }

// Sort makes the set ready to be asked, side by side too.
func (h *Hashes) Sort() {
	if !h.sorted {
		slices.Sort(h.list)
		h.sorted = true
	}
}

// Has reports whether a text was added; the set is sorted.
func (h *Hashes) Has(text string) bool {
	_, ok := slices.BinarySearch(h.list, hash(text))
	return ok
}

// Len is the number of texts added.
func (h *Hashes) Len() int { return len(h.list) }

// maxSuspects bounds the hashes that a second look compares text by text.
const maxSuspects = 4096

// suspects are texts that may break a rule: a second look decides.
type suspects struct {
	hashes map[uint64]bool
	all    uint64 // what breaks the rule if all of them do
	more   bool   // there are more than are looked at
}

// suspects are the hashes whose number of texts is counted as wrong by odd,
// which tells how much each weighs; 0 = sound.
func (h *Hashes) suspects(odd func(n uint64) uint64) suspects {
	h.Sort()
	s := suspects{hashes: map[uint64]bool{}}
	for i := 0; i < len(h.list); {
		k := i + 1
		for k < len(h.list) && h.list[k] == h.list[i] {
			k++
		}
		if weight := odd(uint64(k - i)); weight > 0 {
			s.all += weight
			if len(s.hashes) < maxSuspects {
				s.hashes[h.list[i]] = true
			} else {
				s.more = true
			}
		}
		i = k
	}
	return s
}

func (s *suspects) has(text string) bool { return len(s.hashes) > 0 && s.hashes[hash(text)] }
