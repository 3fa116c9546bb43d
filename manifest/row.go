package manifest

// Text is a nullable string.
type Text struct {
	V   string
	Set bool
}

// Number is a nullable u64.
type Number struct {
	V   uint64
	Set bool
}

// The kinds of rows (object_type). Rows of other kinds are ignored.
const (
	KindTable     = "table"
	KindVersion   = "table_version"
	KindTombstone = "table_tombstone"
	KindCommit    = "graph_commit"
	KindHead      = "graph_head"
)

// Row is one decoded row of `__manifest`.
type Row struct {
	ObjectID    string
	Kind        string // object_type
	Location    Text
	Metadata    Text
	Alias       string // table_key
	Table       Number // stable_table_id
	Incarnation Number // table_incarnation_id
	Version     Number // table_version
	Branch      Text   // table_branch
	Rows        Number // row_count

	Fragment uint64 // where the row lies
	Offset   uint32 // physical row in the fragment
	Created  uint64 // manifest version that first wrote it; 0 = not known
	Updated  uint64 // manifest version that last wrote it; 0 = not known
	Deleted  bool   // gone at this version; kept because it tells what was published before
}

// ref says which row it is.
func (r *Row) ref() RowRef { return RowRef{r.ObjectID, r.Kind, r.Fragment, r.Offset} }

// spot says where the row lies.
func (r *Row) spot() spot { return spot{r.Fragment, r.Updated, r.Offset} }

// newer orders rows of one object id: which of two was written later.
func (r *Row) newer(than *Row) bool { return r.spot().compare(than.spot()) > 0 }

// identity returns the identity that the columns name; ok is false when one is
// missing or zero.
func (r *Row) identity() (id Identity, ok bool) {
	id = Identity{r.Table.V, r.Incarnation.V}
	return id, r.Table.Set && r.Incarnation.Set && id.Table != 0 && id.Incarnation != 0
}

// canonicalID is the object id that the columns of a table kind spell.
func (r *Row) canonicalID(id Identity) string {
	return string(r.appendID(make([]byte, 0, 80), id))
}

func (r *Row) appendID(b []byte, id Identity) []byte {
	b = append(append(b, r.Kind...), ':')
	b = appendID2(b, id)
	if r.Kind == KindTable {
		return b
	}
	return appendPadded(append(b, ':'), r.Version.V, 10, 20)
}

func appendID2(b []byte, id Identity) []byte {
	b = appendPadded(b, id.Table, 16, 16)
	return appendPadded(append(b, ':'), id.Incarnation, 16, 16)
}

// appendPadded writes n in a base with leading zeros up to width.
func appendPadded(b []byte, n, base uint64, width int) []byte {
	const digits = "0123456789abcdef"
	var buf [20]byte
	i := len(buf)
	for ; n > 0 || len(buf)-i < width; n /= base {
		i--
		buf[i] = digits[n%base]
	}
	return append(b, buf[i:]...)
}

// parsedID is what an object id alone says; kind is "" when it is of no known
// form.
type parsedID struct {
	kind    string
	id      Identity
	version uint64
}

// parseObjectID reads the object id of a row whose columns cannot be trusted.
func parseObjectID(s string) (p parsedID) {
	for _, kind := range []string{KindTable, KindVersion, KindTombstone} {
		if len(s) > len(kind) && s[:len(kind)] == kind && s[len(kind)] == ':' {
			return parseTableID(kind, s[len(kind)+1:])
		}
	}
	switch {
	case len(s) > len(headPrefix) && s[:len(headPrefix)] == headPrefix:
		p.kind = KindHead
	case isULID(s):
		p.kind = KindCommit
	}
	return p
}

const headPrefix = KindHead + ":"

func parseTableID(kind, rest string) (p parsedID) {
	width := 33
	if kind != KindTable {
		width += 21
	}
	if len(rest) != width || rest[16] != ':' || width > 33 && rest[33] != ':' {
		return p
	}
	table, ok1 := parsePadded(rest[:16], 16)
	incarnation, ok2 := parsePadded(rest[17:33], 16)
	p.id = Identity{table, incarnation}
	ok3 := true
	if width > 33 {
		p.version, ok3 = parsePadded(rest[34:], 10)
	}
	if ok1 && ok2 && ok3 {
		p.kind = kind
	}
	return p
}

// parsePadded reads digits of a base, refusing what does not fit 64 bits.
func parsePadded(s string, base uint64) (n uint64, ok bool) {
	for i := range len(s) {
		d := uint64(s[i])
		switch {
		case d >= '0' && d <= '9':
			d -= '0'
		case base == 16 && d >= 'a' && d <= 'f':
			d -= 'a' - 10
		default:
			return 0, false
		}
		if n > (1<<64-1-d)/base {
			return 0, false
		}
		n = n*base + d
	}
	return n, true
}

// isULID reports whether s is a ULID in canonical spelling.
func isULID(s string) bool {
	_, ok := parseULID(s)
	return ok
}
