package fault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// ErrInjected is what Fail fails with.
var ErrInjected = errors.New("injected fault")

// ErrHalted is what every call fails with from a Halt on, as if the process
// had died.
var ErrHalted = errors.New("halted by injection")

// Fail does not carry the call out.
func Fail(context.Context, *Attempt) error { return ErrInjected }

// FailWith is Fail with an error of one's own.
func FailWith(err error) Action {
	return func(context.Context, *Attempt) error { return err }
}

// LoseAnswer carries the call out, and nobody hears of it: a write ends as
// blob.ErrAmbiguous, anything else as blob.ErrUnavailable.
func LoseAnswer(ctx context.Context, a *Attempt) error {
	_ = a.Perform(ctx) // success or refusal: neither is heard of
	lost := blob.ErrUnavailable
	if Writes(a.Call) {
		lost = blob.ErrAmbiguous
	}
	return fmt.Errorf("%w: the answer was lost", lost)
}

// Halt fails this call and all later ones with ErrHalted: the process is dead.
func Halt(_ context.Context, a *Attempt) error {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	a.store.halted = true
	return ErrHalted
}

// DoAndHalt carries the call out, and then the process is dead.
func DoAndHalt(ctx context.Context, a *Attempt) error {
	_ = a.Perform(ctx)
	return Halt(ctx, a)
}

// Rival lets another writer act on the undisturbed store first.
func Rival(f func(ctx context.Context, inner blob.Store) error) Action {
	return func(ctx context.Context, a *Attempt) error {
		if err := f(ctx, a.store.inner); err != nil {
			return fmt.Errorf("the injected rival: %w", err)
		}
		return a.Perform(ctx)
	}
}

// Delay waits first, no longer than the context lives.
func Delay(d time.Duration) Action {
	return func(ctx context.Context, a *Attempt) error {
		if err := wait(ctx, d); err != nil {
			return err
		}
		return a.Perform(ctx)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Cut hands only the first n bytes of a read to the caller, without an error:
// what a careless store would do.
func Cut(n int) Action {
	return func(ctx context.Context, a *Attempt) error {
		err := a.Perform(ctx)
		if err == nil && a.Object != nil && len(a.Object.Data) > n {
			a.Object.Data = a.Object.Data[:n:n]
		}
		return err
	}
}

// CutHalf is Cut to half of what was read.
func CutHalf(ctx context.Context, a *Attempt) error {
	err := a.Perform(ctx)
	if err == nil && a.Object != nil {
		n := len(a.Object.Data) / 2
		a.Object.Data = a.Object.Data[:n:n]
	}
	return err
}

// SlowDown does not carry the call out: the store asks for patience, and the
// driver, which asked again, has given up. Of a write a driver cannot tell that.
func SlowDown(_ context.Context, a *Attempt) error {
	return answered(a, http.StatusServiceUnavailable, "SlowDown")
}

// ServerError carries the call out and answers as a store that broke while it did.
func ServerError(ctx context.Context, a *Attempt) error {
	_ = a.Perform(ctx)
	return answered(a, http.StatusInternalServerError, "InternalError")
}

// answered is an answer in the 500s as drivers hand it on.
func answered(a *Attempt, status int, code string) error {
	e := &blob.StoreError{Class: blob.ErrUnavailable, Status: status, Code: code, Message: "injected"}
	if Writes(a.Call) {
		return fmt.Errorf("%w: %w", blob.ErrAmbiguous, e)
	}
	return e
}
