// Package blobtest is the conformance suite of the store contract: every driver
// and every decorator runs the same tests.
//
//	func TestConformance(t *testing.T) {
//		blobtest.Run(t, func(t *testing.T) blob.Store { return memstore.New(memstore.Options{}) })
//	}
//
// The suite counts, too: what an operation costs in requests is part of the
// contract.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnideck/omnideck/blob"
)

// Option changes what is asked of a store.
type Option func(*suite)

type suite struct {
	skip     map[string]string
	overhead bool
}

// Skip leaves one test out, for a reason that is printed.
func Skip(name, reason string) Option { return func(s *suite) { s.skip[name] = reason } }

// Overhead is for stores that wrap the bytes of a write in others or answer
// more than was asked: the meter may then count more bytes than the object has.
func Overhead() Option { return func(s *suite) { s.overhead = true } }

// Run runs the suite; open returns a fresh and empty store each time.
func Run(t *testing.T, open func(t *testing.T) blob.Store, opts ...Option) {
	su := &suite{skip: map[string]string{}}
	for _, o := range opts {
		o(su)
	}
	tests := []struct {
		name string
		f    func(t *testing.T, s blob.Store)
	}{
		{"Attributes", testAttributes},
		{"Ranges", testRanges},
		{"Missing", testMissing},
		{"LiteralNames", testLiteralNames},
		{"InvalidKeys", testInvalidKeys},
		{"ListOrder", testListOrder},
		{"ListPages", testListPages},
		{"ListMissing", testListMissing},
		{"Replace", testReplace},
		{"PutIfAbsent", testPutIfAbsent},
		{"PutIfAbsentRace", testPutIfAbsentRace},
		{"NeverAPart", testNeverAPart},
		{"Delete", testDelete},
		{"Cancelled", testCancelled},
		{"Ownership", testOwnership},
		{"Counts", su.testCounts},
		{"Large", su.testLarge},
		{"Properties", testProperties},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if why := su.skip[tt.name]; why != "" {
				t.Skip("SKIPPED:", why)
			}
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			tt.f(t, s)
		})
	}
}

func put(t *testing.T, s blob.Store, key, data string) blob.Attrs {
	t.Helper()
	a, err := s.Put(t.Context(), key, []byte(data))
	if err != nil {
		t.Fatalf("Put(%q): %v", key, err)
	}
	return a
}

func get(t *testing.T, s blob.Store, key string) blob.Object {
	t.Helper()
	o, err := s.Get(t.Context(), key, blob.All)
	if err != nil {
		t.Fatalf("Get(%q): %v", key, err)
	}
	return o
}

// list returns the keys of a listing, folders with a '/' at their end.
func list(t *testing.T, s blob.Store, opts blob.ListOptions) []string {
	t.Helper()
	keys := []string{}
	for e, err := range s.List(t.Context(), opts) {
		if err != nil {
			t.Fatalf("List(%+v): %v", opts, err)
		}
		if e.IsPrefix {
			e.Key += "/"
		}
		keys = append(keys, e.Key)
	}
	return keys
}

func testAttributes(t *testing.T, s blob.Store) {
	const key = "folder/object"
	wrote := put(t, s, key, "twelve bytes")
	head, err := s.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	got := get(t, s, key)
	part, err := s.Get(t.Context(), key, blob.Range{Off: 3, Len: 4})
	if err != nil {
		t.Fatal(err)
	}
	var listed blob.Attrs
	for e, err := range s.List(t.Context(), blob.ListOptions{Prefix: "folder/"}) {
		if err != nil {
			t.Fatal(err)
		}
		listed = e.Attrs
	}
	for name, a := range map[string]blob.Attrs{"Put": wrote, "Head": head, "Get": got.Attrs, "Get of a range": part.Attrs, "List": listed} {
		if a.Size != 12 || a.ETag == "" || a.ETag != head.ETag {
			t.Errorf("%s: attributes %+v, want those of Head: %+v", name, a, head)
		}
		if name != "Put" && a.ModTime.Truncate(time.Second).Unix() != head.ModTime.Unix() {
			t.Errorf("%s: modified %v, Head says %v", name, a.ModTime, head.ModTime)
		}
	}
	if string(got.Data) != "twelve bytes" || string(part.Data) != "lve " {
		t.Errorf("read %q and %q", got.Data, part.Data)
	}
}

