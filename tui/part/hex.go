package part

import (
	"strings"

	"github.com/omnideck/omnideck/tui/theme"
)

const hexDigits = "0123456789abcdef"

// HexDump draws bytes that stand at an offset of something longer, 16 or 8 a
// line as there is room: offset, bytes in groups of four, and those that are
// printable ASCII as text, the others as the theme's dot. It draws them all: the
// caller gives no more than somebody may scroll through.
func HexDump(t *theme.Theme, data []byte, offset int64, w int) []string {
	digits := 8
	for digits < 16 && (offset+int64(len(data)))>>(4*digits) > 0 {
		digits++
	}
	each := 16
	if hexWidth(digits, each) > w {
		each = 8
	}
	out := make([]string, 0, (len(data)+each-1)/each)
	for i := 0; i < len(data); i += each {
		out = append(out, hexLine(t, data[i:min(len(data), i+each)], offset+int64(i), digits, each, w))
	}
	return out
}

// hexWidth is what a line takes: a space, the offset, the bytes with a space
// before each and another before each group, two spaces, the text.
func hexWidth(digits, each int) int { return 1 + digits + 3*each + each/4 + 2 + each }

func hexLine(t *theme.Theme, data []byte, offset int64, digits, each, w int) string {
	head := make([]byte, digits)
	for i := range head {
		head[i] = hexDigits[offset>>(4*(digits-1-i))&0xf]
	}
	var hex strings.Builder
	spans := []Span{S(" "), R(theme.Muted, string(head))}
	for i := range each {
		if i%4 == 0 {
			hex.WriteByte(' ')
		}
		if i >= len(data) {
			hex.WriteString("   ")
			continue
		}
		hex.WriteByte(' ')
		hex.WriteByte(hexDigits[data[i]>>4])
		hex.WriteByte(hexDigits[data[i]&0xf])
	}
	spans = append(spans, S(hex.String()), S("  "))
	for i := 0; i < len(data); {
		n := i
		shown := data[i] >= 0x20 && data[i] < 0x7f
		for n < len(data) && (data[n] >= 0x20 && data[n] < 0x7f) == shown {
			n++
		}
		if shown {
			spans = append(spans, S(string(data[i:n])))
		} else {
			spans = append(spans, R(theme.Muted, strings.Repeat(t.Glyph.Info, n-i)))
		}
		i = n
	}
	return Line(t, w, spans...)
}
