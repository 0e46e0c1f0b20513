//go:build !unix

package program

import "os/exec"

// Apart does nothing here.
func Apart(*exec.Cmd) {}

// TermGroup asks all of it to end.
func TermGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// KillGroup ends all of it.
func KillGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
