package part

import (
	"github.com/charmbracelet/x/ansi"
)

// Place is where a box stands over a body.
type Place uint8

// The places.
const (
	Centre Place = iota
	Bottom
	Upper // a tenth of the body above it, where there is room: it grows downwards
)

// Over draws a box over the lines of a body, which are w cells wide. What the
// box leaves free keeps its look; a wide character that the edge of the box
// halves becomes a space. A box that is too wide is cut; one that is too high
// loses the lines above its last one.
func Over(body, box []string, w int, at Place) []string {
	out := append([]string(nil), body...)
	if len(box) == 0 || len(body) == 0 {
		return out
	}
	if len(box) > len(body) {
		box = append(append([]string(nil), box[:len(body)-1]...), box[len(box)-1])
	}
	bw := 0
	for _, l := range box {
		bw = max(bw, ansi.StringWidth(l))
	}
	bw = min(bw, w)
	x, y := (w-bw)/2, len(body)-len(box)
	switch at {
	case Centre:
		y /= 2
	case Upper:
		y = min(y, len(body)/10)
	}
	for i, l := range box {
		out[y+i] = between(out[y+i], 0, x) + between(l, 0, bw) + between(out[y+i], x+bw, w)
	}
	return out
}

// between is the piece of a painted line from one column up to another, exactly
// as wide; what it cuts through becomes spaces.
func between(line string, from, to int) string {
	s := ansi.Truncate(line, to, "")
	tail := spaces(to - max(from, ansi.StringWidth(s)))
	if from > 0 {
		n := ansi.StringWidth(s)
		s = ansi.TruncateLeft(s, from, "")
		if cut := ansi.StringWidth(s); cut > max(0, n-from) { // it kept both halves
			s = ansi.TruncateLeft(line, from+1, "")
			s = " " + ansi.Truncate(s, to-from-1, "")
			tail = spaces(to - from - ansi.StringWidth(s))
		} else if n > from && cut < n-from { // it dropped both
			s = spaces(n-from-cut) + s
		}
	}
	return s + tail
}
