package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/recovery"
	"github.com/omnideck/omnideck/recovery/aside"
	"github.com/omnideck/omnideck/txn"
	"github.com/omnideck/omnideck/txn/sidecar"
)

// PlanSetAside says what it would mean to move a record that nobody may act on
// out of the way, with a reason that is kept beside it (decisions 12). It writes
// nothing.
//
// Errors: *UsageError for another key than one in `__recovery/` or an empty
// reason, *NotFoundError, those of PlanRecovery.
func (g *Graph) PlanSetAside(ctx context.Context, key, why string) (*SetAsidePlan, error) {
	return do(ctx, g, "plan set-aside", func(ctx context.Context, o *operation) (*SetAsidePlan, error) {
		return o.planSetAside(ctx, key, why)
	})
}

func (o *operation) planSetAside(ctx context.Context, key, why string) (*SetAsidePlan, error) {
	switch {
	case !strings.HasPrefix(key, sidecar.Folder) || key == sidecar.Folder:
		return nil, &UsageError{What: fmt.Sprintf("set %q aside", key), Why: "only what lies in " + sidecar.Folder + " is set aside here"}
	case strings.TrimSpace(why) == "":
		return nil, &UsageError{What: fmt.Sprintf("set %q aside", key), Why: "no reason was given, which is kept beside it"}
	}
	if err := o.requireGraph(ctx); err != nil {
		return nil, err
	}
	p, err := recovery.Look(ctx, o.store, o.recovering(&RecoverOptions{}))
	if err != nil {
		return nil, err
	}
	out := &SetAsidePlan{Objects: []SetAsideObject{}, Reason: why, Danger: 1, Means: "no program reads it: nothing waits for it"}
	n := slices.IndexFunc(p.Items, func(i recovery.Item) bool { return i.Key == key })
	if n < 0 && !slices.Contains(p.Others, key) {
		return nil, &NotFoundError{What: "object", Name: key, Where: "in " + sidecar.Folder}
	}
	if out.planned, err = aside.Plan(ctx, o.store, []string{key}, why); err != nil {
		return nil, err
	}
	out.Objects = append(out.Objects, SetAsideObject{Key: key, Size: out.planned.Bytes})
	a, err := o.store.Head(ctx, key)
	if err != nil {
		return nil, err
	}
	o.young(out, a)
	if n >= 0 {
		o.aboutRecord(out, &p.Items[n])
	}
	return out, nil
}

// aboutRecord says what it means for a record.
func (o *operation) aboutRecord(out *SetAsidePlan, i *recovery.Item) {
	out.Danger = max(3, dangerOf(i))
	out.Means = fmt.Sprintf("nothing waits for operation %s any more, and nobody finishes it or takes it back; the record is kept, and can be put back", i.Operation)
	var ahead []string
	for _, t := range i.Tables {
		if txn.Judge(t.Published, t.Head, true) == txn.CoveredMove {
			ahead = append(ahead, onBranch(t.Alias, t.Branch))
		}
	}
	switch {
	case i.Record == nil || i.Err != nil:
		out.Means += "; which tables it had moved is not known: those with versions that are not published refuse every write from then on"
	case len(ahead) > 0:
		out.Means += "; " + strings.Join(ahead, ", ") + " keep versions that are not published and that nothing explains any more: writes to them are refused from then on"
	}
	switch {
	case i.Left > 0:
		out.Refused = fmt.Sprintf("its writer may be at work: wait %s, then ask again", max(i.Left, time.Second).Round(time.Second))
	case i.Verdict.Do != txn.Refuse:
		out.Refused = "it is known what is right about it: recover it"
	}
}

// young refuses what may just be being written.
func (o *operation) young(out *SetAsidePlan, a blob.Attrs) {
	now := o.clock()
	if rest := txn.Rest(a.ModTime, now, o.grace); rest > 0 {
		age := max(now.Sub(a.ModTime), 0) // 0: by a clock that is ahead
		out.Refused = fmt.Sprintf("it was written %s ago, and its writer may be at work: wait %s, then ask again", age.Round(time.Second), max(rest, time.Second).Round(time.Second))
	}
}

// SetAside moves what a plan of this process says, after it was looked at again:
// when it means another thing by now, nothing is moved. The receipt says how far
// it came, also with an error; the same again goes on.
//
// Errors: *ReadOnlyError, *UsageError, *SetAsideRefusedError, *NotFoundError, those
// of package aside.
func (g *Graph) SetAside(ctx context.Context, p *SetAsidePlan) (*SetAsideReceipt, error) {
	return do(ctx, g, "set-aside", func(ctx context.Context, o *operation) (*SetAsideReceipt, error) {
		switch {
		case o.door == nil:
			return nil, &ReadOnlyError{o.uri}
		case p.planned == nil:
			return nil, &UsageError{What: "set aside what a plan shows", Why: "it was not made by this process: plan it here, and look again"}
		}
		now, err := o.planSetAside(ctx, p.planned.Objects[0].Key, p.Reason)
		if err != nil {
			return nil, err
		}
		if now.Refused != "" {
			return nil, &SetAsideRefusedError{now.Objects[0].Key, now.Refused}
		}
		if now.Means != p.Means {
			return nil, &SetAsideRefusedError{now.Objects[0].Key, "it means another thing than was shown by now: " + now.Means}
		}
		defer o.warm.drop()
		done, err := aside.Move(ctx, o.door, p.planned, aside.Options{Clock: o.clock})
		if done == nil {
			return nil, err
		}
		out := &SetAsideReceipt{Folder: done.Folder, Manifest: done.Folder + "/manifest.json", Objects: []SetAsideObject{}}
		for _, obj := range done.Objects {
			out.Objects = append(out.Objects, SetAsideObject{obj.Key, obj.Size, done.Folder + "/" + obj.Key})
		}
		return out, err
	})
}

// SetAsideRefusedError: an object may not be moved out of the way. Nothing was
// changed.
type SetAsideRefusedError struct{ Key, Why string }

func (e *SetAsideRefusedError) Error() string {
	return fmt.Sprintf("setting %s aside: %s; nothing was changed", e.Key, e.Why)
}

// Is: nothing can be written like this.
func (e *SetAsideRefusedError) Is(target error) bool { return target == txn.ErrCaller }
