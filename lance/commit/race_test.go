package commit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/omnideck/omnideck/blob/opener"
	"github.com/omnideck/omnideck/internal/rivals"
	"github.com/omnideck/omnideck/internal/s3lab/lab"
	"github.com/omnideck/omnideck/lance"
	"github.com/omnideck/omnideck/lance/commit"
)

// TestMain is also the child of the races: it appends to a table and prints
// what it was told.
func TestMain(m *testing.M) { rivals.Main(m, child) }

// child: address, name, commits. Every second commit is exact, and planned anew
// when it loses. The first one is planned on version 1, so that it loses in one of
// two children, whoever comes when; it prints how often it lost, too.
func child(job []string) error {
	n, err := strconv.Atoi(job[2])
	if err != nil {
		return err
	}
	ctx := context.Background()
	store, err := opener.Open(ctx, job[0])
	if err != nil {
		return err
	}
	defer store.Close()
	for i := range n {
		uuid := fmt.Sprintf("%s-%d", job[1], i)
		lost, at := 0, uint64(0)
		if i == 0 {
			at = 1
		}
		for {
			snap, err := lance.Open(ctx, store, "t", lance.OpenOptions{Version: at})
			if err != nil {
				return err
			}
			base := snap.Manifest()
			o := commit.Options{Exact: i%2 == 0, Retries: 1000, Backoff: func(context.Context, int) error { return nil }}
			c, err := commit.Commit(ctx, store, "t", "", base, appendTxn(base.Version, uuid, 1), o)
			var conflict *commit.ConflictError
			if errors.As(err, &conflict) && conflict.Retryable && o.Exact {
				uuid = fmt.Sprintf("%s-%d-%x", job[1], i, rand.Uint64())
				lost, at = lost+1, 0
				continue
			}
			if err != nil {
				return err
			}
			fmt.Println(c.UUID, c.Version, lost)
			break
		}
	}
	return nil
}

// race runs two children against an address and looks at what they made: of
// every version one winner, no acknowledged commit lost, none twice, nothing
// that was not acknowledged.
func race(t *testing.T, uri string, n int) {
	t.Helper()
	store, err := opener.Open(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	mustCommit(t, store, nil, createTxn("create", fragment("a", 10)), commit.Options{})
	told, lost := map[string]string{}, 0
	for _, lines := range rivals.Run(t, fmt.Sprintf("%s p0 %d", uri, n), fmt.Sprintf("%s p1 %d", uri, n)) {
		for _, line := range lines {
			var uuid, version string
			var times int
			if _, err := fmt.Sscan(line, &uuid, &version, &times); err != nil {
				t.Fatal(err)
			}
			lost += times
			if _, twice := told[version]; twice {
				t.Errorf("version %s was told twice", version)
			}
			told[version] = uuid
		}
	}
	for v := uint64(2); v <= uint64(2*n)+1; v++ {
		snap, err := lance.Open(t.Context(), store, "t", lance.OpenOptions{Version: v})
		if err != nil {
			t.Fatal(err)
		}
		tx, err := snap.Transaction(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if told[fmt.Sprint(v)] != tx.UUID {
			t.Errorf("version %d is of %s, told was %q", v, tx.UUID, told[fmt.Sprint(v)])
		}
		if rows, _ := snap.CountRows(); rows != 9+v {
			t.Errorf("version %d has %d rows, want %d", v, rows, 9+v)
		}
	}
	if m := newest(t, store); len(told) != 2*n || m.Version != uint64(2*n)+1 || m.NextRowID != uint64(10+2*n) {
		t.Errorf("%d acknowledged, the newest version is %d, the next row id %d", len(told), m.Version, m.NextRowID)
	}
	if left := keys(t, store, "t/_transactions/"); len(left) != 2*n+1 {
		t.Errorf("%d transaction files for %d versions", len(left), 2*n+1)
	}
	t.Logf("%d versions, %d exact commits lost", 2*n, lost)
	if lost == 0 {
		t.Error("no commit was lost, of two processes that began with the same version")
	}
}

func TestTwoProcessesLocal(t *testing.T) { race(t, t.TempDir(), 30) }

func TestTwoProcessesS3(t *testing.T) {
	lab.Test(t, lab.Options{})
	race(t, "s3://"+lab.Bucket+"/race", 15)
}
