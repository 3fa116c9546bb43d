package manifest

import (
	"cmp"
	"slices"
	"strings"
)

// Compare orders commits by the head key: manifest version, then time, then
// id. The greatest of a branch is its lineage maximum.
func (c Commit) Compare(o Commit) int {
	return cmp.Or(cmp.Compare(c.ManifestVersion, o.ManifestVersion), cmp.Compare(c.CreatedAt, o.CreatedAt), strings.Compare(c.ID, o.ID))
}

// Table finds a live table by alias.
func (s *State) Table(alias string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(s.Tables, alias, func(e Entry, alias string) int { return strings.Compare(e.Alias, alias) })
	if !ok {
		return Entry{}, false
	}
	return s.Tables[i], true
}

// ByIdentity finds a live table by identity.
func (s *State) ByIdentity(id Identity) (Entry, bool) {
	i := slices.IndexFunc(s.Tables, func(e Entry) bool { return e.Identity == id })
	if i < 0 {
		return Entry{}, false
	}
	return s.Tables[i], true
}

// Commit finds a commit by id.
func (s *State) Commit(id string) (Commit, bool) {
	i, ok := s.Commits.Find(id)
	if !ok {
		return Commit{}, false
	}
	return s.Commits.At(i), true
}

// Head is the effective head of a branch ("" or main = main): its own
// graph_head row when present (own), else the lineage maximum. "" when there
// is no commit at all.
func (s *State) Head(branch string) (id string, own bool) {
	if branch == "" {
		branch = Main
	}
	if id, own = s.Heads[branch]; own {
		return id, true
	}
	if s.Commits.Len() > 0 {
		return s.Commits.ID(0), false
	}
	return "", false
}
