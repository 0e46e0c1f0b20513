//go:build !linux

package server

import "os/exec"

// endWithParent does nothing here: a worker's input ends with its provisioner.
func endWithParent(*exec.Cmd) {}
