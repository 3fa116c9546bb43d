package txn

import "golang.org/x/sync/errgroup"

// sideBySide is how many tables are asked, staged, committed or made at once.
const sideBySide = 16

// Beside does f of 0 … n-1 side by side, sixteen at once, and gives the first
// error in their order after all have ended: then nothing of them is on its way
// to the store any more, and which error it is does not depend on chance.
func Beside(n int, f func(i int) error) error {
	errs := make([]error, n)
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for i := range n {
		g.Go(func() error { errs[i] = f(i); return nil })
	}
	_ = g.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
