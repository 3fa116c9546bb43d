package blob_test

import (
	"context"
	"errors"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/memstore"
)

// TestPutImmutable: lost answers are settled by writing again, and what stays
// unknown is not passed on as an unknown outcome.
func TestPutImmutable(t *testing.T) {
	for name, c := range map[string]struct {
		rules []fault.Rule
		want  error
		calls int
		there bool
	}{
		"sound":            {nil, nil, 1, true},
		"one answer lost":  {[]fault.Rule{{Do: fault.LoseAnswer}}, nil, 2, true},
		"all answers lost": {[]fault.Rule{{Every: true, Do: fault.LoseAnswer}}, blob.ErrUnavailable, 3, true},
		"refused":          {[]fault.Rule{{Every: true, Do: fault.FailWith(blob.ErrPermission)}}, blob.ErrPermission, 1, false},
	} {
		s := fault.New(memstore.New(memstore.Options{}), c.rules...)
		a, err := blob.PutImmutable(t.Context(), s, "k", []byte("abc"))
		if !errors.Is(err, c.want) || errors.Is(err, blob.ErrAmbiguous) || c.want == nil && a.Size != 3 {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if _, err := s.Inner().Head(t.Context(), "k"); (err == nil) != c.there || s.Calls() != c.calls {
			t.Errorf("%s: %d calls, %v", name, s.Calls(), err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	s := fault.New(memstore.New(memstore.Options{}), fault.Rule{Do: func(ctx context.Context, a *fault.Attempt) error {
		cancel()
		return fault.LoseAnswer(ctx, a)
	}})
	if _, err := blob.PutImmutable(gone, s, "k", nil); !errors.Is(err, context.Canceled) || errors.Is(err, blob.ErrAmbiguous) || s.Calls() != 1 {
		t.Errorf("given up: %v after %d calls", err, s.Calls())
	}
}
