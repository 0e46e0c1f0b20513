//go:build !linux

package server

import "os/exec"

// dieTogether does nothing here: a worker's input ends with its provisioner.
func dieTogether(*exec.Cmd) {}
