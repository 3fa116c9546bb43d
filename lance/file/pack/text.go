package pack

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/lance/encoding/fsst"
	"github.com/omnideck/omnideck/lance/encoding/variable"
	enc21pb "github.com/omnideck/omnideck/lance/pb/encodings21"
)

const (
	symbolsFrom = 32 << 10 // bytes of text and offsets
	symbolsWord = 5        // bytes of the longest value
	sampleBytes = 16 << 10
	samplePiece = 256 // bytes of one value
)

// text is values of variable width.
type text struct {
	width   int
	data    []byte
	offsets []uint32
	table   []byte // of symbols, or nil
}

func newText(v *Values) *text {
	t := &text{width: 4, data: v.data, offsets: v.offsets}
	if v.t.Large {
		t.width = 8
	}
	t.usePacked(v)
	return t
}

// usePacked packs the values with symbols if they are text, if there is enough
// of it, and if it helps.
func (t *text) usePacked(v *Values) {
	kind := v.t.Arrow.ID()
	if kind != arrow.STRING && kind != arrow.LARGE_STRING {
		return
	}
	total := int(t.offsets[v.N] - t.offsets[0])
	if total+t.width*(v.N+1) < symbolsFrom || total < symbolsFrom || v.widest() < symbolsWord {
		return
	}
	sample := t.sample(v.N, total)
	e := fsst.Train(sample)
	was, is := 0, 0
	trial := make([]byte, 2*samplePiece+1)
	for _, s := range sample {
		was, is = was+len(s), is+e.Pack(trial, s)
	}
	if 20*is > 19*was {
		return
	}
	t.table = e.AppendTable(nil)
	offsets := make([]uint32, v.N+1)
	out := make([]byte, total*is/was+total/8+64)
	at := 0
	for i := range v.N {
		s := t.data[t.offsets[i]:t.offsets[i+1]]
		if len(out)-at < 2*len(s)+1 {
			out = append(out, make([]byte, len(out)/4+2*len(s)+1)...)
		}
		at += e.Pack(out[at:], s)
		offsets[i+1] = uint32(at)
	}
	t.data, t.offsets = out[:at], offsets
}

// sample is some of the text, from all over it.
func (t *text) sample(n, total int) [][]byte {
	var out [][]byte
	step, taken := max(1, total/sampleBytes), 0
	if total/n > samplePiece {
		step = max(1, n*samplePiece/sampleBytes)
	}
	for i := 0; i < n && taken < 2*sampleBytes; i += step {
		s := t.data[t.offsets[i]:t.offsets[i+1]]
		if k := len(s) - samplePiece; k > 0 {
			from := i * 61 % k
			s = s[from : from+samplePiece]
		}
		out, taken = append(out, s), taken+len(s)
	}
	return out
}

func (t *text) size(from, to int) int {
	return variable.MiniSize(t.width, to-from, int(t.offsets[to]-t.offsets[from]))
}

func (t *text) take(at, left int) int {
	if left <= chunkValues && t.size(at, at+left) <= chunkBytes {
		return left
	}
	n := 2
	for 2*n <= min(left, chunkValues) && t.size(at, at+2*n) <= chunkBytes {
		n *= 2
	}
	if n >= left {
		return left
	}
	return n
}

func (t *text) buffers() int { return 1 }

func (t *text) append(dst []byte, from, to int, sizes []int) []byte {
	at := len(dst)
	dst = variable.AppendMini(dst, t.width, t.data, t.offsets[from:to+1])
	sizes[0] = len(dst) - at
	return pad(dst, 0)
}

func (t *text) encoding() *enc21pb.CompressiveEncoding {
	enc := variableOf(t.width)
	if t.table != nil {
		enc = fsstOf(t.table, enc)
	}
	return enc
}

// bitsFor is the bits of numbers below n.
func bitsFor(n int) int { return bits.Len(uint(max(n-1, 0))) }