func testRanges(t *testing.T, s blob.Store) {
	put(t, s, "ten", "0123456789")
	put(t, s, "none", "")
	for _, tt := range []struct {
		key  string
		r    blob.Range
		want string
		bad  bool
	}{
		{key: "ten", r: blob.All, want: "0123456789"},
		{key: "ten", r: blob.Range{Off: 0, Len: 10}, want: "0123456789"},
		{key: "ten", r: blob.Range{Off: 0, Len: 11}, want: "0123456789"},
		{key: "ten", r: blob.Range{Off: 9, Len: 1}, want: "9"},
		{key: "ten", r: blob.Range{Off: 7, Len: 100}, want: "789"},
		{key: "ten", r: blob.Range{Off: 7, Len: -1}, want: "789"},
		{key: "ten", r: blob.Range{Off: 4, Len: 0}, want: ""},
		{key: "ten", r: blob.Range{Off: 3, Len: 1<<63 - 1 - 3}, want: "3456789"},
		{key: "ten", r: blob.Range{Off: 10, Len: 1}, bad: true},
		{key: "ten", r: blob.Range{Off: 10, Len: -1}, bad: true},
		{key: "ten", r: blob.Range{Off: 10, Len: 0}, bad: true},
		{key: "ten", r: blob.Range{Off: 1 << 40, Len: 5}, bad: true},
		{key: "ten", r: blob.Range{Off: -1, Len: 5}, bad: true},
		{key: "none", r: blob.All, want: ""},
		{key: "none", r: blob.Range{Off: 0, Len: 5}, bad: true},
		{key: "none", r: blob.Range{Off: 0, Len: 0}, bad: true},
	} {
		o, err := s.Get(t.Context(), tt.key, tt.r)
		switch {
		case tt.bad && !errors.Is(err, blob.ErrRange):
			t.Errorf("Get(%s, %+v): %q, %v; want ErrRange", tt.key, tt.r, o.Data, err)
		case !tt.bad && (err != nil || string(o.Data) != tt.want):
			t.Errorf("Get(%s, %+v): %q, %v; want %q", tt.key, tt.r, o.Data, err, tt.want)
		}
	}
}

func testMissing(t *testing.T, s blob.Store) {
	put(t, s, "a/b", "x")
	for _, key := range []string{"nothing", "a", "a/b/c", "a/c", "no/such/folder"} {
		_, err := s.Get(t.Context(), key, blob.All)
		wantOpError(t, err, blob.OpGet, key)
		_, err = s.Get(t.Context(), key, blob.Range{Off: 1, Len: 1})
		wantOpError(t, err, blob.OpGet, key)
		_, err = s.Head(t.Context(), key)
		wantOpError(t, err, blob.OpHead, key)
	}
}

func wantOpError(t *testing.T, err error, op blob.Op, key string) {
	t.Helper()
	var oe *blob.OpError
	if !errors.Is(err, blob.ErrNotExist) || !errors.As(err, &oe) || oe.Op != op || oe.Key != key {
		t.Errorf("%s %q: error %v, want an OpError for it wrapping ErrNotExist", op, key, err)
	}
}

var literalNames = []string{
	"a b", "a  b ", "#", "a#b", "#1x", "%41", "100%", "a%2Fb", "a+b", "a&b=c", "a;b", "a,b", "a@b", "a:b", "a'b",
	`a"b`, "(a)", "[a]", "{a}", "a!b", "a*b", "a~b", "~", "$a", "a|b", "a<b>", "a^b", "a`b", `a\b`, "...", ".a", "a.",
	"ü", "u\u0308", "日本語", "🦋", "e.lance", "18446744073709551611.manifest", "__0x2f__",
}

// testLiteralNames: a name is kept as it is. A store may refuse a few that it
// cannot keep, but never keeps another instead.
func testLiteralNames(t *testing.T, s blob.Store) {
	var want, refused []string
	for _, n := range literalNames {
		key := "names/" + n + "/" + n
		_, err := s.Put(t.Context(), key, []byte(n))
		if errors.Is(err, blob.ErrKey) {
			refused = append(refused, n)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, key)
	}
	if len(refused) > 2 {
		t.Errorf("refused: %q", refused)
	}
	slices.Sort(want)
	for _, key := range want {
		if o := get(t, s, key); !strings.HasSuffix(key, "/"+string(o.Data)) {
			t.Errorf("Get(%q) read %q", key, o.Data)
		}
	}
	if got := list(t, s, blob.ListOptions{Prefix: "names/", Recursive: true}); !slices.Equal(got, want) {
		t.Errorf("listed\n%q, want\n%q", got, want)
	}
	if got := list(t, s, blob.ListOptions{Prefix: "names/a%2Fb/"}); !slices.Equal(got, []string{"names/a%2Fb/a%2Fb"}) {
		t.Errorf("listed %q", got)
	}
}

