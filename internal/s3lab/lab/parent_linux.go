package lab

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends a child also when a test is killed.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
