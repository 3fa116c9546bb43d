//go:build !windows

package localfs_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
	"github.com/omnideck/omnideck/blob/localfs"
)

// TestMain is also the child of TestTwoProcesses: it creates the keys that it
// reads from its input, and says which creates it won.
func TestMain(m *testing.M) {
	root := os.Getenv("LOCALFS_TEST_RACER")
	if root == "" {
		os.Exit(m.Run())
	}
	s, err := localfs.Open(root)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	me := os.Getenv("LOCALFS_TEST_NAME")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		_, err := s.PutIfAbsent(context.Background(), in.Text(), []byte(strings.Repeat(me, 100)))
		switch {
		case err == nil:
			fmt.Println("won", in.Text())
		case errors.Is(err, blob.ErrExists):
			fmt.Println("lost", in.Text())
		default:
			fmt.Println("error", err)
		}
	}
}

// racer is a child of TestTwoProcesses.
type racer struct {
	name string
	in   io.Writer
	out  *bufio.Scanner
}

// startRacer starts a child whose store is root; the test ends it.
func startRacer(t *testing.T, root, name string) racer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LOCALFS_TEST_RACER="+root, "LOCALFS_TEST_NAME="+name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("racer %s: %v", name, err)
		}
	})
	return racer{name, in, bufio.NewScanner(out)}
}

// create lets the child go for a key.
func (r racer) create(t *testing.T, key string) {
	t.Helper()
	if _, err := io.WriteString(r.in, key+"\n"); err != nil {
		t.Fatal(err)
	}
}

// won waits for the child's word on a key that it was let go for.
func (r racer) won(t *testing.T, key string) bool {
	t.Helper()
	if !r.out.Scan() {
		t.Fatalf("racer %s ended", r.name)
	}
	said := r.out.Text()
	if said != "won "+key && said != "lost "+key {
		t.Fatalf("racer %s: %s", r.name, said)
	}
	return said == "won "+key
}

// TestTwoProcesses: of two processes that create the same keys at the same
// time, exactly one wins each key, and the key holds what that one wrote.
func TestTwoProcesses(t *testing.T) {
	const keys = 300
	root := t.TempDir()
	racers := []racer{startRacer(t, root, "A"), startRacer(t, root, "B")}
	wins := map[string]int{}
	for i := range keys {
		key := fmt.Sprintf("t/_versions/%05d.manifest", i)
		for _, r := range racers { // both are let go before either is asked
			r.create(t, key)
		}
		winner := ""
		for _, r := range racers {
			if r.won(t, key) {
				winner += r.name
			}
		}
		if len(winner) != 1 {
			t.Fatalf("%s was won by %q", key, winner)
		}
		wins[winner]++
		data, err := os.ReadFile(filepath.Join(root, key))
		if err != nil || string(data) != strings.Repeat(winner, 100) {
			t.Fatalf("%s was won by %s and holds %.10q, %v", key, winner, data, err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(root, "t/_versions")); len(entries) != keys {
		t.Errorf("%d files for %d keys: temporary files were left", len(entries), keys)
	}
	t.Logf("wins: %v of %d", wins, keys)
}
