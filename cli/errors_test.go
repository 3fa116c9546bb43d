package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
)

// TestJoinedErrorsAreLines: errors that came together stand on a line each,
// however deep they were wrapped; a newline in a name starts no line.
func TestJoinedErrorsAreLines(t *testing.T) {
	two := errors.Join(errors.New("first"), fmt.Errorf("second, of %q", "k"))
	for _, c := range []struct {
		err  error
		want string
	}{
		{two, "error: first\n       second, of \"k\"\n"},
		{fmt.Errorf("open g: %w", two), "error: open g: first\n       second, of \"k\"\n"},
		{errors.Join(nil, errors.New("alone"), nil), "error: alone\n"},
		{errors.New("key a\nerror: forged"), "error: key a\\nerror: forged\n"},
		{errors.Join(errors.New("key a\nb"), errors.New("c")), "error: key a\\nb\n       c\n"},
		{fmt.Errorf("%w; %w", two, errors.New("x")), "error: first\n       second, of \"k\"; x\n"},
	} {
		var b bytes.Buffer
		e := Env{Stderr: &b}
		e.report(t.Context(), c.err)
		if got := b.String(); got != c.want {
			t.Errorf("printed %q, expected %q", got, c.want)
		}
	}
}

// TestRefusalsLeadWithWhatMatters: the first line of a store's refusal is what
// was done, on what, what the store said and the next step; what the library
// said stands below, and no signature of an address in it.
func TestRefusalsLeadWithWhatMatters(t *testing.T) {
	refused := &blob.StoreError{
		Class: blob.ErrPermission, Status: 403, Code: "AccessDenied", Message: "Access Denied.", Step: "check what these credentials may do there",
		Facts: []blob.Fact{{Name: "endpoint", Value: "AWS"}}, Err: errors.New("operation error S3: GetObject,\nGet \"https://s/k?sig=hush\": 403"),
	}
	var b bytes.Buffer
	e := Env{Stderr: &b}
	e.report(t.Context(), fmt.Errorf("reading the schema: %w", &blob.OpError{Op: blob.OpGet, URL: "s3://b/g", Key: "_schema.pg", Err: refused}))
	want := "error: reading the schema: get s3://b/g/_schema.pg: permission denied (HTTP 403 AccessDenied): Access Denied.; check what these credentials may do there\n" +
		"       details: endpoint AWS; operation error S3: GetObject, Get \"https://s/k?…\": 403\n"
	if b.String() != want {
		t.Errorf("printed %s, want %s", b.String(), want)
	}
}

// TestNegativeTimeout: a time limit below zero is no command line.
func TestNegativeTimeout(t *testing.T) {
	for _, args := range [][]string{{"info", demoURI, "--timeout", "-1s"}, {"lance", "info", demoURI + manifestTable, "--timeout=-1ns"}} {
		if r := run(t, args...); r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, "--timeout is -1") {
			t.Errorf("%v: exit %d, %s%s", args, r.code, r.stdout, r.stderr)
		}
	}
}

// TestNextStepsAreVerbs: every step that a finding of the engine proposes is a
// verb of this program.
func TestNextStepsAreVerbs(t *testing.T) {
	files, err := filepath.Glob("../engine/*.go")
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`next\("[a-z]+", "([^"]*)"`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range step.FindAllStringSubmatch(string(text), -1) {
			found++
			if !slices.ContainsFunc(verbs(), func(v *verb) bool { return v.name == m[1] }) {
				t.Errorf("%s: there is no verb %q", file, m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d steps were found", found)
	}
}
