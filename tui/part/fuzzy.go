package part

import (
	"cmp"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/omnideck/omnideck/tui/theme"
)

// Hit is a candidate that a pattern matches: the characters of the pattern
// stand in it in their order, whatever their case, spaces of the pattern aside.
// At is where the score is best: characters that begin a word count most, then
// those that follow each other, and what is skipped counts against. A pattern
// without characters matches everything with a score of 0. Only the first 32
// characters of the pattern and the first 256 of the text are looked at.
type Hit struct {
	Index int // of the candidate
	Score int
	At    []int // bytes of its text that match
}

// Rank matches n candidates and gives the best of them, at most limit. Those
// of equal score keep their order.
func Rank(pattern string, n int, text func(i int) string, limit int) []Hit {
	m := newFuzzy(pattern)
	var out []Hit
	order := func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Index, b.Index)) }
	worst := math.MinInt // no hit below this one is among the best
	for i := range n {
		score, ok := m.score(text(i))
		if !ok || score <= worst {
			continue
		}
		if out = append(out, Hit{Index: i, Score: score}); len(out) >= 4*limit+16 {
			slices.SortFunc(out, order)
			out = out[:limit]
			worst = math.MaxInt
			if limit > 0 {
				worst = out[limit-1].Score
			}
		}
	}
	slices.SortFunc(out, order)
	out = out[:min(limit, len(out))]
	for i := range out {
		s := text(out[i].Index)
		m.score(s)
		out[i].At = m.trace(s)
	}
	return out
}

// Matched paints text in a role, with what begins at the positions in the
// style of a match. A character and its accents are lit together.
func Matched(role theme.Role, text string, at []int) []Span {
	var out []Span
	from := 0 // of the piece that is not out yet
	for i := 0; i < len(at); {
		begin := at[i]
		if begin < from || begin >= len(text) || !utf8.RuneStart(text[begin]) {
			i++
			continue
		}
		end := begin
		for i < len(at) && at[i] <= end && end < len(text) {
			if at[i] == end {
				cluster, _ := ansi.FirstGraphemeCluster(text[end:], ansi.GraphemeWidth)
				end += max(1, len(cluster))
			}
			i++
		}
		if begin > from {
			out = append(out, R(role, text[from:begin]))
		}
		out = append(out, R(theme.Match, text[begin:end]))
		from = end
	}
	if from < len(text) {
		out = append(out, R(role, text[from:]))
	}
	return out
}

// The points of a match.
const (
	fuzzyHit   = 16 // a character
	fuzzyStart = 24 // that begins a word
	fuzzyFirst = 8  // and the text
	fuzzyRun   = 20 // and stands right behind the one before
	fuzzySkip  = 1  // taken off for each character between two
	fuzzyLead  = 12 // taken off at most for what stands before the first
	fuzzyLong  = 8  // so many characters of text cost a point

	fuzzyText    = 256
	fuzzyPattern = 32
	fuzzyNever   = math.MinInt32 / 2
)

// fuzzy matches one pattern against many texts. Its tables are reused.
type fuzzy struct {
	want  []rune             // folded
	text  [fuzzyText]rune    // folded, from first[0] to the end of last
	kind  [fuzzyText]uint8   // runeKind of those and of the one before
	n     int                // characters of text
	first [fuzzyPattern]int  // where want[i] may stand at the earliest
	last  [fuzzyPattern]int  // and at the latest
	best  [][fuzzyText]int32 // [i][j]: score of want[:i+1] with want[i] at text[j]
}

func newFuzzy(pattern string) *fuzzy {
	m := &fuzzy{}
	for _, r := range pattern {
		if !unicode.IsSpace(r) && len(m.want) < fuzzyPattern {
			m.want = append(m.want, fold(r))
		}
	}
	m.best = make([][fuzzyText]int32, len(m.want))
	return m
}

// fold gives one character for all that differ only in case.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		return rune(foldASCII[r])
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

var foldASCII, kindASCII = func() (fold, kind [utf8.RuneSelf]uint8) {
	for c := range fold {
		fold[c] = uint8(c)
		switch {
		case 'a' <= c && c <= 'z':
			kind[c] = 1
		case 'A' <= c && c <= 'Z':
			fold[c] = uint8(c + 'a' - 'A')
			kind[c] = 2
		case '0' <= c && c <= '9':
			kind[c] = 3
		}
	}
	return fold, kind
}()