func testInvalidKeys(t *testing.T, s blob.Store) {
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(t.Context(), m)
	for _, key := range []string{"", "/", "/abs", "a/", "a//b", ".", "..", "../up", "a/../../b", "a/./b", "a/..", "nul\x00"} {
		_, e1 := s.Get(ctx, key, blob.All)
		_, e2 := s.Head(ctx, key)
		_, e3 := s.Put(ctx, key, nil)
		_, e4 := s.PutIfAbsent(ctx, key, nil)
		e5 := s.Delete(ctx, key)
		for i, err := range []error{e1, e2, e3, e4, e5} {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("%s(%q): %v, want ErrKey", []string{"Get", "Head", "Put", "PutIfAbsent", "Delete"}[i], key, err)
			}
		}
	}
	for _, prefix := range []string{"../", "a/../", "/", "a//", "./", "x\x00"} {
		for e, err := range s.List(ctx, blob.ListOptions{Prefix: prefix}) {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("List(%q): %v, %v, want ErrKey", prefix, e, err)
			}
		}
	}
	if n := m.Totals().Requests; n != 0 {
		t.Errorf("%d requests were sent for keys that cannot be", n)
	}
}

func testListOrder(t *testing.T, s blob.Store) {
	for _, key := range []string{"a-b", "a/x", "a/y/z", "a/y/w/v", "a/é", "a0", "aa/b", "b", "B", "c/d/e/f", "c/d.e"} {
		put(t, s, key, key)
	}
	for _, tt := range []struct {
		prefix    string
		recursive bool
		want      string
	}{
		{"", true, "B a-b a/x a/y/w/v a/y/z a/é a0 aa/b b c/d.e c/d/e/f"},
		{"", false, "B a-b a/ a0 aa/ b c/"},
		{"a", true, "a-b a/x a/y/w/v a/y/z a/é a0 aa/b"},
		{"a", false, "a-b a/ a0 aa/"},
		{"a/", false, "a/x a/y/ a/é"},
		{"a/y", false, "a/y/"},
		{"a/y/", false, "a/y/w/ a/y/z"},
		{"a/y/", true, "a/y/w/v a/y/z"},
		{"c/d", false, "c/d.e c/d/"},
		{"c/", true, "c/d.e c/d/e/f"},
		{"a/x", false, "a/x"},
		{"a/x/", false, ""},
	} {
		for _, size := range []int{0, 1, 2, 3, 7, 100} {
			got := strings.Join(list(t, s, blob.ListOptions{Prefix: tt.prefix, Recursive: tt.recursive, PageSize: size}), " ")
			if got != tt.want {
				t.Errorf("List(%q, recursive=%v, page %d): %s, want %s", tt.prefix, tt.recursive, size, got, tt.want)
			}
		}
	}
}

func testListPages(t *testing.T, s blob.Store) {
	const n = 23
	for i := range n {
		put(t, s, fmt.Sprintf("t/_versions/%020d.manifest", i), "m")
	}
	for _, tt := range []struct{ size, take, requests int }{
		{1, 1, 1}, {1, n, n}, {10, 10, 1}, {10, 11, 2}, {10, n, 3}, {n, n, 1}, {n + 1, n, 1}, {5, 1, 1}, {0, n, 1},
	} {
		m := blob.NewMeter(nil, blob.Keep(100))
		ctx := blob.WithMeter(t.Context(), m)
		got := 0
		for e, err := range s.List(ctx, blob.ListOptions{Prefix: "t/_versions/", PageSize: tt.size}) {
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("t/_versions/%020d.manifest", got); e.Key != want || e.Size != 1 || e.ETag == "" {
				t.Fatalf("entry %d is %+v, want key %s", got, e, want)
			}
			if got++; got == tt.take && tt.take < n {
				break
			}
		}
		if tot := m.Totals(); got != tt.take || tot.Requests != int64(tt.requests) || tot.Ops[blob.OpList] != int64(tt.requests) {
			t.Errorf("page %d, %d taken: %d entries in %d requests, want %d", tt.size, tt.take, got, tot.Requests, tt.requests)
		}
		keys := 0
		for _, c := range m.Calls() {
			if keys += c.Keys; c.Key != "t/_versions/" {
				t.Errorf("a listing was counted under %q", c.Key)
			}
		}
		if keys < got {
			t.Errorf("page %d: the meter saw %d keys, %d were yielded", tt.size, keys, got)
		}
	}
}

