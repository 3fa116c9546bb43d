package engine

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/omnideck/omnideck/manifest"
)

// sorted is a sorted copy.
func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }

// writtenAt is the root that `__manifest` says it was written at: recorded base
// paths of a branch when there are some, else what entries recorded about their
// tables' manifests. A base path is spelled as its writer spelled it; an entry
// of an object store has no bucket. exact is false in that last case.
func writtenAt(v *manifest.View, sibling *manifest.Head) (root string, exact bool) {
	paths := v.Snapshot.Manifest().BasePaths
	if sibling != nil {
		paths = slices.Concat(paths, sibling.Snapshot.Manifest().BasePaths)
	}
	for _, b := range paths {
		p := strings.TrimRight(b.Path, "/")
		if b.Name != "" {
			p = strings.TrimSuffix(p, "/tree/"+b.Name)
		}
		if r, ok := strings.CutSuffix(p, "/"+manifest.Folder); ok {
			return r, true
		}
	}
	for _, t := range v.Tables {
		folder := treePath(t.Location, t.Owner)
		if i := strings.LastIndex(t.Meta.ManifestPath, "/"+folder+"/_versions/"); i >= 0 {
			r := t.Meta.ManifestPath[:i]
			return r, path.IsAbs(r)
		}
	}
	return "", false
}

// movedFinding says that the graph stands elsewhere than it was written, which
// this program reads through and the Rust engine does not (decisions 17).
func movedFinding(v *manifest.View, sibling *manifest.Head, url string, branchCount int) []Finding {
	if v == nil {
		return nil
	}
	root, exact := writtenAt(v, sibling)
	if root == "" || sameRoot(root, url, exact) {
		return nil
	}
	severity, more := SeverityInfo, "no branch or table of it depends on the old address"
	if branchCount > 1 {
		severity = SeverityWarn
		more = "its branches name their parents by the old address: the Rust engine would read, and clean up, there; this program reads what lies here"
	}
	shown := root
	if !exact {
		shown = fmt.Sprintf("%s (in some bucket)", root)
	}
	key := v.Snapshot.Object().Key
	evidence := []Evidence{{key, "written at " + shown}, {key, "read from " + url}}
	for _, t := range v.Tables {
		if t.Meta.ETag != nil {
			evidence = append(evidence, Evidence{t.Alias, "its recorded ETag is that of the old place: the Rust engine refuses to read its blobs here, this program reads them"})
			break
		}
	}
	return []Finding{finding(idMoved, severity, "everything that is shown: it was read from here", evidence,
		"this graph was written at %s and stands at %s now; %s", shown, url, more).next("none", "verify")}
}

// sameRoot compares a recorded root with ours. Spellings of a local path
// differ in file:// and trailing slashes; an inexact one has no bucket.
func sameRoot(recorded, url string, exact bool) bool {
	clean := func(s string) string { return strings.TrimRight(strings.TrimPrefix(s, "file://"), "/") }
	recorded, url = clean(recorded), clean(url)
	if recorded == url {
		return true
	}
	if exact {
		return false
	}
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		// A local graph that recorded a relative root: any folder of that name may be it.
		return strings.HasSuffix(url, "/"+recorded)
	}
	_, key, _ := strings.Cut(rest, "/")
	return key == recorded
}
