package lance

import (
	"hash/maphash"
	"math"
	"reflect"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnideck/omnideck/blob"
)

// TextMemory is what columns of text of data files hold, so that FindText reads
// each file once and not in every version anew: for a caller that looks up many
// values in many versions of a table, one after the other.
//
// What is remembered of a file hangs on its place, its length and the place of
// the column in it; files of one name never hold different bytes. Which files a
// version has, and which rows of them are deleted, is asked of the version. A
// file that would be too much is read each time. It is safe for concurrent use.
type TextMemory struct {
	mu     sync.Mutex
	limit  int64 // bytes
	used   int64
	tables map[textColumn]*textTable
}

// textColumn is a column of a dataset.
type textColumn struct {
	store blob.Store
	root  string
	field int32
}

// NewTextMemory makes a memory of about so many bytes.
func NewTextMemory(limit int64) *TextMemory { return &TextMemory{limit: limit} }

// Forget gives everything up; nothing is remembered afterwards.
func (m *TextMemory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit, m.used, m.tables = 0, 0, nil
}

// table is that of a column; nil when nothing is to be remembered of it.
func (m *TextMemory) table(c textColumn) *textTable {
	if m == nil || !reflect.TypeOf(c.store).Comparable() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tables[c]
	if t == nil && m.limit > 0 {
		t = &textTable{m: m, seed: maphash.MakeSeed(), files: map[textFile]int{}}
		if m.tables == nil {
			m.tables = map[textColumn]*textTable{}
		}
		m.tables[c] = t
	}
	return t
}

// textTable is a hash table from texts to rows. The rows of a file are a run.
// Everything is guarded by the memory.
type textTable struct {
	m     *TextMemory
	seed  maphash.Seed
	files map[textFile]int
	first []uint32 // row of each file
	text  []byte
	rows  []textRow
	slots []uint32 // for each text 1 + its latest row; open addressing, at most two thirds of a power of two
	held  int      // slots that are taken
}

// textFile is the column in one data file.
type textFile struct {
	folder, name string
	size, rows   uint64
	column       int
}

// textRow is one row. Its text ends where that of the next one begins.
type textRow struct {
	hash, from uint32
	next       uint32 // 1 + an earlier row with the same text
}

// rowBytes is about what a row takes besides its text.
const rowBytes = 12 + 8

// number is the one under which a file is remembered.
func (t *textTable) number(f textFile) (n int, ok bool) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	n, ok = t.files[f]
	return n, ok
}

// add remembers a file, unless it is too much or is there already. A null is no
// text.
func (t *textTable) add(f textFile, parts []arrow.Array) error {
	rows, size := 0, int64(0)
	values := make([]func(int) textValue, len(parts))
	for i, p := range parts {
		var err error
		if values[i], err = textsOf(p); err != nil {
			return err
		}
		rows += p.Len()
		for k := range p.Len() {
			size += int64(len(values[i](k).text))
		}
	}
	weight := size + rowBytes*int64(rows)
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	_, there := t.files[f]
	if there || t.m.used+weight > t.m.limit || int64(len(t.text))+size > math.MaxUint32 || len(t.rows)+rows >= math.MaxUint32 {
		return nil
	}
	t.m.used += weight
	t.files[f] = len(t.first)
	t.first = append(t.first, uint32(len(t.rows)))
	t.grow(rows)
	for i, p := range parts {
		for k := range p.Len() {
			t.put(values[i](k))
		}
	}
	return nil
}

// grow makes room for so many texts more.
func (t *textTable) grow(n int) {
	size := max(len(t.slots), 1024)
	for 3*(t.held+n) > 2*size {
		size *= 2
	}
	if size == len(t.slots) {
		return
	}
	old := t.slots
	t.slots = make([]uint32, size)
	for _, head := range old {
		if head == 0 {
			continue
		}
		at := t.rows[head-1].hash & uint32(size-1)
		for t.slots[at] != 0 {
			at = (at + 1) & uint32(size-1)
		}
		t.slots[at] = head
	}
}

func (t *textTable) put(v textValue) {
	row := textRow{from: uint32(len(t.text))}
	if !v.null {
		row.hash = t.hash(v.text)
		at := t.slot(row.hash, v.text)
		if row.next = t.slots[at]; row.next == 0 {
			t.held++
		}
		t.slots[at] = uint32(len(t.rows)) + 1
		t.text = append(t.text, v.text...)
	}
	t.rows = append(t.rows, row)
}

func (t *textTable) hash(text string) uint32 {
	h := maphash.String(t.seed, text)
	return uint32(h) ^ uint32(h>>32)
}

// slot is the one of a text, or the free one that would be.
func (t *textTable) slot(hash uint32, text string) uint32 {
	mask := uint32(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		head := t.slots[at]
		if head == 0 || t.rows[head-1].hash == hash && string(t.textOf(head-1)) == text {
			return at
		}
	}
}

func (t *textTable) textOf(row uint32) []byte {
	if int(row)+1 == len(t.rows) {
		return t.text[t.rows[row].from:]
	}
	return t.text[t.rows[row].from:t.rows[row+1].from]
}

// find calls visit with every row of a text: the number of its file, and its
// place there.
func (t *textTable) find(texts map[string]bool, visit func(text string, file int, row uint32)) {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	if len(t.slots) == 0 {
		return
	}
	for text := range texts {
		for at := t.slots[t.slot(t.hash(text), text)]; at != 0; at = t.rows[at-1].next {
			file := t.fileOf(at - 1)
			visit(text, file, at-1-t.first[file])
		}
	}
}

// fileOf is the file whose run a row is in.
func (t *textTable) fileOf(row uint32) int {
	from, to := 0, len(t.first)
	for to-from > 1 {
		if mid := (from + to) / 2; t.first[mid] <= row {
			from = mid
		} else {
			to = mid
		}
	}
	return from
}