func testListMissing(t *testing.T, s blob.Store) {
	if got := list(t, s, blob.ListOptions{}); len(got) != 0 {
		t.Errorf("a fresh store lists %q", got)
	}
	put(t, s, "a/b", "x")
	for _, prefix := range []string{"none", "none/", "a/b/", "a/c", "a/b/c/"} {
		for _, recursive := range []bool{false, true} {
			if got := list(t, s, blob.ListOptions{Prefix: prefix, Recursive: recursive}); len(got) != 0 {
				t.Errorf("List(%q) is %q, want nothing", prefix, got)
			}
		}
	}
}

func testProperties(t *testing.T, s blob.Store) {
	p := s.Properties()
	if p.URL == "" || strings.HasSuffix(p.URL, "/") && len(p.URL) > 1 || p.Scheme == "" || !p.Ordered {
		t.Errorf("properties %+v", p)
	}
	_, err := s.Get(t.Context(), "none", blob.All)
	var oe *blob.OpError
	if !errors.As(err, &oe) || oe.URL != p.URL {
		t.Errorf("error %v names another root than %s", err, p.URL)
	}
}

func testCancelled(t *testing.T, s blob.Store) {
	put(t, s, "k", "old")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, e1 := s.Get(ctx, "k", blob.All)
	_, e2 := s.Head(ctx, "k")
	_, e3 := s.Put(ctx, "k", []byte("new"))
	_, e4 := s.PutIfAbsent(ctx, "k2", []byte("new"))
	e5 := s.Delete(ctx, "k")
	var e6 error
	for _, err := range s.List(ctx, blob.ListOptions{}) {
		e6 = err
	}
	for i, err := range []error{e1, e2, e3, e4, e5, e6} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d on a cancelled context: %v", i, err)
		}
		if errors.Is(err, blob.ErrAmbiguous) {
			t.Errorf("call %d: nothing was sent, but the outcome is called unknown: %v", i, err)
		}
	}
	if o := get(t, s, "k"); string(o.Data) != "old" {
		t.Errorf("a cancelled call left %q", o.Data)
	}
	if _, err := s.Head(t.Context(), "k2"); !errors.Is(err, blob.ErrNotExist) {
		t.Errorf("a cancelled create left an object: %v", err)
	}
}

func testOwnership(t *testing.T, s blob.Store) {
	data := []byte("mine")
	if _, err := s.Put(t.Context(), "k", data); err != nil {
		t.Fatal(err)
	}
	copy(data, "XXXX")
	o := get(t, s, "k")
	copy(o.Data, "YYYY")
	_ = append(o.Data, "ZZZZ"...)
	if o := get(t, s, "k"); string(o.Data) != "mine" {
		t.Errorf("the store holds %q, and shares memory with its callers", o.Data)
	}
}

func (su *suite) testLarge(t *testing.T, s blob.Store) {
	data := make([]byte, 12<<20)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	m := blob.NewMeter(nil)
	ctx := blob.WithMeter(t.Context(), m)
	if _, err := s.PutIfAbsent(ctx, "large", data); err != nil {
		t.Fatal(err)
	}
	o, err := s.Get(ctx, "large", blob.All)
	if err != nil || !bytes.Equal(o.Data, data) {
		t.Fatalf("read %d bytes back, %v", len(o.Data), err)
	}
	tot := m.Totals()
	if tot.Requests != 2 || !su.counts(tot.BytesRead, int64(len(data))) || !su.counts(tot.BytesWritten, int64(len(data))) {
		t.Errorf("12 MB there and back: %+v", tot)
	}
}

// counts compares counted bytes with those of the object.
func (su *suite) counts(got, want int64) bool {
	return got == want || su.overhead && got > want && got < want+4096
}

// each runs f n times side by side.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
