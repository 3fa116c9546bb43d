package commit

import (
	"cmp"
	"slices"

	tablepb "github.com/omnideck/omnideck/lance/pb/table"
	"github.com/omnideck/omnideck/lance/rowid"
)

// stretch is rows with consecutive ids from..to (to excluded) at position at of
// a fragment. Work on rows goes by stretches: a few bytes may claim any number
// of rows.
type stretch struct {
	from, to uint64
	frag     int // number of the new fragment
	at       uint64
}

func byID(x, y stretch) int { return cmp.Compare(x.from, y.from) }

// origin is a part of a stretch, and where the versions of its rows stand.
type origin struct {
	stretch
	made *rowid.Versions // nil: not recorded
	pos  uint64          // of the first row there
}

// unknownCreated is the version of rows whose fragment does not say.
const unknownCreated = 1

// addTo appends the versions in which the rows were made.
func (o origin) addTo(v *rowid.VersionsBuilder) {
	n := o.to - o.from
	if o.made != nil && o.pos < o.made.Len() {
		known := min(n, o.made.Len()-o.pos)
		v.Versions(o.made, o.pos, o.pos+known)
		n -= known
	}
	v.Add(n, unknownCreated)
}

// origins looks moved rows up in the fragments that they were deleted from, in
// the order of the fragments' ids: the first that has an id tells. The answer
// is in the order of the new fragments' rows.
func (b *builder) origins(moved []stretch, touched []*tablepb.DataFragment) ([]origin, error) {
	slices.SortFunc(moved, byID)
	for i := 1; i < len(moved); i++ {
		if moved[i].from < moved[i-1].to {
			return nil, b.invalid("new fragments bring row id %d twice", moved[i].from)
		}
	}
	var found []origin
	touched = slices.SortedFunc(slices.Values(touched), func(x, y *tablepb.DataFragment) int { return cmp.Compare(x.GetId(), y.GetId()) })
	for _, f := range touched {
		if len(moved) == 0 {
			break
		}
		here, err := stretches(f)
		if err != nil {
			return nil, err
		}
		var made *rowid.Versions
		if f.GetExternalCreatedAtVersions() == nil {
			if made, err = rowid.DecodeVersions(f.GetInlineCreatedAtVersions()); err != nil {
				return nil, err
			}
		}
		moved, found = split(moved, here, made, found)
	}
	if len(moved) > 0 {
		return nil, b.invalid("row id %d of a new fragment belongs to no row that was deleted: fresh rows bring no ids", moved[0].from)
	}
	slices.SortFunc(found, func(x, y origin) int { return cmp.Or(cmp.Compare(x.frag, y.frag), cmp.Compare(x.at, y.at)) })
	return found, nil
}

// stretches are those of a fragment, by id.
func stretches(f *tablepb.DataFragment) ([]stretch, error) {
	seq, err := rowIDs(f)
	if err != nil {
		return nil, err
	}
	var out []stretch
	at := uint64(0)
	for from, to := range seq.Runs() {
		out = append(out, stretch{from: from, to: to, at: at})
		at += to - from
	}
	slices.SortFunc(out, byID)
	return out, nil
}

// split parts moved into what a fragment has, which joins found, and the rest.
// Both lists ascend by id.
func split(moved, here []stretch, made *rowid.Versions, found []origin) ([]stretch, []origin) {
	var rest []stretch
	j := 0
	for _, m := range moved {
		for j < len(here) && here[j].to <= m.from {
			j++
		}
		at := m.from
		for k := j; k < len(here) && here[k].from < m.to; k++ {
			lo, hi := max(at, here[k].from), min(m.to, here[k].to)
			if lo >= hi {
				continue
			}
			if lo > at {
				rest = append(rest, m.part(at, lo))
			}
			found = append(found, origin{m.part(lo, hi), made, here[k].at + lo - here[k].from})
			at = hi
		}
		if at < m.to {
			rest = append(rest, m.part(at, m.to))
		}
	}
	return rest, found
}

// part is the rows with the ids from..to.
func (s stretch) part(from, to uint64) stretch {
	return stretch{from, to, s.frag, s.at + from - s.from}
}