// read folds the text and says whether the pattern is in it. Most texts are
// ASCII and most do not match: those are only looked through.
func (m *fuzzy) read(s string) bool {
	i, want := 0, m.want
	for j := range min(len(s), fuzzyText) {
		c := s[j]
		if c >= utf8.RuneSelf {
			return m.readRunes(s)
		}
		if i < len(want) && rune(foldASCII[c]) == want[i] {
			m.first[i] = j
			i++
		}
	}
	if i < len(want) {
		return false
	}
	m.n = min(len(s), fuzzyText)
	for j := max(0, m.first[0]-1); j < m.n; j++ {
		m.text[j], m.kind[j] = rune(foldASCII[s[j]]), kindASCII[s[j]]
	}
	m.latest()
	return true
}

func (m *fuzzy) readRunes(s string) bool {
	i := 0
	m.n = 0
	for _, r := range s {
		if m.n == fuzzyText {
			break
		}
		m.kind[m.n] = runeKind(r)
		r = fold(r)
		m.text[m.n] = r
		if i < len(m.want) && r == m.want[i] {
			m.first[i] = m.n
			i++
		}
		m.n++
	}
	if i < len(m.want) {
		return false
	}
	m.latest()
	return true
}

// latest finds the last place of each character, from the end.
func (m *fuzzy) latest() {
	i := len(m.want) - 1
	for j := m.n - 1; i >= 0; j-- {
		if m.text[j] == m.want[i] {
			m.last[i] = j
			i--
		}
	}
}

// bonus is what a match at a character is worth.
func (m *fuzzy) bonus(j int) int32 {
	switch {
	case j == 0 && m.kind[0] > 0:
		return fuzzyHit + fuzzyFirst + fuzzyStart
	case j == 0:
		return fuzzyHit + fuzzyFirst
	case startsWord(m.kind[j-1], m.kind[j]):
		return fuzzyHit + fuzzyStart
	}
	return fuzzyHit
}

// startsWord: words begin behind what is in no word, with a capital, and with
// a number.
func startsWord(before, kind uint8) bool {
	return kind > 0 && (before == 0 || kind > 1 && kind != before)
}

// runeKind is 0 for what is in no word, 1 for letters, 2 for capitals, 3 for
// digits.
func runeKind(r rune) uint8 {
	switch {
	case r < utf8.RuneSelf:
		return kindASCII[r]
	case unicode.IsUpper(r):
		return 2
	case unicode.IsLetter(r), unicode.IsMark(r):
		return 1
	case unicode.IsDigit(r):
		return 3
	}
	return 0
}

func (m *fuzzy) score(s string) (int, bool) {
	if len(m.want) == 0 {
		return 0, true
	}
	if !m.read(s) {
		return 0, false
	}
	for j := m.first[0]; j <= m.last[0]; j++ {
		m.best[0][j] = fuzzyNever
		if m.text[j] == m.want[0] {
			m.best[0][j] = m.bonus(j) - int32(min(j, fuzzyLead))
		}
	}
	for i := 1; i < len(m.want); i++ {
		m.row(i)
	}
	end := len(m.want) - 1
	return int(slices.Max(m.best[end][m.first[end]:m.last[end]+1])) - m.n/fuzzyLong, true
}

// row scores want[i] at each place from the row of the character before it.
func (m *fuzzy) row(i int) {
	above, row, want := &m.best[i-1], &m.best[i], m.want[i]
	far := int32(fuzzyNever) // the best of those that are not next to text[j], less what is skipped
	for j := m.first[i-1] + 1; j <= m.last[i]; j++ {
		next := int32(fuzzyNever)
		if j-1 <= m.last[i-1] {
			next = above[j-1]
		}
		if j >= m.first[i] {
			row[j] = fuzzyNever
			if m.text[j] == want {
				row[j] = max(far, next+fuzzyRun) + m.bonus(j)
			}
		}
		far = max(far, next) - fuzzySkip
	}
}

// trace is the bytes at which the best match of the text that was scored last
// has its characters.
func (m *fuzzy) trace(s string) []int {
	if len(m.want) == 0 {
		return nil
	}
	at := make([]int, len(m.want))
	i := len(m.want) - 1
	at[i] = m.first[i]
	for j := m.first[i]; j <= m.last[i]; j++ {
		if m.best[i][j] > m.best[i][at[i]] {
			at[i] = j
		}
	}
	for ; i > 0; i-- {
		j := at[i]
		rest := m.best[i][j] - m.bonus(j)
		for k := min(j-1, m.last[i-1]); k >= m.first[i-1]; k-- {
			if k == j-1 && m.best[i-1][k]+fuzzyRun == rest || m.best[i-1][k]-int32(j-1-k)*fuzzySkip == rest {
				at[i-1] = k
				break
			}
		}
	}
	// From characters to bytes.
	i, j := 0, 0
	for b := range s {
		if i < len(at) && at[i] == j {
			at[i] = b
			i++
		}
		j++
	}
	return at
}
