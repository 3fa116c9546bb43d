package lance_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/lance"
)

// lefts are the problems of one id that a look at the refs finds.
func lefts(t *testing.T, files map[string][]byte, id string) []lance.Problem {
	t.Helper()
	s := open(t, inMemory(t, "left", files), "", lance.OpenOptions{})
	rep, err := lance.Verify(t.Context(), s, lance.VerifyOptions{Refs: true})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(rep.Problems, func(p lance.Problem) bool { return p.ID != id })
}

// TestVerifyLostVersions: of newest versions that are gone their transactions
// tell, on main and on branches. A whole table has none.
func TestVerifyLostVersions(t *testing.T) {
	good := under(graph(t, "midlife"), "__manifest")
	if got := lefts(t, good, "transaction"); len(got) != 0 {
		t.Fatalf("undamaged: %+v", got)
	}
	for prefix, branch := range map[string]string{"": "main", "tree/review/new-calls/": "review/new-calls"} {
		var of []string
		for _, k := range slices.Sorted(maps.Keys(good)) {
			if strings.HasPrefix(k, prefix+"_versions/") && strings.HasSuffix(k, ".manifest") {
				of = append(of, k)
			}
		}
		if len(of) < 2 {
			t.Fatalf("%s has %d versions", branch, len(of))
		}
		damaged := maps.Clone(good)
		delete(damaged, of[0])
		got := lefts(t, damaged, "transaction")
		if len(got) != 1 || !strings.HasPrefix(got[0].Found, "1 transaction read at version ") || got[0].Severity != "info" || !strings.HasPrefix(got[0].Key, prefix+"_transactions/") ||
			!strings.Contains(got[0].Found, "the newest of "+branch) || !strings.Contains(got[0].Expected, "killed") || !strings.Contains(got[0].Expected, "lost version") {
			t.Errorf("%s, the newest version gone: %+v", branch, got)
		}
		if branch != "main" {
			continue
		}
		delete(damaged, of[1])
		got = lefts(t, damaged, "transaction")
		if len(got) != 2 || got[0].Severity != "warn" || !strings.Contains(got[0].Key, "_transactions/14-") || got[1].Severity != "info" || !strings.Contains(got[1].Key, "_transactions/13-") {
			t.Errorf("two versions gone: %+v", got)
		}
	}
}

// TestVerifyLostRef: what lies under tree/ without a ref is told; as a warning
// when it holds more than a killed creation leaves.
func TestVerifyLostRef(t *testing.T) {
	good := under(graph(t, "midlife"), "__manifest")
	if got := lefts(t, good, "branch-leftover"); len(got) != 0 {
		t.Fatalf("undamaged: %+v", got)
	}
	severities := map[string]bool{}
	for ref, folder := range map[string]string{"archive": "tree/archive", "review%2Fnew-calls": "tree/review"} {
		damaged := maps.Clone(good)
		delete(damaged, "_refs/branches/"+ref+".json")
		versions := 0
		for k := range good {
			if strings.HasPrefix(k, folder+"/") && strings.HasSuffix(k, ".manifest") {
				versions++
			}
		}
		want := "info"
		if versions > 1 {
			want = "warn"
		}
		severities[want] = true
		got := lefts(t, damaged, "branch-leftover")
		if len(got) != 1 || got[0].Severity != want || got[0].Key != folder || !strings.Contains(got[0].Found, "killed create or delete") || !strings.Contains(got[0].Found, "a lost ref: the branch is not shown") {
			t.Errorf("%s without its ref, %d versions: %+v", folder, versions, got)
		}
	}
	if len(severities) != 2 {
		t.Errorf("only severities %v were seen", severities)
	}
}
