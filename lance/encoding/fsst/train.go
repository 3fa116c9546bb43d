package fsst

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
)

const (
	rounds     = 5
	pseudo     = 256 // the codes of bytes without a symbol, in counts
	codes      = 512
	rarest     = 3 // symbols that occur less often in the sample are not made
	byteFactor = 8 // what a single byte counts for: without it each costs two
)

// counts is how often codes, and pairs of codes, occurred in a sample.
type counts struct {
	one   [codes]uint32
	two   []uint16 // codes*codes
	found []uint32 // the pairs that are not 0
	gains map[symbol]int
	list  []candidate
}

// candidate is a symbol with the bytes of the sample that it may stand for.
type candidate struct {
	symbol
	gain int
}

// spare keeps counts, which are large, for the next training.
var spare = sync.Pool{New: func() any {
	return &counts{two: make([]uint16, codes*codes), gains: make(map[symbol]int, 4096)}
}}

func (c *counts) pair(a, b int) {
	at := uint32(a*codes + b)
	if c.two[at] == 0 {
		c.found = append(c.found, at)
	}
	if c.two[at] < 1<<16-1 {
		c.two[at]++
	}
}

func (c *counts) reset() {
	clear(c.one[:])
	for _, at := range c.found {
		c.two[at] = 0
	}
	c.found = c.found[:0]
	clear(c.gains)
	c.list = c.list[:0]
}

// Train makes symbols for strings that are like the sample, for which some ten
// thousand bytes are enough. The same sample makes the same symbols.
//
// It begins without symbols. In every round the sample is packed with those
// that there are, counting them and their neighbours; the next ones are the
// best of these and of what two neighbours make, by the bytes they stand for.
func Train(sample [][]byte) *Encoder {
	e := &Encoder{}
	e.use(nil)
	c := spare.Get().(*counts)
	defer spare.Put(c)
	for range rounds {
		c.reset()
		for _, s := range sample {
			e.count(c, s)
		}
		e.use(e.best(c))
	}
	return e
}

// count counts the codes of a string.
func (e *Encoder) count(c *counts, src []byte) {
	before := -1
	for i := 0; i < len(src); {
		var word uint64
		if i+maxSymbol <= len(src) {
			word = binary.LittleEndian.Uint64(src[i:])
		} else {
			word = lastWord(src, i)
		}
		v := e.match(word)
		at, n := int(v&0xff), int(v>>8&15)
		if v&escaped != 0 {
			at = pseudo + int(src[i])
		}
		c.one[at]++
		if before >= 0 {
			c.pair(before, at)
			if n > 1 { // so that symbols can also grow by one byte
				c.pair(before, pseudo+int(src[i]))
			}
		}
		if n > 1 {
			c.one[pseudo+int(src[i])]++
		}
		before = at
		i += n
	}
}

// best chooses the next symbols.
func (e *Encoder) best(c *counts) []symbol {
	of := func(code int) symbol {
		if code >= pseudo {
			return symbol{uint64(code - pseudo), 1}
		}
		return e.symbols[code]
	}
	for code, n := range c.one {
		if n < rarest {
			continue
		}
		s := of(code)
		gain := int(n) * s.n
		if s.n == 1 {
			gain *= byteFactor
		}
		c.gains[s] += gain
	}
	for _, at := range c.found {
		n := int(c.two[at])
		if n < rarest {
			continue
		}
		if s, ok := of(int(at) / codes).join(of(int(at) % codes)); ok {
			c.gains[s] += n * s.n
		}
	}
	for s, gain := range c.gains {
		c.list = append(c.list, candidate{s, gain})
	}
	slices.SortFunc(c.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.n, b.n))
	})
	out := make([]symbol, len(c.list))
	for i, best := range c.list {
		out[i] = best.symbol
	}
	return out
}
