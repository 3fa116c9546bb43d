package tui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/omnideck/omnideck/engine"
	"github.com/omnideck/omnideck/internal/pace"
	"github.com/omnideck/omnideck/tui/runner"
	"github.com/omnideck/omnideck/tui/screen"
	"github.com/omnideck/omnideck/tui/workspace/fake"
	"github.com/omnideck/omnideck/txn"
)

// planFor is a plan for the sample graph.
func planFor(class string, tables ...engine.WrittenTable) *engine.WritePlan {
	return &engine.WritePlan{
		ID: "3f9c21aa", Verb: "mutate", Query: "rename", Branch: "main", PinnedHead: fake.Harbor().Log[0].ID, Class: class, Nodes: 1,
		Tables: tables, RequestsEstimate: 45, Reversible: "by loading back what it replaces and removes (1)",
	}
}

var (
	inserts = engine.WrittenTable{Table: "node:Port", From: 42, Inserted: 2, Rows: 48212, Why: "rows that statements insert"}
	updates = engine.WrittenTable{Table: "node:Port", From: 42, Updated: 1, Rows: 48210, Why: "rows that statements update"}
	deletes = engine.WrittenTable{Table: "edge:CallsAt", From: 89, Deleted: 14, Rows: 911990, Why: "edges that go with their nodes", Text: "dst IN ('port-00001')"}
)

// scripted is the sample graph on this machine, with a script of writes.
func scripted(plans ...*engine.WritePlan) *fake.Workspace {
	ws := fake.Harbor()
	ws.IsRemote, ws.InfoAnswer.PendingRecovery = false, nil
	step := func(s engine.WriteStep, table string) engine.WriteEvent {
		return engine.WriteEvent{Step: s, Attempt: 1, Table: table}
	}
	ws.Writing = fake.Writing{
		Plans: plans, Pause: 100 * time.Millisecond, Durable: 3,
		Events: []engine.WriteEvent{
			step(engine.StepCaptured, ""), step(engine.StepPrepared, ""), step(engine.StepChecked, ""), step(engine.StepArmed, ""),
			step(engine.StepEffect, "node:Port"), step(engine.StepConfirmed, ""), step(engine.StepPublished, ""), step(engine.StepRetired, ""),
		},
		Receipts: []*engine.Receipt{{
			Branch: "main", Nodes: 1, Commit: &engine.Commit{ID: "01KD8W3Q4Y8ZT5V6M2B0000077"}, Attempts: 1,
			Tables: []engine.WrittenTable{{Table: "node:Port", From: 42, To: 43, Updated: 1, Rows: 48210}},
		}},
		Split: &engine.ChunkPlan{Branch: "main", Mode: engine.LoadMerge, Chunks: 12, Lines: 90_000, Nodes: 60_000, Edges: 30_000},
	}
	return ws
}

const renames = `query rename($code: String, $name: String) {
  update Port set { name: $name } where code = $code
}`

// asked opens the runner on a mutation that a screen made, at its review.
func (b *bench) asked() *bench {
	b.send(struct{}{}) // the clock
	b.later(b.effect(screen.Effect{Write: &screen.Write{Title: "rename Port port-00001", Mutate: &engine.MutateOptions{
		Source: renames, Params: []byte(`{"code": "port-00001", "name": "Hamburg"}`),
	}}}))
	b.drain()
	return b
}

// typed opens the draft of a mutate with a text in it.
func (b *bench) typedQuery(text string) *bench {
	b.keys("W")
	b.send(tea.PasteMsg{Content: text})
	return b
}

// confirms waits until the review takes keys, and does what it asks for.
func (b *bench) confirms() *bench {
	b.clock = b.clock.Add(time.Second)
	switch k := b.writer.Hints(&b.env)[0].Key; k {
	case "tab":
		b.keys("tab", "enter")
	default:
		b.keys(k)
	}
	return b
}

// halfway shows a run as it stands after so many of its events.
func (b *bench) halfway(events ...engine.WriteEvent) *bench {
	b.clock = b.clock.Add(time.Second)
	b.writer.Start(&b.env)
	for _, v := range events {
		b.writer.Progress().Event(v)
	}
	b.clock = b.clock.Add(1300 * time.Millisecond)
	b.send(struct{}{})
	return b
}

// mergeIn opens the review of a load in chunks.
func (b *bench) mergeIn() *bench {
	b.keys("L")
	b.send(tea.PasteMsg{Content: "calls.jsonl"})
	b.keys("enter", "m", "enter", "space", "ctrl+r")
	return b
}

