package commit

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/omnideck/omnideck/lance/format"
	filepb "github.com/omnideck/omnideck/lance/pb/file"
	tablepb "github.com/omnideck/omnideck/lance/pb/table"
)

// merge replaces the list of fragments by one with other columns.
func (b *builder) merge(o *tablepb.Merge) error {
	old := map[uint64]*tablepb.DataFragment{}
	for _, f := range b.frags {
		old[f.GetId()] = f
	}
	if len(o.GetFragments()) < len(b.frags) {
		return b.invalid("it lists %d fragments, the table has %d: columns are merged into all of them", len(o.GetFragments()), len(b.frags))
	}
	if err := b.checkNewFields(o.GetSchema()); err != nil {
		return err
	}
	b.m.Fields = o.GetSchema()
	next := make([]*tablepb.DataFragment, 0, len(o.GetFragments()))
	for _, f := range o.GetFragments() {
		f = proto.CloneOf(f)
		prev := old[f.GetId()]
		delete(old, f.GetId())
		switch {
		case prev == nil:
			if b.stable {
				if _, err := b.assignRows(f); err != nil {
					return err
				}
				b.setVersions(f)
			}
		case f.GetPhysicalRows() != prev.GetPhysicalRows():
			return b.invalid("fragment %d has %d rows and would have %d", f.GetId(), prev.GetPhysicalRows(), f.GetPhysicalRows())
		case otherFiles(prev, f):
			if b.stable {
				setUpdated(f, uniform(f.GetPhysicalRows(), b.m.GetVersion()))
			}
			if err := b.prune([]uint64{f.GetId()}, movedFields(prev, f)); err != nil {
				return err
			}
		}
		b.fresh[f.GetId()] = true
		next = append(next, f)
	}
	if len(old) > 0 {
		return b.invalid("it leaves out fragment %d", slices.Min(slices.Collect(maps.Keys(old))))
	}
	b.frags = next
	return b.retainRelevant()
}

// checkNewFields refuses a new field under the id of one that was dropped: its
// old values still lie in the files, and would come back.
func (b *builder) checkNewFields(fields []*filepb.Field) error {
	known, fresh := fieldIDs(b.parent.Proto.GetFields()), fieldIDs(fields)
	for _, f := range b.frags {
		for _, d := range f.GetFiles() {
			for _, id := range d.GetFields() {
				if fresh[id] && !known[id] {
					return b.invalid("its new field %d has the id of a dropped one, whose values are still in fragment %d", id, f.GetId())
				}
			}
		}
	}
	return nil
}

// otherFiles says whether the data files differ in more than their size.
func otherFiles(a, b *tablepb.DataFragment) bool {
	return !slices.EqualFunc(a.GetFiles(), b.GetFiles(), func(x, y *tablepb.DataFile) bool {
		return x.GetPath() == y.GetPath() && slices.Equal(x.GetFields(), y.GetFields()) && slices.Equal(x.GetColumnIndices(), y.GetColumnIndices()) &&
			x.GetFileMajorVersion() == y.GetFileMajorVersion() && x.GetFileMinorVersion() == y.GetFileMinorVersion() && sameBase(x.BaseId, y.BaseId)
	})
}

func sameBase(a, b *uint32) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return *a == *b
}

// movedFields are the fields of a fragment that another file holds now.
func movedFields(old, next *tablepb.DataFragment) []uint32 {
	before, after := paths(old), paths(next)
	var out []uint32
	for id, path := range before {
		if p, ok := after[id]; ok && p != path {
			out = append(out, uint32(id))
		}
	}
	slices.Sort(out)
	return out
}

// paths names the file of every field.
func paths(f *tablepb.DataFragment) map[int32]string {
	out := map[int32]string{}
	for _, d := range f.GetFiles() {
		for _, id := range d.GetFields() {
			if id >= 0 {
				out[id] = d.GetPath()
			}
		}
	}
	return out
}

// project keeps some columns; files without any are dropped.
func (b *builder) project(o *tablepb.Project) error {
	b.m.Fields = o.GetSchema()
	left := fieldIDs(o.GetSchema())
	for i, f := range b.frags {
		has := func(d *tablepb.DataFile) bool {
			return slices.ContainsFunc(d.GetFields(), func(id int32) bool { return left[id] })
		}
		if slices.ContainsFunc(f.GetFiles(), func(d *tablepb.DataFile) bool { return !has(d) }) {
			f = proto.CloneOf(f)
			f.Files = slices.DeleteFunc(f.Files, func(d *tablepb.DataFile) bool { return !has(d) })
			b.frags[i] = f
		}
	}
	return b.retainRelevant()
}

