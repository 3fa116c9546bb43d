package engine

import (
	"slices"
	"sync"
)

// A sorted table is looked at page by page: the order of its rows is kept, so
// that only the first page costs reading and sorting a column. A version of a
// table never changes.

// maxOrdered bounds the addresses that a Graph keeps, 8 bytes each.
const maxOrdered = 2 * maxSorted

// orderKey names an order of the rows of one version of a table that meet a
// condition.
type orderKey struct {
	location, owner, etag string
	version               uint64
	where, column         string
	desc                  bool
}

// orderMemo keeps the orders used last.
type orderMemo struct {
	mu   sync.Mutex
	kept []keptOrder // the one used last at the end
}

type keptOrder struct {
	key   orderKey
	addrs []uint64
}

func (m *orderMemo) get(key orderKey) ([]uint64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.kept, func(k keptOrder) bool { return k.key == key })
	if i < 0 {
		return nil, false
	}
	k := m.kept[i]
	m.kept = append(slices.Delete(m.kept, i, i+1), k)
	return k.addrs, true
}

// put keeps an order, which nobody may change afterwards.
func (m *orderMemo) put(key orderKey, addrs []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = slices.DeleteFunc(m.kept, func(k keptOrder) bool { return k.key == key })
	m.kept = append(m.kept, keptOrder{key, addrs})
	n := 0
	for i := len(m.kept) - 1; i >= 0; i-- {
		if n += len(m.kept[i].addrs); n > maxOrdered {
			m.kept = slices.Delete(m.kept, 0, i+1)
			break
		}
	}
}
