package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestTwoProgramsKeepOneState: what another program wrote since is kept, what
// both changed is ours, and what the other took away stays away.
func TestTwoProgramsKeepOneState(t *testing.T) {
	for _, tt := range []struct{ name, base, theirs, ours, want string }{
		{"alone", `{"place":"tables"}`, `{"place":"tables"}`, `{"place":"commits"}`, `{"place":"commits"}`},
		{"first", ``, ``, `{"place":"commits"}`, `{"place":"commits"}`},
		{"their draft", ``, `{"place":"tables","drafts":{"command":"b"}}`, `{"place":"commits","drafts":{"find":"a"}}`,
			`{"place":"commits","drafts":{"command":"b","find":"a"}}`},
		{"both drafts", `{"drafts":{"find":"0"}}`, `{"drafts":{"find":"b"}}`, `{"drafts":{"find":"a"}}`, `{"drafts":{"find":"a"}}`},
		{"only theirs changed", `{"drafts":{"find":"0"}}`, `{"drafts":{"find":"b"}}`, `{"place":"commits","drafts":{"find":"0"}}`, `{"place":"commits","drafts":{"find":"b"}}`},
		{"they sent it off", `{"drafts":{"find":"0"}}`, `{}`, `{"place":"commits","drafts":{"find":"0"}}`, `{"place":"commits"}`},
		{"we sent it off", `{"drafts":{"find":"0"}}`, `{"drafts":{"find":"0","command":"b"}}`, `{"place":"x"}`, `{"place":"x","drafts":{"command":"b"}}`},
		{"screens", `{}`, `{"screens":{"tables":{"filter":"P"}}}`, `{"screens":{"commits":{"filter":"c"}}}`, `{"screens":{"commits":{"filter":"c"},"tables":{"filter":"P"}}}`},
		{"commands", `{"commands":["x"]}`, `{"commands":["x","b"]}`, `{"commands":["x","a"]}`, `{"commands":["b","x","a"]}`},
		{"broken", `{}`, `not a state`, `{"place":"x"}`, `{"place":"x"}`},
	} {
		got := merged([]byte(tt.base), []byte(tt.theirs), []byte(tt.ours))
		if string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	many := keptState{}
	for i := range 2 * keptCommands {
		many.Commands = append(many.Commands, fmt.Sprint(i))
	}
	text, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	drafts := func() string { // of too many, those that are kept are always the same
		more := keptState{Drafts: map[string]string{}}
		for i := range 2 * keptCommands {
			more.Drafts[fmt.Sprintf("draft %03d", i)] = "x"
		}
		theirs, err := json.Marshal(more)
		if err != nil {
			t.Fatal(err)
		}
		m := &model{drafts: map[string]string{}, shifts: map[string]int{}}
		m.adopt(more)
		kept := fmt.Sprint(m.drafts)
		return kept + string(merged(nil, theirs, []byte(`{}`)))
	}
	if first := drafts(); !strings.Contains(first, "draft 199") || strings.Contains(first, "draft 200") {
		t.Errorf("kept are %s", first)
	}
	var got keptState
	if err := json.Unmarshal(merged(nil, text, []byte(`{"commands":["ours"]}`)), &got); err != nil || len(got.Commands) != keptCommands || got.Commands[keptCommands-1] != "ours" {
		t.Errorf("%d commands, %v", len(got.Commands), err)
	}
}
