//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func startInThread(cmd *exec.Cmd) error { return cmd.Start() }
