package rowid

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Builder collects the row ids of a fragment in physical order and encodes
// them. The zero value is empty.
type Builder struct {
	runs []span
	n    uint64
	err  error
}

// span is consecutive ids from..to, to excluded.
type span struct{ from, to uint64 }

// Range appends the ids from..to (to excluded). A range that ends before it
// begins is an error of Encode.
func (b *Builder) Range(from, to uint64) {
	switch last := len(b.runs) - 1; {
	case to < from:
		b.err = damaged("a range ends at %d, before its start %d", to, from)
		return
	case to == from:
		return
	case to-from > math.MaxUint64-b.n:
		b.err = damaged("more than 2^64 values")
		return
	case last >= 0 && b.runs[last].to == from:
		b.runs[last].to = to
	default:
		b.runs = append(b.runs, span{from, to})
	}
	b.n += to - from
}

// Add appends one id. 2^64-1 is none, and an error of Encode.
func (b *Builder) Add(id uint64) { b.Range(id, id+1) }

// Sequence appends a whole sequence.
func (b *Builder) Sequence(s *Sequence) {
	for from, to := range s.Runs() {
		b.Range(from, to)
	}
}

// Len is the number of ids.
func (b *Builder) Len() uint64 { return b.n }

// Encode writes the RowIdSequence: of the segments that can hold the ids those
// that take the fewest bytes. No ids are no bytes.
func (b *Builder) Encode() ([]byte, error) {
	if b.err != nil {
		return nil, b.err
	}
	var segs []plan
	size := uint64(0)
	for from := 0; from < len(b.runs); {
		to := from + 1
		for to < len(b.runs) && b.runs[to].from > b.runs[to-1].to {
			to++
		}
		segs = append(segs, planAscending(b.runs[from:to]))
		size += segs[len(segs)-1].size
		from = to
	}
	if len(segs) > 1 {
		if whole := planArray(kindArray, b.runs); whole.size < size {
			segs = []plan{whole}
		}
	}
	var out []byte
	for _, p := range segs {
		out = p.append(out)
	}
	return out, nil
}

// plan is one segment to write, or with kindRange one for each run.
type plan struct {
	kind kind
	runs []span
	size uint64 // bytes, what wraps the segment included
}

// planAscending chooses for ids that ascend. Of equal sizes the first of
// ranges, holes, bitmap, array is taken.
func planAscending(runs []span) plan {
	best := plan{kind: kindRange, runs: runs}
	for _, r := range runs {
		best.size += wrapped(wrapped(rangeSize(r.from, r.to)))
	}
	if len(runs) == 1 {
		return best
	}
	start, end := runs[0].from, runs[len(runs)-1].to
	body := rangeSize(start, end)
	if holes := gaps(runs); count(holes) < best.size {
		try(&best, plan{kindHoles, runs, wrapped(wrapped(body + wrapped(arraySize(holes))))})
	}
	if bytes := (end-start-1)/8 + 1; bytes < best.size {
		try(&best, plan{kindBitmap, runs, wrapped(wrapped(body + wrapped(bytes)))})
	}
	if count(runs) < best.size {
		try(&best, planArray(kindSorted, runs))
	}
	return best
}

func try(best *plan, p plan) {
	if p.size < best.size {
		*best = p
	}
}

func planArray(k kind, runs []span) plan {
	if count(runs) > math.MaxUint32 {
		return plan{k, runs, math.MaxUint64}
	}
	return plan{k, runs, wrapped(wrapped(arraySize(runs)))}
}

// gaps are the runs of the ids that lie between runs that ascend.
func gaps(runs []span) []span {
	out := make([]span, len(runs)-1)
	for i := range out {
		out[i] = span{runs[i].to, runs[i+1].from}
	}
	return out
}

// count is the number of ids, at most 2^64-1.
func count(runs []span) uint64 {
	n := uint64(0)
	for _, r := range runs {
		if r.to-r.from > math.MaxUint64-n {
			return math.MaxUint64
		}
		n += r.to - r.from
	}
	return n
}

// wrapped is the size of n bytes as a field whose number is below 16.
func wrapped(n uint64) uint64 { return 1 + uint64(protowire.SizeVarint(n)) + n }

func number(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return 1 + uint64(protowire.SizeVarint(n))
}

