package refs

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/omnideck/omnideck/lance/format"
)

// Step is one fork in a branch's lineage.
type Step struct {
	Version uint64 // of the parent, at which it was forked
	ID      string // 32 hex digits
}

// Branch is the content of a branch's ref.
type Branch struct {
	Ref
	Parent        string // "" = main
	ParentVersion uint64 // version at which it was forked
	Identifier    []Step // lineage; nil when the ref has none
	CreatedAt     time.Time
	ManifestSize  uint64 // bytes of the parent's manifest
	Metadata      map[string]json.RawMessage
}

// Tag is the content of a tag.
type Tag struct {
	Ref
	Branch       string // "" = main
	Version      uint64
	CreatedAt    time.Time // zero when not recorded
	UpdatedAt    time.Time // zero when not recorded
	ManifestSize uint64    // bytes of the version's manifest
	Metadata     map[string]json.RawMessage
}

// ParseBranch reads the content of a ref. Its errors wrap format.ErrCorrupt.
func ParseBranch(data []byte) (*Branch, error) {
	var p struct {
		ParentBranch  *string                    `json:"parentBranch"`
		Identifier    *identifier                `json:"identifier"`
		ParentVersion *uint64                    `json:"parentVersion"`
		CreateAt      *int64                     `json:"createAt"`
		ManifestSize  *uint64                    `json:"manifestSize"`
		Metadata      map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, format.Corruptf("%d bytes that are no branch ref: %w", len(data), err)
	}
	if p.ParentVersion == nil || p.CreateAt == nil || p.ManifestSize == nil {
		return nil, format.Corruptf("a branch ref without parentVersion, createAt or manifestSize")
	}
	b := &Branch{ParentVersion: *p.ParentVersion, CreatedAt: time.Unix(*p.CreateAt, 0).UTC(), ManifestSize: *p.ManifestSize, Metadata: p.Metadata}
	if p.ParentBranch != nil && *p.ParentBranch != "main" {
		b.Parent = *p.ParentBranch
	}
	if p.Identifier != nil {
		b.Identifier = p.Identifier.VersionMapping
	}
	return b, nil
}

type identifier struct {
	VersionMapping []Step `json:"version_mapping"`
}

// UnmarshalJSON reads a pair [version, id].
func (s *Step) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a step of %d parts, expected version and id", len(pair))
	}
	if err := json.Unmarshal(pair[0], &s.Version); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &s.ID)
}

// ParseTag reads the content of a tag. Its errors wrap format.ErrCorrupt.
func ParseTag(data []byte) (*Tag, error) {
	var p struct {
		Branch       *string                    `json:"branch"`
		Version      *uint64                    `json:"version"`
		CreatedAt    *time.Time                 `json:"createdAt"`
		UpdatedAt    *time.Time                 `json:"updatedAt"`
		ManifestSize *uint64                    `json:"manifestSize"`
		Metadata     map[string]json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, format.Corruptf("%d bytes that are no tag: %w", len(data), err)
	}
	if p.Version == nil || p.ManifestSize == nil {
		return nil, format.Corruptf("a tag without version or manifestSize")
	}
	t := &Tag{Version: *p.Version, ManifestSize: *p.ManifestSize, Metadata: p.Metadata}
	if p.Branch != nil && *p.Branch != "main" {
		t.Branch = *p.Branch
	}
	if p.CreatedAt != nil {
		t.CreatedAt = p.CreatedAt.UTC()
	}
	if p.UpdatedAt != nil {
		t.UpdatedAt = p.UpdatedAt.UTC()
	}
	return t, nil
}

// ForkedFrom reports whether the branch of identifier child descends from that
// of identifier parent (main's is empty), and at which version of the parent.
func ForkedFrom(child, parent []Step) (version uint64, ok bool) {
	if len(child) <= len(parent) {
		return 0, false
	}
	for i := range parent {
		if child[i] != parent[i] {
			return 0, false
		}
	}
	v := child[len(parent)].Version
	return v, v > 0
}
