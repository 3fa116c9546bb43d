package daytime

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReads: the values that languages.md names, worked out by package time.
func TestReads(t *testing.T) {
	day := func(y, m, d int) int32 {
		return int32(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	for text, want := range map[string]int32{
		"2024-02-09": day(2024, 2, 9), "2024-2-9": day(2024, 2, 9), "20240209": day(2024, 2, 9), "1969-12-31": -1,
		"-0001-01-01": day(-1, 1, 1), "+12024-2-29": day(12024, 2, 29), "0000-01-01": day(0, 1, 1),
		"2024-02-29T00:30:00+02:00": day(2024, 2, 28), "1970-01-01T00:00:00+01:00": -1,
	} {
		if got, err := Days(text); err != nil || got != want {
			t.Errorf("%s is day %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"2024-02-29": "2024-02-29T00:00:00.000Z", "2024-02-29T10:00:01": "2024-02-29T10:00:01.000Z",
		"2024-02-29 10:00:01.1239Z": "2024-02-29T10:00:01.123Z", "1969-12-31T23:59:59.9999Z": "1969-12-31T23:59:59.999Z",
		"2024-02-29T10:00:01 -0230": "2024-02-29T12:30:01.000Z", "2024-02-29T10:00:01+02": "2024-02-29T08:00:01.000Z",
		"2024-02-29T23:59:60.5Z": "2024-03-01T00:00:00.500Z", "2024-02-29t100001": "2024-02-29T10:00:01.000Z",
	} {
		got, err := Millis(text)
		if s := time.UnixMilli(got).UTC().Format("2006-01-02T15:04:05.000Z"); err != nil || s != want {
			t.Errorf("%s is %s, %v; want %s", text, s, err, want)
		}
	}
	if _, err := Days("yesterday"); err == nil || err.Error() != "invalid Date literal 'yesterday': expected a day like 2024-02-29" {
		t.Errorf("got %v", err)
	}
	if _, err := Millis("2024-02-29T10:00"); err == nil || !strings.Contains(err.Error(), "invalid DateTime literal '2024-02-29T10:00'") {
		t.Errorf("got %v", err)
	}
}

// texts that one of the two types may take.
var texts = []string{
	"2024-02-09", "2024-2-9", "2024-02-9", "2024-2-09", "20240209", "2024209", "2024-02-30", "2023-02-29", "2024-00-10", "2024-13-01", "24-02-09", "2024/02/09", "2024-02-009", "",
	"02024-02-09", "+2024-02-09", "-0001-01-01", "-001-01-01", "+12024-2-9", "+262142-12-31", "+262143-01-01", "-262143-01-01", "+2024-02", "+2024-+2-9", "+2024-002-09", "2024-02-", "2024--2-9", "2024-02-0a",
	"2024-02-29T10:00:01", "2024-02-29 10:00:01", "2024-02-29t10:00:01", "2024-02-29_10:00:01", "2024-02-29T10:00", "2024-02-29T24:00:00", "2024-02-29T23:60:00", "2024-02-29T23:59:60", "2024-02-29T12:30:60.25", "2024-02-29T23:59:61", "2024-02-29T1:00:00",
	"2024-02-29T10:00:01.", "2024-02-29T10:00:01.1", "2024-02-29T10:00:01.12", "2024-02-29T10:00:01.9999", "1969-12-31T23:59:59.9999", "2024-02-29T10:00:01.123456789", "2024-02-29T10:00:01.123456789012345Z", "2024-02-29T10:00:01,5",
	"2024-02-29T10:00:01Z", "2024-02-29T10:00:01z", "2024-02-29T10:00:01 Z", "2024-02-29T10:00:01UTC", "2024-02-29T10:00:01+02:00", "2024-02-29T10:00:01-02:30", "2024-02-29T10:00:01 +02:00", "2024-02-29T10:00:01  +0200", "2024-02-29T10:00:01+02",
	"2024-02-29T10:00:01+2", "2024-02-29T10:00:01+24:00", "2024-02-29T10:00:01+23:59", "2024-02-29T10:00:01+00:99", "2024-02-29T10:00:01+23:60", "2024-02-29T10:00:01 CET", "2024-02-29T10:00:01 Europe/Berlin", "2024-02-29T10:00:01.5+02", "2024-02-29T10:00:01ZZ",
	"2024-02-29T100001", "2024-02-29T100001Z", "2024-02-29T100001.5Z", "2024-02-29T1000012", "2024-02-29T100001+02", "2024-2-29T10:00:01", "20240229T10:00:01", "+2024-02-29T10:00:01", " 2024-02-09", "2024-02-09 ", "0000-01-01", "9999-12-31T23:59:59.999Z",
}

// rust is a graph of the Rust CLI with one type: a key, a Date and a DateTime.
type rust struct {
	t          *testing.T
	bin, graph string
}

// newRust makes the graph, or skips the test where there is no Rust CLI.
func newRust(t *testing.T) rust {
	bin := os.Getenv("OMNIGRAPH_BIN")
	if bin == "" {
		t.Skip("OMNIGRAPH_BIN is not set: the texts of dates are not compared with the Rust engine")
	}
	r := rust{t, bin, filepath.Join(t.TempDir(), "g")}
	if _, err := r.run("init", "--schema", r.write("s.pg", "node D { k: String @key d: Date? t: DateTime? }"), r.graph); err != nil {
		t.Fatalf("init: %v", err)
	}
	return r
}

func (r rust) run(args ...string) (string, error) {
	out, err := exec.CommandContext(r.t.Context(), r.bin, args...).Output()
	return string(out), err
}

func (r rust) write(name, content string) string {
	path := filepath.Join(r.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r rust) load(name, lines string) error {
	_, err := r.run("load", "--mode", "append", "--data", r.write(name, lines), r.graph)
	return err
}

// entity is a line to load: the text as a value of one kind, d or t, under a key
// that says both.
func entity(kind, text string) string {
	js, _ := json.Marshal(map[string]any{"type": "D", "data": map[string]string{"k": kind + text, kind: text}})
	return string(js) + "\n"
}

// read is what we take a text for: days as a Date, d, milliseconds as a DateTime, t.
func read(kind, text string) (int64, error) {
	if kind == "d" {
		days, err := Days(text)
		return int64(days), err
	}
	return Millis(text)
}

// TestLikeTheRustEngine loads every text with the Rust CLI as a Date and as a
// DateTime: it takes what we take, as the same value, and refuses what we refuse.
func TestLikeTheRustEngine(t *testing.T) {
	r := newRust(t)
	taken := ""
	for _, kind := range []string{"d", "t"} {
		for _, text := range texts {
			if _, err := read(kind, text); err == nil {
				taken += entity(kind, text)
				continue
			}
			if zoneName(text) || kind == "t" && len(text) > 10 && text[0] != '+' && text[0] != '-' {
				continue // refused by decision; or read by the same rules as for a Date
			}
			if err := r.load("one.jsonl", entity(kind, text)); err == nil {
				t.Errorf("the Rust engine takes %q as %s and we do not", text, kind)
			}
		}
	}
	if err := r.load("all.jsonl", taken); err != nil {
		t.Fatalf("the Rust engine refuses one of what we take: %s", err.(*exec.ExitError).Stderr)
	}
	out, err := r.run("export", r.graph)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range strings.Split(strings.TrimSpace(out), "\n") {
		sameValue(t, l)
		n++
	}
	if n < 40 {
		t.Errorf("only %d texts are taken: the comparison is empty", n)
	}
}

// sameValue compares the value in a line of the export of the Rust engine with
// what we read the text in its key for.
func sameValue(t *testing.T, line string) {
	t.Helper()
	var row struct {
		Data struct {
			K    string
			D, T *int64
		}
	}
	if err := json.Unmarshal([]byte(line), &row); err != nil {
		t.Fatal(err)
	}
	kind, text, want := row.Data.K[:1], row.Data.K[1:], row.Data.T
	if kind == "d" {
		want = row.Data.D
	}
	if got, _ := read(kind, text); want == nil || *want != got {
		t.Errorf("%s: we read %d, the Rust engine has %s", row.Data.K, got, line)
	}
}

// zoneName reports a text that only we refuse.
func zoneName(text string) bool {
	return strings.HasSuffix(text, "UTC") || strings.HasSuffix(text, "CET") || strings.HasSuffix(text, "Berlin")
}

func FuzzMillis(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ms, err := Millis(text)
		if err != nil {
			return
		}
		back, err := Millis(time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z"))
		if y := time.UnixMilli(ms).UTC().Year(); y >= 0 && y <= 9999 && (err != nil || back != ms) {
			t.Errorf("%q is %d and comes back as %d, %v", text, ms, back, err)
		}
	})
}
