package lance_test

import (
	"context"
	"testing"

	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

// TestWalkOnS3: a walk over a dataset in a real bucket. Every commit follows
// from the version that the one before it made, by the ETag that the store gave
// when that was written; pylance takes the table over.
func TestWalkOnS3(t *testing.T) {
	l := lab.Test(t, lab.Options{})
	store, err := opener.Open(context.Background(), l.URI("walk"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWalk(t, store, 400)
	for range 12 {
		w.act()
	}
	for len(w.rows) < 30 {
		w.act()
	}
	t.Log(w.kinds)
	if interpreter() == "" {
		t.Log("NOT CHECKED by pylance, which is not here")
		return
	}
	w.takeOver(l.Path("walk"))
}
