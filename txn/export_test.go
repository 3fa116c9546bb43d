package txn

import "github.com/omnideck/omnideck/lance"

// The guards that a test may turn off, to show that one of its like notices.
const (
	ViewGuard  = viewGuard
	GateGuard  = gateGuard
	CASGuard   = casGuard
	RivalGuard = rivalGuard
)

// Without turns a guard off.
func (o *Options) Without(g guard) { o.without |= g }

// By is a reader that looks rows up in a given way, whatever that costs.
func (r Reader) By(how lance.LookUpMode) Reader {
	r.how = how
	return r
}
