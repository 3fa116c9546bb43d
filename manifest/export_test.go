package manifest

import (
	"fmt"
	"reflect"
)

// Diff says in what two views differ, "" = in nothing that can be asked of them.
func Diff(a, b *View) string {
	for _, p := range []struct {
		what string
		a, b any
	}{
		{"branch and version", fmt.Sprint(a.Branch, a.Version, a.Stamp, a.Fragments, a.Bytes), fmt.Sprint(b.Branch, b.Version, b.Stamp, b.Fragments, b.Bytes)},
		{"object", a.Snapshot.Object().ETag, b.Snapshot.Object().ETag},
		{"tables", a.Tables, b.Tables}, {"registrations", a.Registrations, b.Registrations}, {"tombstones", a.Tombstones, b.Tombstones},
		{"heads", a.Heads, b.Heads}, {"ignored", a.Ignored, b.Ignored}, {"doubt", a.LineageDoubt, b.LineageDoubt}, {"places", a.at, b.at},
		{"problems", fmt.Sprint(a.Problems), fmt.Sprint(b.Problems)}, {"ref", a.Ref, b.Ref},
		{"versions", rowsOf(&a.Versions), rowsOf(&b.Versions)}, {"commits", commitsOf(a.Commits), commitsOf(b.Commits)},
		{"changes", fmt.Sprint(changes(a.State)), fmt.Sprint(changes(b.State))},
	} {
		if !reflect.DeepEqual(p.a, p.b) {
			return fmt.Sprintf("%s:\n%+v\n%+v", p.what, p.a, p.b)
		}
	}
	return ""
}

func rowsOf(v *Versions) (out []VersionRow) {
	for i := range v.Len() {
		out = append(out, v.At(i))
	}
	return out
}

// told is all that a list says of a commit.
type told struct {
	Commit
	actor       string
	first, into int
	at          int
}

func commitsOf(c *Commits) (out []told) {
	for i := range c.Len() {
		k := told{Commit: c.At(i), first: c.ParentRow(i, First), into: c.ParentRow(i, Merged)}
		if k.Actor != nil {
			k.actor, k.Actor = *k.Actor, nil
		}
		k.at, _ = c.Find(k.ID)
		out = append(out, k)
	}
	return out
}
