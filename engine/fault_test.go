package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
)

// Whatever request fails, a question fails with it, or says what it could not
// read, or gives the whole answer nonetheless: never one that is merely shorter.
func TestEveryRequestMayFail(t *testing.T) {
	inner := demo(t)
	asked := map[string]func(context.Context, *engine.Graph) (any, error){}
	for name := range questions(nil) {
		if name == "verify" {
			continue // hundreds of requests; its parts are those of the others
		}
		asked[name] = func(ctx context.Context, g *engine.Graph) (any, error) { return questions(g)[name](ctx) }
	}
	everyRequestMayFail(t, inner, asked)
	verified(t, openStore(t, inner))
}

func everyRequestMayFail(t *testing.T, inner blob.Store, asked map[string]func(context.Context, *engine.Graph) (any, error)) {
	t.Helper()
	ctx := context.Background()
	for _, name := range pace.Every(t, 5, slices.Sorted(maps.Keys(asked))) {
		answer := func(s blob.Store) (string, error) {
			v, err := asked[name](ctx, openStore(t, s))
			text, _ := json.Marshal(v)
			return string(text), err
		}
		whole, _ := answer(inner)
		n, err := fault.Sweep(1000, func(at int) (bool, error) {
			s := fault.New(inner, fault.Rule{At: at, Do: fault.FailWith(blob.ErrUnavailable)})
			got, err := answer(s)
			var part *engine.IncompleteError
			switch {
			case s.Fired() == 0:
				return false, nil
			case err != nil && !errors.Is(err, blob.ErrUnavailable) && !errors.As(err, &part):
				return true, fmt.Errorf("the error is another: %w", err)
			case err == nil && got != whole && !tells[name](got):
				return true, fmt.Errorf("nobody was told; the answer is %s", got)
			}
			return true, nil
		})
		if err != nil || n == 0 {
			t.Errorf("%s: %d calls, %v", name, n, err)
		}
	}
}

// tells are the answers that may stand beside a failed request, for they say
// what it was.
var tells = map[string]func(answer string) bool{}

func init() {
	for _, name := range []string{"info", "schema", "branches", "versions", "manifest versions"} {
		tells[name] = func(answer string) bool { return strings.Contains(answer, "unavailable") }
	}
	for name := range questions(nil) {
		if tells[name] == nil {
			tells[name] = func(string) bool { return false }
		}
	}
}
