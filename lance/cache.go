package lance

import (
	"container/list"
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/omnideck/omnideck/blob"
)

// Cache keeps whole small immutable objects (data and deletion files) by store,
// full key and recorded size, so that the branches of one dataset and repeated
// reads share them. Safe for concurrent use; callers that miss the same object
// at once share one request.
type Cache struct {
	mu    sync.Mutex
	lru   lru
	calls map[string]*fetching
}

type fetching struct {
	done chan struct{}
	data []byte
	err  error
}

// NewCache makes a cache of at most so many bytes; 0 = 64 MiB.
func NewCache(maxBytes int64) *Cache {
	if maxBytes <= 0 {
		maxBytes = 64 << 20
	}
	return &Cache{lru: newLRU(maxBytes), calls: map[string]*fetching{}}
}

// get returns the object, from memory or by fetch. What it returns must not be
// written to.
func (c *Cache) get(ctx context.Context, store blob.Store, key string, size int64, fetch func() ([]byte, error)) ([]byte, error) {
	if c == nil {
		return fetch()
	}
	id := store.Properties().URL + "\x00" + key + "\x00" + strconv.FormatInt(size, 10)
	for {
		c.mu.Lock()
		if v, ok := c.lru.get(id); ok {
			c.mu.Unlock()
			return v.([]byte), nil
		}
		call := c.calls[id]
		if call == nil {
			call = &fetching{done: make(chan struct{})}
			c.calls[id] = call
			c.mu.Unlock()
			return c.lead(id, call, fetch)
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-call.done:
		}
		// Whoever fetched may have given up for reasons of its own.
		if !errors.Is(call.err, context.Canceled) && !errors.Is(call.err, context.DeadlineExceeded) {
			return call.data, call.err
		}
	}
}

func (c *Cache) lead(id string, call *fetching, fetch func() ([]byte, error)) ([]byte, error) {
	call.data, call.err = fetch()
	c.mu.Lock()
	delete(c.calls, id)
	if call.err == nil {
		c.lru.put(id, call.data, int64(len(call.data)+len(id)))
	}
	c.mu.Unlock()
	close(call.done)
	return call.data, call.err
}

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