func fieldIDs(fields []*filepb.Field) map[int32]bool {
	out := make(map[int32]bool, len(fields))
	for _, f := range fields {
		out[f.GetId()] = true
	}
	return out
}

// replaceData puts files with the same columns in the place of others.
func (b *builder) replaceData(o *tablepb.DataReplacement) error {
	var fields []int32
	for i, r := range o.GetReplacements() {
		d := r.GetNewFile()
		if i > 0 && !slices.Equal(fields, d.GetFields()) {
			return b.invalid("its files hold different columns: %v and %v", fields, d.GetFields())
		}
		fields = d.GetFields()
		at := slices.IndexFunc(b.frags, func(f *tablepb.DataFragment) bool { return f.GetId() == r.GetFragmentId() })
		if at < 0 {
			return b.invalid("it replaces a file of fragment %d, which is not there", r.GetFragmentId())
		}
		f, err := b.replaceFile(b.frags[at], d)
		if err != nil {
			return err
		}
		b.frags[at] = f
		b.fresh[f.GetId()] = true
	}
	var changed []uint32
	for _, id := range fields {
		if id >= 0 {
			changed = append(changed, uint32(id))
		}
	}
	var touched []uint64
	for _, r := range o.GetReplacements() {
		touched = append(touched, r.GetFragmentId())
	}
	return b.prune(touched, changed)
}

func (b *builder) replaceFile(f *tablepb.DataFragment, d *tablepb.DataFile) (*tablepb.DataFragment, error) {
	f = proto.CloneOf(f)
	replaced, covered := false, false
	for _, old := range f.Files {
		if slices.Equal(old.GetFields(), d.GetFields()) && fileVersion(old) == fileVersion(d) {
			old.Path, old.FileSizeBytes, old.BaseId = d.Path, d.FileSizeBytes, d.BaseId
			replaced = true
		}
		covered = covered || slices.ContainsFunc(old.GetFields(), func(id int32) bool { return slices.Contains(d.GetFields(), id) })
	}
	switch {
	case replaced:
	case covered:
		return nil, b.invalid("the new file of fragment %d holds some columns %v of files that hold others too", f.GetId(), d.GetFields())
	default:
		f.Files = append(f.Files, proto.CloneOf(d))
	}
	return f, nil
}

// rewrite puts compacted fragments in the place of others.
func (b *builder) rewrite(o *tablepb.Rewrite) error {
	if slices.ContainsFunc(b.indexes, func(x *tablepb.IndexMetadata) bool { return x.GetName() == fragReuseIndex }) {
		return format.Unsupportedf("the table defers index remapping (%s): compact it with the program that began that", fragReuseIndex)
	}
	groups := o.GetGroups()
	if len(groups) == 0 && len(o.GetOldFragments()) > 0 {
		groups = []*tablepb.RewriteGroup{{OldFragments: o.GetOldFragments(), NewFragments: o.GetNewFragments()}}
	}
	if b.stable && len(o.GetRewrittenIndices()) > 0 {
		return b.invalid("it rewrites indexes, which stable row ids make needless")
	}
	moves := make([]move, 0, len(groups))
	for _, g := range groups {
		m, err := b.rewriteGroup(g)
		if err != nil {
			return err
		}
		moves = append(moves, m)
	}
	return b.remap(moves, o.GetRewrittenIndices())
}

// move is fragments that became others.
type move struct{ from, to []uint64 }

func (b *builder) rewriteGroup(g *tablepb.RewriteGroup) (move, error) {
	rows := uint64(0)
	from := ids(g.GetOldFragments())
	for _, id := range from {
		at := slices.IndexFunc(b.frags, func(f *tablepb.DataFragment) bool { return f.GetId() == id })
		if at < 0 {
			return move{}, b.invalid("it rewrites fragment %d, which is not there", id)
		}
		rows += live(b.frags[at])
		b.frags = slices.Delete(b.frags, at, at+1)
	}
	added, err := b.take(g.GetNewFragments())
	if err != nil {
		return move{}, err
	}
	for _, f := range added {
		rows -= min(rows, live(f))
		if b.stable && (f.GetRowIdSequence() == nil || f.GetLastUpdatedAtVersionSequence() == nil || f.GetCreatedAtVersionSequence() == nil) {
			return move{}, b.invalid("the rewritten fragment %d does not bring its row ids and versions", f.GetId())
		}
	}
	if rows != 0 {
		return move{}, b.invalid("fragments %v have %d live rows more than those that replace them: rows were lost, or deleted meanwhile", from, rows)
	}
	b.frags = append(b.frags, added...)
	return move{from, ids(added)}, nil
}
