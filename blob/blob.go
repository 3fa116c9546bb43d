// Package blob is the contract between the engine and whatever keeps its
// objects: a local folder, a bucket, or memory.
//
// A Store is one flat key space below one root. Keys are relative to that
// root, use '/' as separator, never begin or end with one and are taken
// literally (a '%' in a key is a '%' in the object's name). Objects are
// immutable by convention of the formats above; the contract itself offers
// exactly one conditional operation, PutIfAbsent, because that is the only
// one that every supported store has and the only one that the formats need.
//
// Every call that reaches the store is counted by the Meters carried in the
// call's context (see WithMeter), below every cache and every retry: what the
// meter says must equal what a proxy in front of the store sees.
//
// Drivers: localfs (file://), memstore (mem://), gocloud (s3, gs, azblob).
// Decorators: Limit (requests in flight), ReadOnly, fault (injection), cache
// (immutable objects, see GetImmutable). opener turns an address into a Store;
// blobtest is the suite that all of them pass.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"time"
)

// Attrs describe one object as the store reports it.
type Attrs struct {
	Size    int64     // bytes
	ETag    string    // as the store gives it, S3 quotes included; never empty for an existing object
	ModTime time.Time // zero when the store did not say
}

// Object is the answer to a Get: the bytes of the range asked for, and the
// attributes of the whole object that they came from.
type Object struct {
	Data []byte
	Attrs
}

// Range selects bytes of an object: Len bytes from Off. Len < 0 means to the
// end. A range that begins inside the object and reaches past its end is cut
// at the end; one that begins at or past the end is an error wrapping
// ErrRange.
type Range struct{ Off, Len int64 }

// All is the range of a whole object: it is fetched without a range request.
var All = Range{0, -1}

// Entry is one line of a listing: an object, or, with a delimiter, a folder.
type Entry struct {
	Key      string // relative to the store's root; of a folder without trailing '/'
	IsPrefix bool   // a folder (common prefix); Attrs are then zero
	Attrs
}

// ListOptions say what to list and in what portions.
type ListOptions struct {
	Prefix    string // keys beginning with this text (not necessarily a folder)
	Recursive bool   // false: stop at the next '/' after Prefix and yield folders
	PageSize  int    // keys per request; 0 = DefaultPageSize. Some stores fail on large pages
}

// DefaultPageSize is the number of keys asked for in one LIST request when
// the caller does not say. It is deliberately small: there are stores that
// time out on pages of a thousand keys.
const DefaultPageSize = 100

// Store is a key space. Implementations are safe for concurrent use.
//
// Errors wrap *OpError and one of the sentinels below, to be asked for with
// errors.Is and errors.As, never by text. A call whose context ends returns
// an error wrapping ctx.Err(); for writes that also wraps ErrAmbiguous unless
// the driver knows that nothing was sent.
type Store interface {
	// Get reads a range of an object. The returned slice is owned by the caller.
	Get(ctx context.Context, key string, r Range) (Object, error)
	// Head returns the attributes of an object, or ErrNotExist.
	Head(ctx context.Context, key string) (Attrs, error)
	// Put writes an object, replacing any other of that key. Readers see the old
	// or the new object, never a part. It is durable when Put returns.
	Put(ctx context.Context, key string, data []byte) (Attrs, error)
	// PutIfAbsent writes an object unless the key exists. It ends in success,
	// ErrExists (some object is there; possibly ours, if an earlier answer was
	// lost: read it back) or ErrAmbiguous (unknown whether it was written: read
	// it back). Of any number of racing callers, in any number of processes,
	// at most one succeeds.
	PutIfAbsent(ctx context.Context, key string, data []byte) (Attrs, error)
	// List yields entries in ascending byte order of their keys, a folder being
	// placed as if its key ended in '/'. One page is one request. A folder
	// without objects is not listed; a missing folder is an empty listing. After
	// an error the sequence ends. The caller may stop early; no further page is
	// then requested.
	List(ctx context.Context, opts ListOptions) iter.Seq2[Entry, error]
	// Delete removes an object. A key that does not exist is success.
	Delete(ctx context.Context, key string) error
	// Properties are facts about the store.
	Properties() Properties
	// Close releases connections. The Store must not be used afterwards.
	Close() error
}

// Properties are facts about a store that callers may rely on or show.
type Properties struct {
	// URL is the root in canonical spelling, without trailing slash: an absolute
	// path for local folders, scheme://bucket/prefix otherwise.
	URL string
	// Scheme is file, mem, s3, gs or azblob.
	Scheme string
	// Ordered: the first LIST page holds the smallest keys, so that the newest
	// Lance manifest is the first key of its folder. All our stores are, but for
	// S3 directory buckets, whose listings are read whole and sorted.
	Ordered bool
	// Remote: reached over a network; opened read-only by the front ends.
	Remote bool
	// ConditionalPut: PutIfAbsent was proven on this kind of store. Without it a
	// store is opened read-only.
	ConditionalPut bool
	// Facts are shown by `omnideck info`: endpoint, region, profile, path style,
	// where the credentials came from. Never a secret.
	Facts []Fact
}

// Fact is one line of `omnideck info` about the store.
type Fact struct{ Name, Value string }

// Sentinels of the contract.
var (
	// ErrNotExist: no object of that key. It is io/fs.ErrNotExist.
	ErrNotExist = fs.ErrNotExist
	// ErrExists: PutIfAbsent found the key taken.
	ErrExists = fs.ErrExist
	// ErrAmbiguous: a write whose outcome is unknown. Settle it by reading back.
	ErrAmbiguous = errors.New("outcome unknown")
	// ErrRange: the range begins at or after the object's end.
	ErrRange = errors.New("range not satisfiable")
	// ErrPermission: the store refused for lack of rights or credentials.
	ErrPermission = fs.ErrPermission
	// ErrUnavailable: the store could not be reached or asked us to come back.
	ErrUnavailable = errors.New("store unavailable")
	// ErrReadOnly: a write to a store that was opened for looking.
	ErrReadOnly = errors.New("store opened read-only")
)

// OpError says which operation failed on which object of which store.
type OpError struct {
	Op  Op
	Key string // key, or prefix of a listing
	URL string // root of the store
	Err error
}

func (e *OpError) Error() string {
	return fmt.Sprintf("%s %s/%s: %v", e.Op, e.URL, e.Key, e.Err)
}

func (e *OpError) Unwrap() error { return e.Err }

// Names reports that the text of an error says which object it is about, one
// whose address ends in this key: it need not be said again.
func Names(err error, key string) bool {
	var e *OpError
	return errors.As(err, &e) && strings.HasSuffix(e.URL+"/"+e.Key, "/"+key)
}
