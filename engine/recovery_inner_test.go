package engine

import (
	"strings"
	"testing"

	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// What is to be typed next names the graph, the record and the table as a shell
// reads them.
func TestNextStepCanBeTyped(t *testing.T) {
	i := &recovery.Item{Branch: "review", Tables: []recovery.Table{{Alias: "node:Port", Published: 4, Head: 4}, {Alias: "node:Vessel", Published: 3, Head: 6}}}
	i.Verdict.Do, i.Verdict.Reason = txn.Refuse, txn.Buried
	k := meant{key: "__recovery/A.json", record: &sidecar.Record{}}
	for _, want := range []string{
		"`omnideck versions '/data/a harbor' node:Vessel --branch review`",
		"`omnideck recover '/data/a harbor' --set-aside __recovery/A.json --why TEXT`",
	} {
		if got := k.nextStep(i, "/data/a harbor"); !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// A dataset that was never made is not said to be removed.
func TestWillOfADatasetThatWasNeverMade(t *testing.T) {
	x := recovery.Table{Alias: "node:Berth", Planned: 1}
	x.Verdict.Do = txn.DropDataset
	if got := willTable(&x); got != "remove what it wrote for the dataset node:Berth, which was never made" {
		t.Error(got)
	}
	x.Head = 1
	if got := willTable(&x); got != "remove the dataset node:Berth that it made" {
		t.Error(got)
	}
}
