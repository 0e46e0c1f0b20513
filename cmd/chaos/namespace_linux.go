package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// insideVariable tells a chaos that it has a mount namespace of its own.
const insideVariable = "MUSTER_CHAOS_INSIDE"

// inNamespace runs this program once more with mounts of its own, so that whatever ends it, they end with it; it returns its
// exit code. False: there is no need, or it cannot be done, which mounting will report.
func inNamespace() (exit int, did bool) {
	if os.Geteuid() != 0 || os.Getenv(insideVariable) != "" {
		return 0, false
	}
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideVariable+"=yes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM}
	if startInThread(cmd) != nil {
		return 0, false
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the program
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() <= 0 {
		return 1, true
	}
	return cmd.ProcessState.ExitCode(), true
}
