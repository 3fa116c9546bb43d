package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/golden"
)

// docsNow is the moment of the pictures: an hour after the last commit of the
// embedded graph.
const docsNow = "2026-11-29T16:00:00Z"

// docsPictures are the pictures of docs/screens, and how each is made.
var docsPictures = []struct{ name, args string }{
	{"overview", "--screen overview --size 110x30"},
	{"commits", "--screen commits --size 110x32 --keys 'j'"},
	{"fragments", "--screen node:Port/fragments --size 110x30"},
	{"versions", "--screen node:Port/versions --size 110x30 --keys 'j'"},
	{"entity", "--screen node:Port/rows/NLRTM --size 110x30"},
	{"compare", "--screen diff/archive..main --size 110x30 --keys 'pgdown k k k k'"},
	{"meter", "--screen branches --size 110x30 --keys 'm'"},
	{"operations", "--screen overview --size 110x30 --keys '2 3 4 5 0'"},
}

// pictureMax keeps the pictures small enough for a page.
const pictureMax = 60 << 10 // bytes

// TestDocsPictures: the pictures are what the program draws. `go test ./cli
// -run Docs -update` draws them anew; they are the same on every machine.
func TestDocsPictures(t *testing.T) {
	for _, p := range docsPictures {
		t.Run(p.name, func(t *testing.T) {
			args := append([]string{"snap", demoURI, "--as", "svg", "--theme", "dark", "--now", docsNow}, shellWords(t, p.args)...)
			svg := run(t, args...).must(t)
			if len(svg) > pictureMax {
				t.Errorf("%d bytes", len(svg))
			}
			golden.Equal(t, "../docs/screens/"+p.name+".svg", []byte(svg))
		})
	}
}

// TestDocsShowEveryPicture: no page names a picture that is not there, and no
// picture stands there unused or unmade.
func TestDocsShowEveryPicture(t *testing.T) {
	pages := page(t, "README.md") + page(t, "docs/SNAP.md")
	files, err := filepath.Glob("../docs/screens/*")
	if err != nil || len(files) != len(docsPictures) {
		t.Errorf("%d files in docs/screens, %d are made: %v, %v", len(files), len(docsPictures), files, err)
	}
	for _, p := range docsPictures {
		if !strings.Contains(pages, "screens/"+p.name+".svg") {
			t.Errorf("no page shows %s", p.name)
		}
	}
	if n := strings.Count(pages, ".svg)"); n < len(docsPictures) {
		t.Errorf("%d pictures on the pages", n)
	}
}

// TestDocsExamples runs every line of the pages that is about the embedded
// graph and needs no terminal.
func TestDocsExamples(t *testing.T) {
	ran := 0
	for _, line := range strings.Split(page(t, "README.md")+page(t, "docs/SNAP.md"), "\n") {
		command, _, _ := strings.Cut(strings.TrimSpace(line), "#")
		rest, ok := strings.CutPrefix(command, "omnideck ")
		if !ok || !strings.Contains(rest, demoURI) {
			continue
		}
		rest, _, _ = strings.Cut(rest, " > ")
		rest, _, _ = strings.Cut(rest, " | ")
		if r := run(t, shellWords(t, rest)...); r.code != exitOK || r.stdout == "" {
			t.Errorf("omnideck %s: exit %d, %s", rest, r.code, r.stderr)
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("only %d examples were found", ran)
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shellWords parts a command line at blanks outside of single quotes.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	if strings.Count(line, "'")%2 == 1 {
		t.Fatalf("an open quote in %q", line)
	}
	return words
}
