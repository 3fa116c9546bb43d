package txn

// The guards that a test may turn off, to show that one of its like notices.
const (
	ViewGuard = viewGuard
	GateGuard = gateGuard
	CASGuard  = casGuard
)

// Without turns a guard off.
func (o *Options) Without(g guard) { o.without |= g }
