package lance

import "container/list"

// lru is a map that forgets what was not used for longest. It has no lock.
type lru struct {
	max, used int64
	order     *list.List // of *lruItem, latest first
	items     map[string]*list.Element
}

type lruItem struct {
	key    string
	value  any
	weight int64
}

func newLRU(limit int64) lru {
	return lru{max: limit, order: list.New(), items: map[string]*list.Element{}}
}

func (l *lru) get(key string) (any, bool) {
	e, ok := l.items[key]
	if !ok {
		return nil, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*lruItem).value, true
}

func (l *lru) put(key string, value any, weight int64) {
	if _, ok := l.items[key]; ok || weight > l.max {
		return
	}
	l.items[key] = l.order.PushFront(&lruItem{key, value, weight})
	for l.used += weight; l.used > l.max; {
		last := l.order.Back()
		item := last.Value.(*lruItem)
		l.order.Remove(last)
		delete(l.items, item.key)
		l.used -= item.weight
	}
}
