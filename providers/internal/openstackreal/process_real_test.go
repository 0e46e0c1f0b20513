//go:build real && openstack && linux

package openstackreal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one of the cloud's programs.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended
}

// launch starts a program in a process group of its own.
func launch(dir, name string, env []string, argv ...string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, "log", name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = append(os.Environ(), env...), dir, out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// signal sends a signal to the program and all that it has started.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

// stop ends it: politely, and then not.
func (p *process) stop(patience time.Duration) {
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}

// within is how long each part may take to start. Reaching it means that it hangs.
const within = 10 * time.Minute

// until waits for something that the process is to do.
func (p *process) until(what string, ok func() error) error {
	for deadline := time.Now().Add(within); ; {
		err := ok()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s has ended (%s) before %s:\n%s", p.name, p.cmd.ProcessState, what, tail(p.log))
		case <-time.After(200 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: no %s after %s: %w\n%s", p.name, what, within, err, tail(p.log))
		}
	}
}

// finish waits for a tool to do its work.
func finish(p *process, err error) error {
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(within):
		p.signal(syscall.SIGKILL)
		<-p.done
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s: %s\n%s", p.name, p.cmd.ProcessState, tail(p.log))
	}
	return nil
}

// tail is the end of a log.
func tail(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	lines = lines[max(0, len(lines)-40):]
	return "the end of its log:\n  " + strings.ReplaceAll(string(bytes.Join(lines, []byte("\n"))), "\n", "\n  ")
}

// together does several things at the same time, and joins their errors.
func together(do ...func() error) error {
	errs := make([]error, len(do))
	var all sync.WaitGroup
	for i, f := range do {
		all.Go(func() { errs[i] = f() })
	}
	all.Wait()
	return errors.Join(errs...)
}
