package harness

import "github.com/omnideck/omnideck/tui/paint"

// SVG draws the screen with the cells' own styles, for looking at, on a dark
// or a light background.
func (s *Term) SVG(light bool) string {
	if light {
		return s.Picture().SVG(paint.Light)
	}
	return s.Picture().SVG(paint.Dark)
}

// Picture is the screen as cells.
func (s *Term) Picture() *paint.Picture { return paint.New(s.w, s.h, s.Cell) }
