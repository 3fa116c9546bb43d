package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/manifest"
)

// BlobStat describes the blob of one entity: kind is node or edge. The bytes
// are not read.
func (g *Graph) BlobStat(ctx context.Context, kind, typ, id, prop string, at At) (*BlobStat, error) {
	return do(ctx, g, "blob stat", func(ctx context.Context, o *operation) (*BlobStat, error) {
		_, stat, err := o.findBlob(ctx, kind, typ, id, prop, at)
		return stat, err
	})
}

// blobPart is the number of bytes of a blob that are held while it is copied.
const blobPart = 8 << 20

// BlobGet writes the bytes of a blob to w, in parts. A null blob is a
// *NotFoundError. An external blob is read only with Options.OpenExternal.
func (g *Graph) BlobGet(ctx context.Context, w io.Writer, kind, typ, id, prop string, at At) (*BlobStat, error) {
	return do(ctx, g, "blob get", func(ctx context.Context, o *operation) (*BlobStat, error) {
		b, stat, err := o.findBlob(ctx, kind, typ, id, prop, at)
		switch {
		case err != nil:
			return nil, err
		case b.Null:
			return stat, &NotFoundError{What: "blob", Name: prop, Where: fmt.Sprintf("of %s %q: the value is null", typ, id)}
		case b.Kind == lance.BlobExternal && !o.opts.OpenExternal:
			return stat, fmt.Errorf("the blob %s of %s %q lies outside the graph, at %s: %w", prop, typ, id, b.URI, lance.ErrExternal)
		}
		for off := int64(0); ; off += blobPart {
			part, err := b.Read(ctx, off, blobPart)
			if errors.Is(err, blob.ErrRange) && off > 0 {
				return stat, nil // the end of an object whose size was not recorded
			}
			if err != nil {
				return stat, err
			}
			if _, err := w.Write(part); err != nil {
				return stat, err
			}
			if len(part) < blobPart || stat.Size > 0 && uint64(off)+blobPart >= stat.Size {
				return stat, nil
			}
		}
	})
}

// findBlob finds the row of an entity by its id.
func (o *operation) findBlob(ctx context.Context, kind, typ, id, prop string, at At) (*lance.Blob, *BlobStat, error) {
	if kind != "node" && kind != "edge" {
		return nil, nil, &UsageError{What: kind, Why: "an entity is a node or an edge"}
	}
	view, err := o.at(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	e, err := entryOf(view, kind+":"+typ)
	if err != nil {
		return nil, nil, err
	}
	r, err := o.readerOf(ctx, e, RowsOptions{Columns: []string{prop}})
	if err != nil {
		return nil, nil, err
	}
	if len(r.cols.blobNames(r.props)) == 0 {
		return nil, nil, &UsageError{What: prop, Why: fmt.Sprintf("is no blob of %s; its blobs are %v", e.Alias, r.cols.blobNames(r.cols.properties()))}
	}
	var addr, rowID uint64
	found, err := o.readRow(ctx, r.snap, id, func(at uint64) (right bool, err error) {
		addr = at
		rowID, right, err = rowOf(ctx, r.snap, at, id)
		return right, err
	})
	switch {
	case err != nil:
		return nil, nil, o.rowsError(ctx, err, e)
	case !found:
		return nil, nil, &NotFoundError{What: "entity", Name: id, Where: "in " + e.Alias}
	}
	list, err := r.snap.Blobs(ctx, prop, []uint64{addr})
	if err != nil {
		return nil, nil, o.rowsError(ctx, err, e)
	}
	stat := o.blobStat(r.snap, e, prop, rowID, list[0])
	stat.Resolved = o.resolved(view, at)
	return list[0], stat, nil
}

// resolved names the view that was read. The Rust engine names the head of main
// and any version without a commit by its manifest, everything else by commit.
func (o *operation) resolved(v *manifest.View, at At) string {
	if at.Commit != "" || at.Version == 0 && v.Branch != "" && o.commit != "" {
		return o.commit
	}
	return fmt.Sprintf("manifest:%s:v%d:etag:%s", nameOf(v.Branch), v.Version, v.Snapshot.Object().ETag)
}

// blobStat tells what a descriptor says.
func (o *operation) blobStat(s *lance.Snapshot, e manifest.Entry, prop string, rowID uint64, b *lance.Blob) *BlobStat {
	out := &BlobStat{Kind: blobKind(b), Size: b.Size, URI: b.URI, Key: b.Object()}
	if b.Null || b.Kind == lance.BlobExternal {
		return out
	}
	f := s.Schema().Lookup(prop)
	property, err := strconv.ParseUint(f.Metadata[stableProperty], 10, 64)
	if err != nil {
		out.Note = "the Rust engine refuses this blob unless the entry is the current one: its column has no " + stableProperty
		return out
	}
	out.ETag = blobETag(e.Table, e.Incarnation, property, e.Version, rowID, s.Manifest().TransactionFile)
	if m := e.Meta.ETag; m != nil && *m != s.Object().ETag {
		out.Note = fmt.Sprintf("the Rust engine refuses this blob here: the graph records the ETag %s of the table's manifest, the object has %s, as after a copy; this program reads it", *m, s.Object().ETag)
	}
	return out
}

// stableProperty is the metadata key of a property's column.
const stableProperty = "omnigraph.stable_property_id"

func blobKind(b *lance.Blob) string {
	switch {
	case b.Null:
		return "null"
	case b.Kind == lance.BlobExternal:
		return "external"
	case b.Size == 0:
		return "empty"
	}
	kinds := []string{"inline", "packed", "dedicated"}
	if int(b.Kind) < len(kinds) {
		return kinds[b.Kind]
	}
	return fmt.Sprintf("kind %d", b.Kind)
}

// blobETag is the ETag of a managed blob: the quoted hex of the first half of a
// SHA-256 over a domain, five big-endian numbers, and the name of the
// transaction behind its length.
func blobETag(table, incarnation, property, version, rowID uint64, transaction string) string {
	h := sha256.New()
	io.WriteString(h, "omnigraph/blob-etag/v1\x00")
	for _, n := range []uint64{table, incarnation, property, version, rowID, uint64(len(transaction))} {
		h.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	io.WriteString(h, transaction)
	return `"` + hex.EncodeToString(h.Sum(nil)[:16]) + `"`
}
