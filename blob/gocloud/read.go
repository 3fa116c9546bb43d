package gocloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	cloud "gocloud.dev/blob"

	"github.com/omnideck/omnideck/blob"
)

// newBody is the body of a write. Its type tells the SDKs the length and lets
// them send it again.
func newBody(data []byte) io.Reader { return bytes.NewReader(data) }

// cuts is how often an object is asked for when its bytes stop coming.
const cuts = 3

// Get reads a range of an object.
func (s *Store) Get(ctx context.Context, key string, r blob.Range) (blob.Object, error) {
	octx, o, name, err := s.begin(ctx, blob.Call{Op: blob.OpGet, Key: key, Range: r})
	if err == nil && r.Off < 0 {
		err = fmt.Errorf("%w: offset %d", blob.ErrRange, r.Off)
	}
	if err != nil {
		return blob.Object{}, s.fail(blob.OpGet, key, err)
	}
	for attempt := 1; ; attempt++ {
		obj, err := s.get(octx, o, name, r)
		if errors.Is(err, errCut) && attempt < cuts && ctx.Err() == nil {
			continue
		}
		return obj, s.fail(blob.OpGet, key, err)
	}
}

// errCut marks an answer that stopped before its end.
var errCut = errors.New("the answer was cut short")

// cutHow says in what way an answer ended before its end.
func cutHow(err error) error {
	if errors.Is(err, errStalled) {
		return errStalled
	}
	return errCut
}

func (s *Store) get(ctx context.Context, o *operation, name string, r blob.Range) (blob.Object, error) {
	length := r.Len
	if length == 0 {
		length = 1 // no store answers a request for nothing; the byte is dropped
	}
	rd, err := s.d.Bucket.NewRangeReader(ctx, name, r.Off, length, nil)
	if err != nil {
		return blob.Object{}, o.explain(ctx, err)
	}
	defer rd.Close()
	obj := blob.Object{Attrs: attrs(rd.Size(), s.d.ETag(o.header), rd.ModTime())}
	from, to, err := blob.Range{Off: r.Off, Len: length}.Slice(obj.Size)
	if err != nil {
		return blob.Object{}, err
	}
	obj.Data, err = readN(rd, to-from)
	if err != nil {
		if e := ctx.Err(); e != nil {
			return blob.Object{}, fmt.Errorf("%w: %w", e, err)
		}
		o.cut = true
		return blob.Object{}, &blob.StoreError{
			Class: blob.ErrUnavailable, Tries: o.attempt, Step: "try again", Err: fmt.Errorf("%w: %w", errCut, err),
			Message: fmt.Sprintf("%s after %d of %d bytes", cutHow(err), len(obj.Data), to-from),
		}
	}
	if r.Len == 0 {
		obj.Data = obj.Data[:0]
	}
	return obj, nil
}

// trusted is how many bytes are set aside on the word of a header alone.
const trusted = 64 << 20

// readN reads exactly n bytes, setting memory aside as they come.
func readN(r io.Reader, n int64) ([]byte, error) {
	buf := make([]byte, 0, min(n, trusted))
	for int64(len(buf)) < n {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, int(min(n-int64(len(buf)), int64(len(buf)))))
		}
		free := buf[len(buf):min(int64(cap(buf)), n)]
		k, err := io.ReadFull(r, free)
		buf = buf[:len(buf)+k]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return buf, err
		}
	}
	return buf, nil
}

// List yields entries in order. A store whose pages are not in order is read to
// the end first.
func (s *Store) List(ctx context.Context, opts blob.ListOptions) iter.Seq2[blob.Entry, error] {
	if opts.PageSize <= 0 {
		opts.PageSize = blob.DefaultPageSize
	}
	pages := func(yield func(blob.Entry, error) bool) {
		_, _, err := blob.SplitPrefix(opts.Prefix)
		if err == nil {
			err = s.literal(s.d.Prefix + opts.Prefix)
		}
		token := cloud.FirstPageToken
		var before []blob.Entry
		for err == nil && len(token) > 0 {
			var page []blob.Entry
			page, token, err = s.page(ctx, opts, token)
			if s.d.Ordered && err == nil {
				page, err = follow(before, page)
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if len(page) > 0 {
				before = page
			}
		}
		if err != nil {
			yield(blob.Entry{}, s.fail(blob.OpList, opts.Prefix, err))
		}
	}
	if s.d.Ordered {
		return pages
	}
	return sorted(pages)
}

// follow drops from a page what the page before it had already, and refuses one
// that goes back further: its entries would be lost or doubled.
func follow(before, page []blob.Entry) ([]blob.Entry, error) {
	if len(before) == 0 {
		return page, nil
	}
	last := before[len(before)-1]
	for i, e := range page {
		if compare(e, last) > 0 {
			return page[i:], nil
		}
		if _, again := slices.BinarySearchFunc(before, e, compare); !again {
			return nil, fmt.Errorf("%w: the listing is out of order, %q came after %q", blob.ErrUnavailable, place(e), place(last))
		}
	}
	return nil, nil
}

func sorted(pages iter.Seq2[blob.Entry, error]) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		var all []blob.Entry
		for e, err := range pages {
			if err != nil {
				yield(e, err)
				return
			}
			all = append(all, e)
		}
		slices.SortFunc(all, compare)
		all = slices.CompactFunc(all, func(a, b blob.Entry) bool { return compare(a, b) == 0 })
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func compare(a, b blob.Entry) int { return strings.Compare(place(a), place(b)) }

// place is where an entry stands in a listing.
func place(e blob.Entry) string {
	if e.IsPrefix {
		return e.Key + "/"
	}
	return e.Key
}

func (s *Store) page(ctx context.Context, opts blob.ListOptions, token []byte) ([]blob.Entry, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	o := &operation{call: blob.Call{Op: blob.OpList, Key: opts.Prefix}}
	ctx = context.WithValue(ctx, operationKey{}, o)
	lo := &cloud.ListOptions{Prefix: s.d.Prefix + opts.Prefix}
	if !opts.Recursive {
		lo.Delimiter = "/"
	}
	var objects []*cloud.ListObject
	var next []byte
	var err error
	for attempt := 1; ; attempt++ {
		objects, next, err = s.d.Bucket.ListPage(ctx, token, opts.PageSize, lo)
		if err == nil || !o.wasCut() || attempt == cuts || ctx.Err() != nil {
			break
		}
	}
	o.listed(len(objects))
	if err != nil {
		return nil, nil, o.explain(ctx, err)
	}
	entries := make([]blob.Entry, 0, len(objects))
	for _, obj := range objects {
		name, etag := s.d.Listed(obj)
		key, inside := strings.CutPrefix(name, s.d.Prefix)
		e := blob.Entry{Key: key, Attrs: attrs(obj.Size, etag, obj.ModTime)}
		if obj.IsDir {
			e = blob.Entry{Key: strings.TrimSuffix(key, "/"), IsPrefix: true}
		}
		if inside && blob.CheckKey(e.Key) == nil {
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, compare) // gocloud sorts by rewritten names
	return entries, next, nil
}
