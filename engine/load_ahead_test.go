package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/engine/load"
	"github.com/omnideck/omnideck/internal/pgtest"
)

// closing says when it was closed.
type closing struct {
	io.Reader
	closed *int
}

func (c closing) Close() error {
	*c.closed++
	return nil
}

// Chunks that are read ahead come in their order; one that fails is the last, and
// then nothing is read any more.
func TestEachAhead(t *testing.T) {
	var text strings.Builder
	for i := range 10 {
		fmt.Fprintf(&text, `{"type":"Port","data":{"code":"%d"}}`+"\n", i)
	}
	opened, closed := 0, 0
	input := text.String()
	plan, err := load.MakePlan(func() (io.ReadCloser, error) {
		opened++
		return closing{strings.NewReader(input), &closed}, nil
	}, pgtest.IR(t, "node Port { code: String @key }"), load.ChunkOptions{Mode: load.Append, Rows: 2})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for stop := range 7 {
		var got []string
		err := eachAhead(plan, func(c *load.Chunk) error {
			for _, r := range c.Batches[0].Rows {
				got = append(got, r.ID)
			}
			if c.Number == stop {
				return broken
			}
			return nil
		})
		n, want := stop, broken
		if stop == 0 || stop > 5 {
			n, want = 5, nil
		}
		if s := strings.Join(got, ""); s != "0123456789"[:2*n] || !errors.Is(err, want) || opened != closed {
			t.Errorf("stopped at %d: %q, %v, %d of %d inputs are closed", stop, s, err, closed, opened)
		}
	}
	input = strings.Replace(input, `"7"`, `"x"`, 1)
	last := 0
	err = eachAhead(plan, func(c *load.Chunk) error { last = c.Number; return nil })
	var changed *load.ChangedError
	if !errors.As(err, &changed) || last != 3 || opened != closed {
		t.Errorf("the input changed in chunk 4: %v, after chunk %d", err, last)
	}
}
