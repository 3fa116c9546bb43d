package stuck_test

import (
	"maps"
	"testing"

	"github.com/omnideck/omnideck/internal/stuck"
)

// The audit rows that the states must lead to: the reference writes one for every
// outcome but that of a record before whose first effect its writer died.
func TestAuditRowsToCome(t *testing.T) {
	got := map[string]int{}
	for _, s := range stuck.States(t) {
		switch a := s.Audit(t); {
		case a == nil && len(s.Pending) == 0:
			got["no record"]++
		case a == nil:
			got["discarded"]++
		default:
			got[a.Kind]++
			if a.Commit == "" != (s.Op == "optimize") {
				t.Errorf("%s: %v", s, a)
			}
		}
	}
	if want := map[string]int{"no record": 25, "discarded": 9, "RolledForward": 36, "RolledBack": 106}; !maps.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// A state without a record is already what the reference made of it: the check
// accepts those, and no other.
func TestRecovered(t *testing.T) {
	for _, s := range stuck.States(t) {
		if len(s.Pending) == 0 {
			s.Recovered(t, s.Store(t, stuck.Root))
		}
	}
	for _, s := range stuck.Spread(t, 3, stuck.States(t)) {
		if len(s.Pending) > 0 {
			var told deaf
			told.TB = t
			s.Recovered(&told, s.Store(t, stuck.Root))
			if told.errors == 0 {
				t.Errorf("%s: a state with a record passes for recovered", s)
			}
		}
	}
}

// deaf counts errors, and reports none.
type deaf struct {
	testing.TB
	errors int
}

func (d *deaf) Errorf(string, ...any) { d.errors++ }
