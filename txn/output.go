package txn

import (
	"fmt"
	"strings"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
)

// place is where a key lies as records and the Rust engine spell it.
func place(store blob.Store, key string) string {
	return strings.TrimRight(store.Properties().URL, "/") + "/" + key
}

// recordedPath is the place of a key as rows of `__manifest` spell it: behind the
// bucket on object stores, the whole path on local disks.
func recordedPath(store blob.Store, key string) string {
	uri := place(store, key)
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		if _, in, ok := strings.Cut(rest, "/"); ok {
			return in
		}
	}
	return uri
}

// outputOf is what a publish says of a version of a table.
func outputOf(store blob.Store, alias string, snap *lance.Snapshot) (Output, error) {
	rows, known := snap.CountRows()
	if !known {
		return Output{}, fmt.Errorf("version %d of %s does not say how many rows it has", snap.Version(), alias)
	}
	obj := snap.Object()
	size, scheme := uint64(obj.Size), "V2"
	out := Output{Version: snap.Version(), Branch: snap.Branch(), Rows: rows, ManifestPath: recordedPath(store, obj.Key), ManifestSize: &size, NamingScheme: &scheme}
	if obj.ETag != "" {
		out.ETag = &obj.ETag
	}
	return out, nil
}
