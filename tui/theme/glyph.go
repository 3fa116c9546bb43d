package theme

// Glyphs are the marks that the screens draw. Each is one cell wide but Null, and of a
// block that common fonts have; none is from a private-use area.
type Glyphs struct {
	Pointer   string // the selected row
	OK        string
	Bad       string
	Warn      string
	Info      string
	More      string // text was cut
	Null      string // may be a word
	Dot       string // separates facts
	Arrow     string
	Back      string // an arrow the other way
	Commit    string
	Merge     string
	System    string // a commit by a reserved actor
	Folded    string // rows or lanes that are not drawn
	V, H      string
	TL, TR    string
	BL, BR    string
	TeeR      string // ├
	TeeL      string // ┤
	TeeUp     string // ┴
	TeeDown   string // ┬
	Cross     string
	Eighths   [8]string // 1/8 … 8/8 of a cell, from the left
	EighthsUp [8]string // 1/8 … 8/8 of a cell, from below
	Break     string    // a line break in a text that is being edited
	Broken    string    // a cluster whose width terminals disagree on, or a control character
}

var unicodeGlyphs = Glyphs{
	Pointer: "▸", OK: "✓", Bad: "✗", Warn: "!", Info: "·", More: "…", Null: "∅", Dot: "·", Arrow: "→", Back: "←",
	Commit: "●", Merge: "◎", System: "○", Folded: "┄",
	V: "│", H: "─", TL: "╭", TR: "╮", BL: "╰", BR: "╯", TeeR: "├", TeeL: "┤", TeeUp: "┴", TeeDown: "┬", Cross: "┼",
	Eighths:   [8]string{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
	EighthsUp: [8]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	Break:     "↵",
	Broken:    "\ufffd",
}

var asciiGlyphs = Glyphs{
	Pointer: ">", OK: "+", Bad: "x", Warn: "!", Info: ".", More: "~", Null: "NULL", Dot: "-", Arrow: ">", Back: "<",
	Commit: "*", Merge: "M", System: "o", Folded: ":",
	V: "|", H: "-", TL: ".", TR: ".", BL: "`", BR: "'", TeeR: "+", TeeL: "+", TeeUp: "+", TeeDown: "+", Cross: "+",
	Eighths:   [8]string{" ", " ", " ", " ", "#", "#", "#", "#"},
	EighthsUp: [8]string{"_", "_", ".", ".", "-", "=", "#", "#"},
	Break:     "^",
	Broken:    "?",
}

// All lists every glyph of the set, for the test that nothing else is drawn.
func (g Glyphs) All() []string {
	all := []string{
		g.Pointer, g.OK, g.Bad, g.Warn, g.Info, g.More, g.Null, g.Dot, g.Arrow, g.Back, g.Commit, g.Merge, g.System, g.Folded,
		g.V, g.H, g.TL, g.TR, g.BL, g.BR, g.TeeR, g.TeeL, g.TeeUp, g.TeeDown, g.Cross, g.Break, g.Broken,
	}
	all = append(all, g.Eighths[:]...)
	return append(all, g.EighthsUp[:]...)
}
