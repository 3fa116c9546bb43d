package aside_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/fault"
	"github.com/omnideck/omnideck/blob/localfs"
	"github.com/omnideck/omnideck/blob/memstore"
	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/recovery/aside"
)

var when = time.Date(2026, 11, 30, 15, 4, 5, 999, time.FixedZone("", 3600))

func options() aside.Options {
	return aside.Options{By: "ann", Clock: func() time.Time { return when }}
}

const folder = "__omnideck_aside/20261130T140405Z-1/"

var keys = []string{"__recovery/01X.json", "nodes/a/_versions/5.manifest", "z é%2F <&>"}

func start(t testing.TB) *memstore.Store {
	t.Helper()
	s := memstore.New(memstore.Options{Name: "g", MaxPage: 100})
	for k, body := range map[string]string{keys[0]: "{", keys[1]: "", keys[2]: "\x00\xff", "__manifest/x": "m", "z": "other", "nodes/a/_versions/4.manifest": "4"} {
		if _, err := s.Put(context.Background(), k, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func contents(t testing.TB, s blob.Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for e, err := range s.List(context.Background(), blob.ListOptions{Recursive: true}) {
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Get(context.Background(), e.Key, blob.All)
		if err != nil {
			t.Fatal(err)
		}
		out[e.Key] = string(o.Data)
	}
	return out
}

// moved is what start becomes, without the note.
func moved(before map[string]string, keys ...string) map[string]string {
	out := maps.Clone(before)
	for _, k := range keys {
		out[folder+k] = out[k]
		delete(out, k)
	}
	return out
}

func TestMove(t *testing.T) {
	t.Run("memory", func(t *testing.T) { moveOn(t, start(t)) })
	t.Run("disk", func(t *testing.T) {
		s, err := localfs.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		fill(t, s)
		moveOn(t, s)
	})
	t.Run("s3", func(t *testing.T) {
		s, err := opener.Open(context.Background(), lab.Test(t, lab.Options{}).URI("aside"))
		if err != nil {
			t.Fatal(err)
		}
		fill(t, s)
		moveOn(t, s)
	})
}

func fill(t *testing.T, s blob.Store) {
	t.Cleanup(func() { s.Close() })
	for k, body := range contents(t, start(t)) {
		if _, err := s.Put(t.Context(), k, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
}

func moveOn(t *testing.T, s blob.Store) {
	before := contents(t, s)
	p, err := aside.Plan(t.Context(), s, []string{keys[2], keys[0], keys[1]}, "they cannot be read")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, contents(t, s)); d != "" || p.Bytes != 3 || len(p.Objects) != 3 || p.Objects[2].Size != 2 || p.Objects[0].Key != keys[0] || p.Folder != "" {
		t.Errorf("%+v %s", p, d)
	}
	var told []string
	o := options()
	o.Moved = func(obj aside.Object) { told = append(told, obj.Key) }
	m, err := aside.Move(t.Context(), s, p, o)
	if err != nil || m.Folder+"/" != folder || len(m.Objects) != 3 || !slices.Equal(told, keys) {
		t.Fatalf("%+v, %v, told %v", m, err, told)
	}
	after := contents(t, s)
	var note struct {
		Why, By string
		When    time.Time
		Objects []aside.Object
	}
	if err := json.Unmarshal([]byte(after[folder+"manifest.json"]), &note); err != nil {
		t.Fatal(err)
	}
	if note.Why != "they cannot be read" || note.By != "ann" || !note.When.Equal(when.Truncate(time.Second)) || len(note.Objects) != 3 || note.Objects[1].SHA256 != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" || note.Objects[2].ETag == "" {
		t.Errorf("%+v", note)
	}
	delete(after, folder+"manifest.json")
	if d := cmp.Diff(moved(before, keys...), after); d != "" {
		t.Errorf("%s", d)
	}
	again, err := aside.Plan(t.Context(), s, keys, "once more")
	if err != nil || again.Folder+"/" != folder {
		t.Fatalf("%+v, %v", again, err)
	}
	f := fault.New(s, fault.Rule{Match: fault.Writes, Every: true, Do: fault.Fail})
	if m, err := aside.Move(t.Context(), f, again, options()); err != nil || len(m.Objects) != 3 {
		t.Errorf("moved again: %+v, %v", m, err)
	}
}

// TestTwoInOneSecond: each move has a folder of its own.
func TestTwoInOneSecond(t *testing.T) {
	s := start(t)
	for i, key := range keys {
		p, err := aside.Plan(t.Context(), s, []string{key}, "why")
		if err != nil {
			t.Fatal(err)
		}
		if m, err := aside.Move(t.Context(), s, p, options()); err != nil || m.Folder != fmt.Sprintf("__omnideck_aside/20261130T140405Z-%d", i+1) {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

// TestSweep: halted anywhere, failing anywhere, any answer lost, another one doing
// the same anywhere: every object is in its place or set aside, at every moment;
// nothing else is touched; the same plan again, or a new one of the same keys,
// ends it.
func TestSweep(t *testing.T) {
	s := start(t)
	before := contents(t, s)
	p, err := aside.Plan(t.Context(), s, keys, "why")
	if err != nil {
		t.Fatal(err)
	}
	twin := func(_ context.Context, inner blob.Store) error {
		_, err := aside.Move(context.Background(), inner, p, options())
		return err
	}
	for name, rule := range map[string]fault.Rule{
		"halt": {Do: fault.Halt}, "fail": {Do: fault.Fail}, "lost": {Match: fault.Writes, Do: fault.LoseAnswer}, "twin": {Do: fault.Rival(twin)},
	} {
		for _, anew := range []bool{false, true} {
			places, err := fault.Sweep(100, func(at int) (bool, error) {
				inner := s.Clone()
				rule.At = at
				f := fault.New(inner, rule)
				m, first := aside.Move(context.Background(), f, p, options())
				if first != nil && name == "lost" || first == nil && name != "lost" && name != "twin" && f.Fired() > 0 {
					return false, fmt.Errorf("%d faults: %w", f.Fired(), first)
				}
				if err := halfway(before, contents(t, inner), m, first); err != nil {
					return false, err
				}
				next := p
				if anew {
					if next, err = aside.Plan(context.Background(), inner, keys, "why"); err != nil {
						return false, err
					}
				}
				if _, err := aside.Move(context.Background(), inner, next, options()); err != nil {
					return false, fmt.Errorf("once more after %v: %w", first, err)
				}
				got := contents(t, inner)
				if _, ok := got[folder+"manifest.json"]; !ok {
					return false, errors.New("no note")
				}
				delete(got, folder+"manifest.json")
				if d := cmp.Diff(moved(before, keys...), got); d != "" {
					return false, errors.New(d)
				}
				return f.Fired() > 0, nil
			})
			if least := map[bool]int{true: 7, false: 15}[name == "lost"]; err != nil || places < least {
				t.Errorf("%s, a new plan %v: %d places, %v", name, anew, places, err)
			}
		}
	}
}

// halfway checks what is there after a move that told m and ended with an error.
func halfway(before, now map[string]string, m *aside.Moved, ended error) error {
	for k, body := range before {
		if copied, ok := now[folder+k]; now[k] != body && (!ok || copied != body) || ok && copied != body {
			return fmt.Errorf("%s is lost after %w", k, ended)
		}
		if _, there := now[k]; !there && !slices.Contains(keys, k) || ended == nil && there == slices.Contains(keys, k) {
			return fmt.Errorf("%s is there: %v", k, there)
		}
	}
	if m == nil {
		return nil
	}
	for _, o := range m.Objects {
		if _, there := now[o.Key]; there {
			return fmt.Errorf("%s was told to be moved", o.Key)
		}
	}
	return nil
}

// TestChangedMeanwhile: an object that another program writes anew, before any
// call, is not deleted, but in the one moment between the last look at it and its
// deletion.
func TestChangedMeanwhile(t *testing.T) {
	s := start(t)
	p, err := aside.Plan(t.Context(), s, keys, "why")
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	places, err := fault.Sweep(60, func(at int) (bool, error) {
		inner := s.Clone()
		var met fault.Call
		f := fault.New(inner, fault.Rule{At: at, Do: func(ctx context.Context, a *fault.Attempt) error {
			met = a.Call
			return fault.Rival(func(_ context.Context, inner blob.Store) error {
				_, err := inner.Put(context.Background(), keys[1], []byte("new"))
				return err
			})(ctx, a)
		}})
		_, err := aside.Move(context.Background(), f, p, options())
		if f.Fired() == 0 {
			return false, err
		}
		var changed *aside.ChangedError
		if errors.As(err, &changed) && changed.Key == keys[1] {
			refused++
		} else if err != nil {
			return false, err
		}
		o, err := inner.Get(context.Background(), keys[1], blob.All)
		if lastMoment := met.Op == blob.OpDelete && met.Key == keys[1]; !lastMoment && (err != nil || !bytes.Equal(o.Data, []byte("new"))) {
			return false, fmt.Errorf("the new object is lost: %w", err)
		}
		return true, nil
	})
	if err != nil || refused < 8 || refused == places {
		t.Errorf("%d places, %d refused, %v", places, refused, err)
	}
}

// TestForgedNote: a note and a copy that somebody made up do not make an original
// go that was never copied.
func TestForgedNote(t *testing.T) {
	s := start(t)
	p, err := aside.Plan(t.Context(), s, keys[2:], "why")
	if err != nil {
		t.Fatal(err)
	}
	forged := p.Objects[0]
	forged.SHA256 = "961b6dd3ede3cb8ecbaacbd68de040cd78eb2ed5889130cceb4c49268ea4d506" // of "aa"
	body, err := json.Marshal(map[string]any{"why": "why", "when": when, "by": "", "objects": []aside.Object{forged}})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string][]byte{folder + "manifest.json": body, folder + keys[2]: []byte("aa")} {
		if _, err := s.Put(t.Context(), k, v); err != nil {
			t.Fatal(err)
		}
	}
	var changed *aside.ChangedError
	if _, err := aside.Move(t.Context(), s, p, options()); !errors.As(err, &changed) {
		t.Errorf("%v", err)
	}
	if got := contents(t, s); got[keys[2]] != "\x00\xff" {
		t.Error("the original is gone")
	}
	for _, junk := range []string{"", "null", "[]", `{"why":"why","objects":[{"key":"../x","sha256":"` + strings.Repeat("0", 64) + `"}]}`, strings.Repeat("[", 1<<16)} {
		s := start(t)
		if _, err := s.Put(t.Context(), folder+"manifest.json", []byte(junk)); err != nil {
			t.Fatal(err)
		}
		if m, err := aside.Move(t.Context(), s, p, options()); err != nil || m.Folder+"/" == folder {
			t.Errorf("beside a note %.20q: %+v, %v", junk, m, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	s := start(t)
	before := contents(t, s)
	for name, c := range map[string]struct {
		keys []string
		why  string
	}{
		"no reason": {keys, " "}, "no keys": {nil, "why"}, "twice": {[]string{keys[0], keys[0]}, "why"}, "outside": {[]string{"../x"}, "why"},
		"set aside": {[]string{folder + "x"}, "why"}, "the folder": {[]string{"__omnideck_aside"}, "why"}, "its note": {[]string{"manifest.json"}, "why"},
	} {
		var refused *aside.RefusedError
		if p, err := aside.Plan(t.Context(), s, c.keys, c.why); p != nil || !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
		p := &aside.Planned{Why: c.why}
		for _, k := range c.keys {
			p.Objects = append(p.Objects, aside.Object{Key: k})
		}
		if m, err := aside.Move(t.Context(), s, p, options()); m != nil || !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := aside.Plan(t.Context(), s, []string{keys[0], "missing"}, "why"); !errors.Is(err, blob.ErrNotExist) || !strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
	p := &aside.Planned{Why: "why", Folder: folder[:len(folder)-1], Objects: []aside.Object{{Key: keys[0]}}}
	if _, err := aside.Move(t.Context(), s, p, options()); err == nil {
		t.Error("a folder that is not there was gone on with")
	}
	if d := cmp.Diff(before, contents(t, s)); d != "" {
		t.Error(d)
	}
}
