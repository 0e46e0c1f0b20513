package server

import (
	"os/exec"
	"syscall"
)

// dieTogether lets the kernel kill a worker when its provisioner ends, however that ends; and keeps Ctrl-C of a terminal, which
// is for the provisioner, away from it.
func dieTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
