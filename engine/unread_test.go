package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/engine"
)

// TestInfoOfWhatCanBeRead: a part that the store does not give is a finding and
// no failure, and nothing is said of it that is not known; a store that gives
// nothing is a failure.
func TestInfoOfWhatCanBeRead(t *testing.T) {
	inner := demo(t)
	whole, err := openStore(t, inner).Info(t.Context(), engine.At{})
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(match func(fault.Call) bool) (*engine.Info, error) {
		s := fault.New(inner, fault.Rule{Match: match, Every: true, Do: fault.FailWith(blob.ErrPermission)})
		return openStore(t, s).Info(t.Context(), engine.At{})
	}
	for prefix, part := range map[string]string{"__manifest/_refs/": engine.UnreadBranches, "": engine.UnreadRoot, "__recovery/": engine.UnreadRecovery} {
		got, err := refuses(func(c fault.Call) bool { return c.Op == blob.OpList && c.Key == prefix })
		if err != nil {
			t.Errorf("without %s: %v", part, err)
			continue
		}
		if !slices.Equal(got.Unread, []string{part}) || got.Rows != whole.Rows || got.HeadCommit != whole.HeadCommit || got.Types != whole.Types {
			t.Errorf("without %s: %+v", part, got)
		}
		if (got.Branches == 0) != (part == engine.UnreadBranches) {
			t.Errorf("without %s: %d branches", part, got.Branches)
		}
		if f := got.Findings[0]; f.ID != "M10" || f.Severity != engine.SeverityError || !strings.Contains(f.Evidence[0].Fact, "permission denied") {
			t.Errorf("without %s the first finding is %+v", part, f)
		}
		if n := len(got.Findings) - len(whole.Findings); part != engine.UnreadBranches && n != 1 {
			t.Errorf("without %s there are %d findings more", part, n)
		}
	}
	if got, err := refuses(nil); !errors.Is(err, blob.ErrPermission) {
		t.Errorf("of a store that gives nothing: %+v, %v", got, err)
	}
}
