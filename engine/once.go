package engine

import "sync"

// once is sync.Once for work that asks the store: who comes second waits on a
// channel, not on a mutex, so that a test with a simulated clock sees the
// waiting and lets time pass. The zero value is ready.
type once struct {
	mu   sync.Mutex
	done chan struct{}
}

// Do runs f the first time; every call returns after that run has ended.
func (o *once) Do(f func()) {
	o.mu.Lock()
	if o.done != nil {
		done := o.done
		o.mu.Unlock()
		<-done
		return
	}
	o.done = make(chan struct{})
	o.mu.Unlock()
	defer close(o.done)
	f()
}
