package server

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill a worker when its provisioner ends, for any reason, and shields it from a terminal's Ctrl-C, which is for the
// provisioner.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