func rangeSize(from, to uint64) uint64 { return number(from) + number(to) }

// width chooses the bytes of a value in an array, and its base.
func width(runs []span) (bytes int, base uint64) {
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, r := range runs {
		low, high = min(low, r.from), max(high, r.to-1)
	}
	switch {
	case high-low <= math.MaxUint16:
		return 2, low
	case high-low <= math.MaxUint32:
		return 4, low
	}
	return 8, 0
}

// arraySize is the size of an EncodedU64Array.
func arraySize(runs []span) uint64 {
	w, base := width(runs)
	return wrapped(number(base) + wrapped(uint64(w)*count(runs)))
}

func (p plan) append(out []byte) []byte {
	if p.kind == kindRange {
		for _, r := range p.runs {
			out = appendSegment(out, kindRange, appendRange(nil, r))
		}
		return out
	}
	if p.kind >= kindSorted {
		return appendSegment(out, p.kind, appendArray(nil, p.runs))
	}
	all := span{p.runs[0].from, p.runs[len(p.runs)-1].to}
	body := appendRange(nil, all)
	last := appendArray(nil, gaps(p.runs))
	if p.kind == kindBitmap {
		last = bitmapOf(all, p.runs)
	}
	return appendSegment(out, p.kind, appendBytes(body, 3, last))
}

func appendSegment(out []byte, k kind, body []byte) []byte {
	return appendBytes(out, 1, appendBytes(nil, protowire.Number(k), body))
}

func appendBytes(out []byte, num protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, num, protowire.BytesType), b)
}

func appendNumber(out []byte, num protowire.Number, n uint64) []byte {
	if n == 0 {
		return out
	}
	return protowire.AppendVarint(protowire.AppendTag(out, num, protowire.VarintType), n)
}

func appendRange(out []byte, r span) []byte {
	return appendNumber(appendNumber(out, 1, r.from), 2, r.to)
}

func appendArray(out []byte, runs []span) []byte {
	w, base := width(runs)
	data := make([]byte, 0, uint64(w)*count(runs))
	for _, r := range runs {
		for v := r.from; v < r.to; v++ {
			switch w {
			case 2:
				data = binary.LittleEndian.AppendUint16(data, uint16(v-base))
			case 4:
				data = binary.LittleEndian.AppendUint32(data, uint32(v-base))
			default:
				data = binary.LittleEndian.AppendUint64(data, v)
			}
		}
	}
	num := map[int]protowire.Number{2: 1, 4: 2, 8: 3}[w]
	return appendBytes(out, num, appendBytes(appendNumber(nil, 1, base), 2, data))
}

func bitmapOf(all span, runs []span) []byte {
	out := make([]byte, (all.to-all.from-1)/8+1)
	for _, r := range runs {
		for i := r.from - all.from; i < r.to-all.from; i++ {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// VersionsBuilder collects the versions of a fragment's rows in physical order
// and encodes them. The zero value is empty.
type VersionsBuilder struct{ v Versions }

// Add gives the next rows one version.
func (b *VersionsBuilder) Add(rows, version uint64) {
	switch last := len(b.v.runs) - 1; {
	case rows == 0:
	case last >= 0 && b.v.runs[last].version == version:
		b.v.runs[last].end += rows
	default:
		b.v.runs = append(b.v.runs, run{b.v.Len() + rows, version})
	}
}

// Versions appends those of the rows from..to (to excluded, at most v.Len).
func (b *VersionsBuilder) Versions(v *Versions, from, to uint64) {
	for k := v.find(from); from < to; k++ {
		end := min(to, v.runs[k].end)
		b.Add(end-from, v.runs[k].version)
		from = end
	}
}

// Len is the number of rows.
func (b *VersionsBuilder) Len() uint64 { return b.v.Len() }

// Encode writes the RowDatasetVersionSequence: a range of positions for each
// run. No rows are no bytes.
func (b *VersionsBuilder) Encode() []byte {
	var out []byte
	at := uint64(0)
	for _, r := range b.v.runs {
		seg := appendBytes(nil, protowire.Number(kindRange), appendRange(nil, span{at, r.end}))
		out = appendBytes(out, 1, appendNumber(appendBytes(nil, 1, seg), 2, r.version))
		at = r.end
	}
	return out
}
