package recovery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/internal/stuck"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// The same states unpacked elsewhere: their records name the old address. They
// are shown as moved, left without a confirmation, and with it end like those that
// stayed (decisions 41); what branches have from the old address is read here
// (decisions 17).
func TestStuckStatesElsewhere(t *testing.T) {
	for _, op := range stuck.Ops {
		t.Run(op, func(t *testing.T) {
			t.Parallel()
			for _, s := range stuck.Spread(t, 4, stuck.States(t, op)) {
				if len(s.Pending) == 0 {
					continue
				}
				store := s.Store(t, "mem://elsewhere/copy")
				p := stuckLook(t, store, recovery.Options{})
				place := sidecar.Moved
				if len(s.Record(t).Pins) == 0 {
					place = sidecar.Here // it names no path
				}
				stuckShown(t, s, p, place)
				rep, err := recovery.Execute(context.Background(), store, p, recovery.Options{Now: true})
				if err != nil || len(rep.Settled) != 1 {
					t.Fatalf("%s: %+v, %v", s, rep, err)
				}
				if e := (*recovery.MovedError)(nil); !errors.As(rep.Settled[0].Err, &e) || e.Root != stuck.Root {
					t.Errorf("%s: nobody confirmed that the graph was moved, and: %+v", s, rep.Settled[0])
				}
				if d := stuck.Differ(s.Files, stuck.Objects(t, store)); d != "" {
					t.Errorf("%s: nobody confirmed that the graph was moved, and %s", s, d)
				}
				stuckRecover(t, s.String(), store, recovery.Options{Moved: true})
				s.Recovered(t, store)
				stuckIdle(t, s.String(), store, recovery.Options{Moved: true})
				if s.K%2 == 0 {
					stuckGoOn(t, s.String(), store, s.Locked())
				}
			}
		})
	}
}

// A record of another graph is left whatever is confirmed: one whose tables this
// graph has not, and one whose tables lie below two roots.
func TestStuckRecordsOfAnotherGraph(t *testing.T) {
	for what, edit := range map[string]func(key string, data []byte) []byte{
		"identities of another graph": func(_ string, data []byte) []byte {
			data = bytes.ReplaceAll(data, []byte("-000000000000002"), []byte("-00000000000000f"))
			for n := 0x28; n < 0x30; n++ {
				data = bytes.ReplaceAll(data, fmt.Appendf(nil, `"table_incarnation_id": %d`, n), fmt.Appendf(nil, `"table_incarnation_id": %d`, n-0x20+0xf0))
			}
			return data
		},
		"two roots": func(_ string, data []byte) []byte {
			return bytes.Replace(data, []byte(stuck.Root+"/"), []byte("s3://lab/other/"), 1)
		},
	} {
		for _, s := range []*stuck.State{stuck.One(t, "load-merge", 8), stuck.One(t, "load-merge", 12), stuck.One(t, "optimize", 90)} {
			files := maps.Clone(s.Files)
			for _, k := range s.Pending {
				if files[k] = edit(k, files[k]); bytes.Equal(files[k], s.Files[k]) {
					t.Fatalf("%s, %s: nothing was edited", s, what)
				}
			}
			for _, root := range []string{stuck.Root, "mem://elsewhere/copy"} {
				store := stuck.StoreOf(t, root, files)
				o := recovery.Options{Now: true, Moved: true}
				p := stuckLook(t, store, o)
				if i := p.Items[0]; i.Place != sidecar.Foreign || i.Err != nil || i.Verdict.Do != txn.Refuse || i.Verdict.Text == "" {
					t.Errorf("%s, %s at %s: shown is %+v", s, what, root, i)
				}
				rep, err := recovery.Execute(context.Background(), store, p, o)
				if err != nil || len(rep.Settled) != 1 {
					t.Fatalf("%s, %s: %+v, %v", s, what, rep, err)
				}
				if e := (*recovery.RefusedError)(nil); !errors.As(rep.Settled[0].Err, &e) || !strings.Contains(e.Error(), s.Pending[0]) {
					t.Errorf("%s, %s: settled as %+v", s, what, rep.Settled[0])
				}
				if d := stuck.Differ(files, stuck.Objects(t, store)); d != "" {
					t.Errorf("%s, %s: refused, and %s", s, what, d)
				}
			}
		}
	}
}
