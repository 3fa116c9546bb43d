package screen

import (
	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/tui/part"
)

// Write is a change of the graph that is to be planned, reviewed, confirmed and
// run. It is for the branch that is shown.
type Write struct {
	Title string // in a few words: "edit Port NLRTM"
	// Mutate or Load is what is to be done. Branch, plan and events are set by
	// who runs it.
	Mutate *engine.MutateOptions
	Load   *LoadDraft
	CLI    string // the line that does the same in a shell; "" = made of the above
	// Shows writes what is changed into the review; may be nil.
	Shows func(*Env, *part.Doc)
	// Expect says why a plan is not what was meant; may be nil.
	Expect func(*engine.WritePlan) error
	// Done is told the receipt as soon as the write is visible; may be nil. The
	// receipt stays on the screen above what Done's Effect shows.
	Done func(*Env, *engine.Receipt) Effect
}

// LoadDraft is what is to be loaded.
type LoadDraft struct {
	File  string
	Mode  engine.LoadMode
	Chunk bool // split it into as many commits as it takes
}
