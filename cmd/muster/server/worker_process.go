package server

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/app/fleet"
	"muster/cmd/muster/observe/metrics"
	"muster/jobs/provisioner"
)

// supervisor starts worker processes.
type supervisor struct {
	config provisionerConfig
	log    *slog.Logger
	stderr io.Writer
	dir    string
	// metrics counts the workers' metrics.
	metrics *metrics.Metrics

	starts chan func()
}

// start starts the thread that starts processes. Linux ends a worker together with the thread that started it, so that thread must live as long
// as the provisioner.
func (w *supervisor) start() {
	w.starts = make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range w.starts {
			start()
		}
	}()
}

// close comes after the last worker has ended.
func (w *supervisor) close() { close(w.starts) }

// secretEnv are variables of the provisioner, and of a server on the same host, that workers never see.
var secretEnv = []string{TokenEnv, "MUSTER_TOKEN", "MUSTER_SECRET_KEY", adminPasswordEnv, "DATABASE_URL"}

func workerEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(secretEnv, name)
	})
}

// osWorker is a worker as another process.
type osWorker struct {
	cmd   *exec.Cmd
	log   *slog.Logger
	done  chan struct{}
	words chan []byte
	ends  chan struct{}
	once  sync.Once
}

var _ provisioner.WorkerHandle = (*osWorker)(nil)

// Timeouts.
const (
	killTime = 12 * time.Second // longer than a worker takes to hand back its steps
	maxWords = 64
)

// spawn starts a worker process. It implements provisioner.Provisioner.Start.
func (w *supervisor) spawn(r fleet.Registered, name string, o fleet.WorkerOrder) (provisioner.WorkerHandle, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "worker", "--tenant", o.Tenant)
	cmd.Args[0] = os.Args[0] // tests run this binary under another name
	cmd.Env = workerEnv(os.Environ())
	cmd.Stderr = w.stderr
	endWithParent(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	tells, reported, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reported.Close()
	cmd.Stdout = reported
	started := make(chan error, 1)
	w.starts <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		_ = tells.Close()
		return nil, err
	}
	go func() {
		defer tells.Close()
		w.metrics.Listen(tells)
	}()
	h := &osWorker{cmd: cmd, log: w.log, done: make(chan struct{}), words: make(chan []byte, maxWords), ends: make(chan struct{})}
	settings, err := json.Marshal(workerSettings{Name: name, Tenant: o.Tenant, Server: w.config.server, CA: w.config.ca, Installation: r.Installation,
		Data: w.dir, Drain: w.config.drain, Verbose: w.config.verbose, Cache: int64(w.config.cache), OTLP: w.config.observe.OTLP, LogFormat: w.config.observe.Format,
		LogLevel: w.config.observe.Level, Plugins: w.config.plugins, Automators: w.config.automators, Networks: w.config.networks, Pins: r.Plugins, workerWord: workerWord{Slots: o.Slots, Token: o.Token}})
	if err != nil {
		return nil, err
	}
	h.words <- settings
	go h.write(stdin)
	go func() {
		err := cmd.Wait()
		w.log.Debug("worker process ended", "worker", name, "pid", cmd.Process.Pid, "how", err)
		close(h.done)
	}()
	return h, nil
}

// write forwards words, so that nothing blocks on a process that doesn't read.
func (h *osWorker) write(to io.WriteCloser) {
	defer to.Close()
	for {
		select {
		case b := <-h.words:
			if _, err := to.Write(append(b, '\n')); err != nil {
				return
			}
		case <-h.ends:
			return
		case <-h.done:
			return
		}
	}
}

// say drops a word for a process that hasn't read the previous ones; the next heartbeat sends another.
func (h *osWorker) say(word workerWord) {
	b, err := json.Marshal(word)
	if err != nil {
		return
	}
	select {
	case h.words <- b:
	default:
		h.log.Warn("worker doesn't read its input", "pid", h.cmd.Process.Pid)
	}
}

func (h *osWorker) Update(o fleet.WorkerOrder) { h.say(workerWord{Slots: o.Slots, Token: o.Token}) }

func (h *osWorker) Drain() { h.say(workerWord{Drain: true}) }

// Stop implements provisioner.WorkerHandle: at the end of its input, a worker hands back its steps; one that doesn't is killed.
func (h *osWorker) Stop() {
	h.once.Do(func() {
		close(h.ends)
		go func() {
			select {
			case <-h.done:
			case <-time.After(killTime):
				h.log.Warn("worker doesn't stop; killing it", "pid", h.cmd.Process.Pid)
				_ = h.cmd.Process.Kill()
			}
		}()
	})
}

func (h *osWorker) Done() <-chan struct{} { return h.done }
