package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

// childAttributes let a child die with us, however we end.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

var starts = make(chan func())

// The kernel sends that signal when the thread ends that started the child, so one that never ends starts them all.
func init() {
	go func() {
		runtime.LockOSThread()
		for f := range starts {
			f()
		}
	}()
}

func startInThread(cmd *exec.Cmd) error {
	err := make(chan error)
	starts <- func() { err <- cmd.Start() }
	return <-err
}
