//go:build !windows

package localfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/omnideck/omnideck/blob"
)

func staged(t *testing.T, data string) (temp, target string) {
	t.Helper()
	target = filepath.Join(t.TempDir(), "1.manifest")
	temp, _, err := stage(target, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return temp, target
}

// TestPublishAfterALostAnswer: a network file system can make the link and lose
// the answer; the second call then meets our own file, which is a success.
func TestPublishAfterALostAnswer(t *testing.T) {
	temp, target := staged(t, "ours")
	if err := os.Link(temp, target); err != nil {
		t.Fatal(err)
	}
	if err := publish(temp, target); err != nil {
		t.Errorf("publish over our own link: %v", err)
	}
	if _, err := os.Lstat(temp); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary name is still there: %v", err)
	}
}

func TestPublishOverAnother(t *testing.T) {
	temp, target := staged(t, "ours")
	if err := os.WriteFile(target, []byte("ours"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := publish(temp, target); !errors.Is(err, blob.ErrExists) {
		t.Errorf("publish over another's equal file: %v, want ErrExists", err)
	}
}

// TestPublishWithoutHardLinks: the target stays absent and the sentence says
// what is the matter. A link across file systems stands in for a disk that
// refuses links.
func TestPublishWithoutHardLinks(t *testing.T) {
	temp, _ := staged(t, "ours")
	dir, err := os.MkdirTemp("/dev/shm", "localfs")
	if err != nil {
		t.Skipf("SKIPPED: no second file system: %v", err)
	}
	defer os.RemoveAll(dir)
	target := filepath.Join(dir, "1.manifest")
	err = publish(temp, target)
	if err == nil {
		t.Skip("SKIPPED: /dev/shm is the same file system as the temporary folder")
	}
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "refuses hard links") || errors.Is(err, blob.ErrExists) {
		t.Errorf("publish: %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target is there: %v", err)
	}
}
