package cost

import "github.com/omnideck/omnideck/blob"

// Reading is the member "rpc" of every verb's JSON: what the operation asked of
// the store, as a proxy in front of it would count.
type Reading struct {
	Requests     int64            `json:"requests"`
	Hops         int              `json:"hops"`
	BytesRead    int64            `json:"bytes_read"`
	BytesWritten int64            `json:"bytes_written"`
	Ops          Ops              `json:"ops"`
	Classes      map[string]int64 `json:"classes"` // "<class> <op>"
	Retries      int64            `json:"retries"`
}

// Ops are requests by operation.
type Ops struct {
	Get    int64 `json:"get"`
	Head   int64 `json:"head"`
	List   int64 `json:"list"`
	Put    int64 `json:"put"`
	Delete int64 `json:"delete"`
	Copy   int64 `json:"copy"`
}

// RPC reads a meter.
func RPC(m *blob.Meter) Reading { return ReadingOf(m.Totals()) }

// ReadingOf puts totals into the form of the JSON.
func ReadingOf(t blob.Totals) Reading {
	r := Reading{
		Requests: t.Requests, Hops: t.Hops, BytesRead: t.BytesRead, BytesWritten: t.BytesWritten, Retries: t.Retries,
		Ops: Ops{
			Get: t.Ops[blob.OpGet], Head: t.Ops[blob.OpHead], List: t.Ops[blob.OpList],
			Put: t.Ops[blob.OpPut], Delete: t.Ops[blob.OpDelete], Copy: t.Ops[blob.OpCopy],
		},
		Classes: map[string]int64{},
	}
	for c, n := range t.Classes {
		r.Classes[c.Class+" "+string(c.Op)] = n
	}
	return r
}