var errRecovery = &txn.RecoveryRequiredError{OperationID: "01KD8W3Q4Y8ZT5V6M2B0000AB", Reason: "its effects are done and could not be published"}

// writeSteps are the steps of a write, and how each is reached.
var writeSteps = []reached{
	{"draft-mutate", func(t *testing.T, o Options, w, h int) *bench {
		return settled(t, scripted(), o, w, h).typedQuery(renames + "\nquery drop() {\n  delete Port where code = \"x\"\n}")
	}},
	{"draft-empty", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(), o, w, h)
		b.keys("W")
		return b
	}},
	{"draft-fault", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(), o, w, h).typedQuery("query q() {\n  update Port sat { name: \"x\" }\n}")
		b.keys("ctrl+r")
		return b
	}},
	{"draft-params", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(), o, w, h).typedQuery(renames)
		b.keys("tab")
		b.send(tea.PasteMsg{Content: "{\"code\": \"port-00001\",\n \"name\": }"})
		b.keys("ctrl+r")
		return b
	}},
	{"template", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(), o, w, h)
		b.keys("W", "ctrl+t")
		return b
	}},
	{"draft-load", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(), o, w, h)
		b.keys("L")
		b.send(tea.PasteMsg{Content: "~/exports/港/calls.jsonl"})
		b.keys("tab", "right", "tab", "space")
		return b
	}},
	{"planning", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(), o, w, h).typedQuery(renames)
		b.send(press("ctrl+r"))
		b.clock = b.clock.Add(1300 * time.Millisecond)
		b.send(struct{}{})
		return b
	}},
	{"review-adds", func(t *testing.T, o Options, w, h int) *bench {
		return settled(t, scripted(planFor("additive", inserts)), o, w, h).asked()
	}},
	{"review-changes", func(t *testing.T, o Options, w, h int) *bench {
		return settled(t, scripted(planFor("strict", updates, deletes)), o, w, h).asked()
	}},
	{"review-remote", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted(planFor("strict", updates))
		ws.IsRemote = true
		b := settled(t, ws, o, w, h)
		b.env.Locked = false
		return b.asked()
	}},
	{"review-overwrites", func(t *testing.T, o Options, w, h int) *bench {
		all := engine.WrittenTable{Table: "node:Port", From: 42, Inserted: 10, Deleted: 48210, Rows: 10, Why: "overwrite: the lines take the place of every row"}
		b := settled(t, scripted(planFor("strict", all)), o, w, h)
		b.keys("L")
		b.send(tea.PasteMsg{Content: "ports.jsonl"})
		b.keys("enter", "o", "ctrl+r")
		b.clock = b.clock.Add(time.Second)
		b.keys("4", "8", "2", "enter")
		return b
	}},
	{"review-nothing", func(t *testing.T, o Options, w, h int) *bench {
		return settled(t, scripted(planFor("nothing")), o, w, h).asked()
	}},
	{"review-moved", func(t *testing.T, o Options, w, h int) *bench {
		more := updates
		more.Updated = 3
		after := planFor("strict", more, deletes)
		after.ID, after.PinnedHead = "77ab00c1", "01KD8W3Q4Y8ZT5V6M2B0000099"
		ws := scripted(planFor("strict", updates), after)
		ws.Writing.Errs = []error{&engine.PlanMovedError{Plan: "3f9c21aa", Branch: "main", Why: "3 rows changed"}, nil}
		return settled(t, ws, o, w, h).asked().confirms()
	}},
	{"review-chunks", func(t *testing.T, o Options, w, h int) *bench {
		return settled(t, scripted(), o, w, h).mergeIn()
	}},
	{"running", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted(planFor("strict", updates, deletes))
		return settled(t, ws, o, w, h).asked().halfway(ws.Writing.Events[:5]...)
	}},
	{"running-early", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted(planFor("strict", updates))
		again := engine.WriteEvent{Step: engine.StepAgain, Attempt: 1, Err: errors.New("node:Port is published at version 43, this plan expected 42")}
		return settled(t, ws, o, w, h).asked().halfway(ws.Writing.Events[0], again, engine.WriteEvent{Step: engine.StepWaiting, Attempt: 2, Operation: "01KD8W3Q4Y8ZT5V6M2B0000AB"})
	}},
	{"running-chunks", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(), o, w, h).mergeIn().halfway()
		b.writer.Progress().Chunk(engine.ChunkProgress{Chunk: 4, Of: 12, Entities: 8192, Done: 32_768, Total: 90_000})
		b.writer.Progress().Event(engine.WriteEvent{Step: engine.StepPrepared, Attempt: 1})
		return b
	}},
	{"hidden", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted(planFor("strict", updates, deletes))
		b := settled(t, ws, o, w, h).asked().halfway(ws.Writing.Events[:2]...)
		b.keys("esc")
		b.clock = b.clock.Add(time.Minute)
		b.send(noteMsg{})
		return b
	}},
	{"receipt", func(t *testing.T, o Options, w, h int) *bench {
		return settled(t, scripted(planFor("strict", updates)), o, w, h).asked().confirms()
	}},
	{"receipt-in-operations", func(t *testing.T, o Options, w, h int) *bench {
		b := settled(t, scripted(planFor("strict", updates)), o, w, h).asked().confirms()
		b.keys("0", "j")
		return b
	}},
	{"receipt-nothing", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted(planFor("additive", inserts))
		ws.Writing.Receipts = []*engine.Receipt{{Branch: "main"}}
		return settled(t, ws, o, w, h).asked().confirms()
	}},
	{"receipt-chunks", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted()
		ws.Writing.Chunks = []engine.ChunkProgress{{Chunk: 1, Of: 2, Done: 45_000, Total: 90_000}, {Chunk: 2, Of: 2, Done: 90_000, Total: 90_000}}
		return settled(t, ws, o, w, h).mergeIn().confirms()
	}},
	{"refused", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted()
		ws.Set("PlanMutate", fake.Step{Err: errors.New("query 'rename': a value of code is longer than 8 192 bytes; nothing was written"), Get: 9, Hops: 4})
		return settled(t, ws, o, w, h).asked()
	}},
	{"stuck", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted(planFor("strict", updates))
		ws.Writing.Errs = []error{errRecovery}
		return settled(t, ws, o, w, h).asked().confirms()
	}},
	{"partly", func(t *testing.T, o Options, w, h int) *bench {
		ws := scripted()
		ws.Writing.Chunks = []engine.ChunkProgress{{Chunk: 1, Of: 12}, {Chunk: 2, Of: 12}}
		ws.Set("LoadChunks", fake.Step{Err: errors.New("@range violation on Port.depth_m: value 900 > max 200; nothing was written")})
		return settled(t, ws, o, w, h).mergeIn().confirms()
	}},
}

