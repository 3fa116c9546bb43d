package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/golden"
	"github.com/omnideck/omnideck/tui/action"
	"github.com/omnideck/omnideck/tui/theme"
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
	{"compare", "--screen diff/archive..main --size 110x30 --keys 'pgdown k k k k .'"},
	{"travel", "--screen commits --size 110x30 --keys 'j j j t 4'"},
	{"palette", "--screen commits --size 110x30 --keys 'p v e s'"},
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
	pages := pages(t)
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
	for _, line := range strings.Split(pages(t), "\n") {
		command, _, _ := strings.Cut(strings.TrimSpace(line), "#")
		rest, ok := strings.CutPrefix(command, "omnideck ")
		if !ok || !strings.Contains(rest, demoURI) {
			continue
		}
		rest = beforeAny(rest, " > ", " | ")
		if r := run(t, shellWords(t, rest)...); r.code != exitOK || r.stdout == "" {
			t.Errorf("omnideck %s: exit %d, %s", rest, r.code, r.stderr)
		}
		ran++
	}
	if ran < 5 {
		t.Errorf("only %d examples were found", ran)
	}
}

// TestDocsVerbs: the table of the README names every verb, and no other.
func TestDocsVerbs(t *testing.T) {
	readme := page(t, "README.md")
	_, table, ok := strings.Cut(readme, "| you want to | verb |")
	table, _, _ = strings.Cut(table, "\n\n")
	if !ok {
		t.Fatal("the README has no table of verbs")
	}
	var named []string
	for _, row := range strings.Split(table, "\n") {
		family := ""
		for i, code := range strings.Split(row, "`") {
			if i%2 == 0 {
				continue
			}
			name, _, _ := strings.Cut(code, " --")
			if first, _, ok := strings.Cut(name, " "); ok && first == "lance" {
				family = first + " "
			} else if name = family + name; family != "" && strings.HasPrefix(code, "--") {
				continue
			}
			if !strings.HasPrefix(name, "--") {
				named = append(named, name)
			}
		}
	}
	var known []string
	for _, v := range verbs() {
		known = append(known, v.name)
		if v.name != "version" && !slices.Contains(named, v.name) {
			t.Errorf("the README does not name %s", v.name)
		}
	}
	for _, n := range named {
		if !slices.Contains(known, n) {
			t.Errorf("the README names %s, which is no verb", n)
		}
	}
}

// TestDocsFilters types every filter of the workstation's page into the list
// that it is about, and reads how many rows are left.
func TestDocsFilters(t *testing.T) {
	ran := 0
	for _, line := range strings.Split(page(t, "docs/WORKSTATION.md"), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], " `") {
			continue
		}
		if _, err := strconv.Atoi(strings.TrimSpace(cells[2])); err != nil {
			continue // another table
		}
		keys := "/"
		for _, r := range strings.Trim(cells[0], " `") {
			if r == ' ' {
				keys += " space"
			} else {
				keys += " " + string(r)
			}
		}
		want := strings.TrimSpace(cells[2]) + " of 10 match"
		if got := run(t, "snap", demoURI, "--screen", "tables", "--keys", keys+" enter").must(t); !strings.Contains(got, want) {
			t.Errorf("%s: want %s\n%s", cells[0], want, got)
		}
		ran++
	}
	if ran < 8 {
		t.Errorf("only %d filters were found", ran)
	}
}

// TestDocsKeyMap: every key map on the pages is one.
func TestDocsKeyMap(t *testing.T) {
	blocks := strings.Split(page(t, "docs/WORKSTATION.md")+page(t, "docs/KEYS.md"), "```toml\n")
	if len(blocks) != 3 {
		t.Errorf("%d key maps", len(blocks)-1)
	}
	for _, b := range blocks[1:] {
		text, _, _ := strings.Cut(b, "```")
		if _, err := action.Read([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDocsLibrary: what the README shows of the library stands in an example
// that is run.
func TestDocsLibrary(t *testing.T) {
	_, code, _ := strings.Cut(page(t, "README.md"), "```go\n")
	code, _, _ = strings.Cut(code, "```")
	example := page(t, "lance/example_test.go")
	if strings.Count(code, "\n") < 4 {
		t.Fatalf("the README shows no code: %q", code)
	}
	for _, line := range strings.Split(strings.TrimSpace(code), "\n") {
		if !strings.Contains(example, strings.TrimSpace(line)+"\n") {
			t.Errorf("the example lacks %q", line)
		}
	}
}

// TestDocsThemes: the page names every theme.
func TestDocsThemes(t *testing.T) {
	text := page(t, "docs/WORKSTATION.md")
	for _, name := range theme.Names() {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/WORKSTATION.md does not name the theme %s", name)
		}
	}
}

// pages are those with examples and pictures.
func pages(t *testing.T) string {
	return page(t, "README.md") + page(t, "docs/SNAP.md") + page(t, "docs/WORKSTATION.md")
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// beforeAny is a command line up to the first sign that no quote holds.
func beforeAny(line string, signs ...string) string {
	for i := range line {
		for _, s := range signs {
			if strings.HasPrefix(line[i:], s) && strings.Count(line[:i], "'")%2 == 0 {
				return line[:i]
			}
		}
	}
	return line
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
