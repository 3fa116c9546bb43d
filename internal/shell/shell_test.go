package shell

import (
	"os/exec"
	"strings"
	"testing"
)

// A shell takes each argument as it was given.
func TestLineIsReadAsItWasMeant(t *testing.T) {
	if got, want := Line("recover", "s3://lab/harbor", "--apply"), "omnideck recover s3://lab/harbor --apply"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell on this machine")
	}
	args := []string{"recover", "/a b", "it's", "", "$HOME `x` \\ \"q\"", "*", "ü#%41", "~", "a\tb"}
	out, err := exec.Command(sh, "-c", `omnideck() { printf '%s\n' "$@"; }; `+Line(args...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); strings.Join(got, "|") != strings.Join(args, "|") {
		t.Errorf("read as %q, want %q", got, args)
	}
}
