package layout

import (
	"math"

	"github.com/omnideck/omnideck/lance/file/values"
)

// hint makes room for a run of rows early, as far as the bytes that are read
// for it justify that.
type hint struct {
	b       *values.Builder
	encoded int64 // bytes of the run
	n, text int   // values and bytes of text at the beginning
	known   bool  // the number of values was known
	done    bool
}

// expansion is how many times the encoded bytes are made room for at once.
const expansion = 16

func newHint(b *values.Builder, encoded int64) *hint {
	return &hint{b: b, encoded: encoded, n: b.Len(), text: b.BytesLen()}
}

// exactly makes room for n values.
func (h *hint) exactly(n int64) error {
	h.known = true
	h.done = h.b.Type.Kind != values.Bytes
	return h.values(float64(n))
}

func (h *hint) values(n float64) error {
	most := h.most() / float64(max(h.b.Type.Size(), 1))
	return h.b.Reserve(int(min(n, most, math.MaxInt32)))
}

func (h *hint) most() float64 { return float64(expansion*h.encoded + 4096) }

// after makes room for what is still to come, by what came of the first so
// many encoded bytes. Only the first call that can tell does.
func (h *hint) after(encoded int64) error {
	if h.done || h.b.Len() == h.n || encoded <= 0 {
		return nil
	}
	h.done = true
	more := 1.05 * (float64(h.encoded)/float64(encoded) - 1)
	if !h.known {
		if err := h.values(more * float64(h.b.Len()-h.n)); err != nil {
			return err
		}
	}
	if h.b.Type.Kind != values.Bytes {
		return nil
	}
	return h.b.ReserveBytes(int(min(more*float64(h.b.BytesLen()-h.text), h.most(), math.MaxInt32)))
}