// TestWriteViews draws every step of a write.
func TestWriteViews(t *testing.T) { drawEach(t, pace.Every(t, 5, writeSteps)) }

// TestWriteSizesAndGlyphs: every step is whole at every size, and draws nothing
// but ASCII and glyphs of the theme around what was typed.
func TestWriteSizesAndGlyphs(t *testing.T) { drawWhole(t, writeSteps, "港") }

// A key that comes early, a key of moving, and the key that opens a write confirm
// nothing.
func TestWhatConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, class := range []string{"additive", "strict"} {
			table := updates
			if class == "additive" {
				table = inserts
			}
			ws := scripted(planFor(class, table))
			b := settled(t, ws, Options{URI: ws.Address, Screen: "tables"}, 80, 24).asked()
			letter := b.writer.Hints(&b.env)[0].Key
			b.keys(letter, "tab", "enter", letter) // within the first moments
			b.clock = b.clock.Add(screen.Moment + time.Millisecond)
			if step := b.writer.Step(); step != runner.Review {
				t.Fatalf("%s: an early key leads to step %d", class, step)
			}
			for _, k := range everyKey() {
				if k == letter || k == "tab" || k == "esc" || b.writer == nil {
					continue
				}
				b.keys(k)
				if b.writer == nil { // it left
					b.asked()
					b.clock = b.clock.Add(time.Second)
				}
			}
			if n, _ := ws.Written(); n != 0 {
				t.Errorf("%s: %d writes", class, n)
			}
			b.stop()
		}
	})
}

