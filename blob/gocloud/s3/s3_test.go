package s3_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/blobtest"
	"github.com/omnideck/omnideck/blob/gocloud/s3"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
)

var roots atomic.Int64

// open returns an empty root in the lab's bucket.
func open(t *testing.T) blob.Store {
	t.Helper()
	s, err := s3.Open(t.Context(), lab.Bucket, fmt.Sprintf("root %%41/%d", roots.Add(1)), s3.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	lab.Test(t, lab.Options{})
	blobtest.Run(t, open)
}
