//go:build unix

package program

import (
	"os/exec"
	"syscall"
)

// Apart puts a program into a process group of its own, so that signals reach all that it starts, and Ctrl-C on Muster does not.
func Apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// TermGroup asks all of it to end.
func TermGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// KillGroup ends all of it.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