// The plan that was shown is the one that is run, on the branch that was shown.
func TestThePlanThatWasShownIsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := scripted(planFor("strict", updates))
		actor := "ana"
		b := settled(t, ws, Options{URI: ws.Address, Screen: "tables", Actor: &actor}, 80, 24)
		var told *engine.Receipt
		b.later(b.effect(screen.Effect{Write: &screen.Write{Title: "x", Mutate: &engine.MutateOptions{Source: renames}, Done: func(_ *screen.Env, r *engine.Receipt) screen.Effect {
			told = r
			return screen.Effect{Push: screen.NewCommits()}
		}}}))
		b.drain()
		asked := ws.Asked("Snapshot")
		b.confirms()
		n, o := ws.Written()
		if n != 1 || o.Plan != ws.Writing.Plans[0] || o.Branch != "" || o.Actor == nil || *o.Actor != "ana" {
			t.Errorf("%d writes, with %+v", n, o)
		}
		if told == nil || told.Commit == nil || b.top().screen.Name() != "commits" {
			t.Errorf("who asked for the write was told %+v, and %s is shown", told, b.top().screen.Name())
		}
		if b.writer.Step() != runner.Written {
			t.Errorf("the step is %d", b.writer.Step())
		}
		b.keys("enter")
		if b.writer != nil || len(b.overlays) != 0 {
			t.Error("the receipt does not close")
		}
		b.keys("4")
		if ws.Asked("Snapshot") == asked {
			t.Error("the tables were not read again after the write")
		}
		b.stop()
	})
}

// What is typed is kept when one leaves, and forgotten when it was done.
func TestDraftsOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := scripted(planFor("strict", updates))
		b := settled(t, ws, Options{URI: ws.Address, Screen: "tables"}, 80, 24).typedQuery(renames)
		b.keys("esc")
		if b.writer != nil || b.drafts["mutate query"] != renames {
			t.Fatalf("kept is %q", b.drafts["mutate query"])
		}
		long := "query q() {\n  update Port set { name: \"s3://ana:pw@h/x?a=1\" } where code = \"https://é\" // " + strings.Repeat("x", 9000) + "\n}"
		b.keepDraft("mutate query", long)
		var kept keptState
		if err := json.Unmarshal(b.state(), &kept); err != nil || kept.Drafts["mutate query"] != strings.Replace(long, "ana:pw@", "", 1) {
			t.Errorf("%v, written is %.200q", err, kept.Drafts["mutate query"])
		}
		b.keepDraft("mutate query", renames)
		b.keys("W", "ctrl+r")
		b.confirms()
		if b.writer.Step() != runner.Written || b.drafts["mutate query"] != "" {
			t.Errorf("step %d, kept is %q", b.writer.Step(), b.drafts["mutate query"])
		}
		b.stop()
	})
}

// A write can be given up before it is durable, and not after.
func TestInterruptingAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, late := range []bool{false, true} {
			ws := scripted(planFor("strict", updates))
			l := start(t, Options{URI: ws.Address, Open: opens(ws), Screen: "tables"}, 80, 24)
			l.Wait(time.Second)
			l.Key("W")
			l.Send(tea.PasteMsg{Content: renames})
			l.Key("ctrl+r")
			l.Wait(time.Second)
			l.Key(l.m.writer.Hints(&l.m.env)[0].Key)
			if late {
				l.Wait(350 * time.Millisecond)
			}
			l.Key("ctrl+c")
			l.Wait(2 * time.Second)
			if late {
				l.has(t, "commit 01KD8W3Q4Y8ZT5V6M2B0000077")
			} else {
				l.has(t, "cancelled: nothing was written")
			}
			l.close(t)
		}
	})
}

// While a graph is locked, or a moment that is past is shown, no write begins.
func TestLockedGraphsAreNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := scripted(planFor("strict", updates))
		ws.IsRemote = true
		b := settled(t, ws, Options{URI: ws.Address, Screen: "commits"}, 120, 40)
		for _, k := range []string{"W", "L"} {
			b.keys(k)
			if b.writer != nil || !strings.Contains(b.note, "read-only until it is unlocked; U unlocks it") {
				t.Errorf("%s: %q", k, b.note)
			}
		}
		b.asked()
		if b.writer != nil || !strings.Contains(b.note, "rename Port port-00001: read-only") {
			t.Errorf("a write of a screen: %q", b.note)
		}
		if _, err := ws.Mutate(t.Context(), engine.MutateOptions{}); err == nil {
			t.Error("the workspace itself is not locked")
		}
		b.keys("U")
		b.clock = b.clock.Add(time.Second)
		b.send(tea.PasteMsg{Content: "harbor.omni"})
		b.keys("enter")
		if _, err := ws.Mutate(t.Context(), engine.MutateOptions{}); err != nil {
			t.Errorf("unlocked: %v", err)
		}
		b.keys("j", "t", "W")
		if b.writer != nil || !strings.Contains(b.note, "a moment that is past is shown; t comes back to now") {
			t.Errorf("travelling: %q", b.note)
		}
		b.keys("t", "W")
		if b.writer == nil {
			t.Errorf("unlocked and at now W does nothing: %q", b.note)
		}
		b.stop()
	})
}
