package gocloud

import (
	"errors"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
)

func entries(places string) (out []blob.Entry) {
	for _, p := range strings.Fields(places) {
		key, dir := strings.CutSuffix(p, "/")
		out = append(out, blob.Entry{Key: key, IsPrefix: dir})
	}
	return out
}

// TestPagesThatOverlap: a store that repeats keys on the next page loses and
// doubles nothing; one that goes back further is refused.
func TestPagesThatOverlap(t *testing.T) {
	for _, tt := range []struct {
		before, page, want string
		bad                bool
	}{
		{"", "a b", "a b", false},
		{"a b", "c d", "c d", false},
		{"a b/", "b/ c", "c", false},
		{"a b c", "b c d", "d", false},
		{"a b", "a b", "", false},
		{"a-b a/", "a0", "a0", false}, // a folder stands where its '/' puts it
		{"a c", "b d", "", true},
		{"b", "a c", "", true},
	} {
		got, err := follow(entries(tt.before), entries(tt.page))
		if tt.bad != errors.Is(err, blob.ErrUnavailable) {
			t.Errorf("%q after %q: %v", tt.page, tt.before, err)
		}
		var places []string
		for _, e := range got {
			places = append(places, place(e))
		}
		if s := strings.Join(places, " "); s != tt.want {
			t.Errorf("%q after %q: %q, want %q", tt.page, tt.before, s, tt.want)
		}
	}
}

// TestUnorderedStoreIsSorted: a directory bucket is read to its end first.
func TestUnorderedStoreIsSorted(t *testing.T) {
	pages := func(yield func(blob.Entry, error) bool) {
		for _, e := range entries("c a/ b a/ a-") {
			if !yield(e, nil) {
				return
			}
		}
	}
	var got []string
	for e, err := range sorted(pages) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, place(e))
	}
	if s := strings.Join(got, " "); s != "a- a/ b c" {
		t.Errorf("sorted: %s", s)
	}
}
