//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one of the programs under test, as it is started again and again. Its outputs go to one file.
type process struct {
	name  string
	argv  []string
	env   []string
	log   string
	dir   string                      // "" means ours
	who   *syscall.Credential         // nil means ourselves
	end   syscall.Signal              // that ends it as a crash does; 0 means SIGKILL
	stops syscall.Signal              // that asks it to end; 0 means SIGTERM
	ready func(context.Context) error // nil once it does what it is for

	address string       // where it listens, where others need to know
	clock   string       // the file that steps its clock
	before  func() error // what has to be done before it is started; nil means nothing

	// died is called when it ended although no one killed it.
	died func(name string, how error)

	mu     sync.Mutex
	cmd    *exec.Cmd
	done   chan struct{}
	ours   bool // we asked it to end
	frozen bool
}

// readyTime is how long a process may take until it does what it is for.
const readyTime = 60 * time.Second

// start starts it, and waits until it is ready.
func (p *process) start(ctx context.Context) error {
	if p.before != nil {
		if err := p.before(); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	fmt.Fprintf(out, "--- %s started at %s\n", p.name, time.Now().Format("15:04:05.000"))
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), p.env...), out, out
	cmd.Dir, cmd.SysProcAttr = p.dir, childAttributes()
	cmd.SysProcAttr.Credential = p.who
	if err := startInThread(cmd); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	done := make(chan struct{})
	p.mu.Lock()
	p.cmd, p.done, p.ours, p.frozen = cmd, done, false, false
	p.mu.Unlock()
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		ours := p.ours
		p.mu.Unlock()
		close(done)
		if !ours {
			p.died(p.name, err)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		if err = p.ready(ctx); err == nil {
			return nil
		}
		select {
		case <-done:
			return fmt.Errorf("%s exited during startup; see %s", p.name, p.log)
		case <-ctx.Done():
			return fmt.Errorf("%s didn't start: %w", p.name, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// kill ends it as a power cut does, with all that it has started. What is not running stays so.
func (p *process) kill() {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.ours = true
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(signalOr(p.end, syscall.SIGKILL))
	<-done
}

func signalOr(s, otherwise syscall.Signal) syscall.Signal {
	if s == 0 {
		return otherwise
	}
	return s
}

// freeze stops it for a while without its knowing.
func (p *process) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = true
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
}

func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = false
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
}

// stop asks it to end, and makes it after a while. The error is for when it did not end well by itself.
func (p *process) stop() error {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.ours = true
	p.mu.Unlock()
	if cmd == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	default:
	}
	_ = cmd.Process.Signal(syscall.SIGCONT)
	_ = cmd.Process.Signal(signalOr(p.stops, syscall.SIGTERM))
	select {
	case <-done:
		if !cmd.ProcessState.Success() {
			return fmt.Errorf("%s was asked to stop and exited with %s", p.name, cmd.ProcessState)
		}
		return nil
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		<-done
		return fmt.Errorf("%s didn't exit within 30 s of being asked to", p.name)
	}
}

// freePort returns a port of 127.0.0.1 where no one listens now. It's below those that Linux uses for outgoing connections (from 32768): one of them
// could be taken until its process listens, and while that is down.
func freePort() (port int, err error) {
	for range 100 {
		port = 20_000 + rand.IntN(12_000)
		var l net.Listener
		if l, err = net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// children returns the processes that a process has started, where the system tells.
func children(pid int) (pids []int) {
	files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, f := range files {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, f.Name()))
		for _, word := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(word); err == nil {
				pids = append(pids, n)
			}
		}
	}
	return pids
}

// signalChild sends a signal to one process that p has started; what it returns sends another to the same one. Nil where there
// is none.
func (p *process) signalChild(choose func(n int) int, sig syscall.Signal) func(syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pids := children(p.cmd.Process.Pid)
	if len(pids) == 0 {
		return nil
	}
	pid := pids[choose(len(pids))]
	again := func(sig syscall.Signal) { _ = syscall.Kill(pid, sig) }
	again(sig)
	return again
}
