package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/family"
	"muster/app/identity"
	"muster/app/store"
	"muster/app/template"
	"muster/automators"
	"muster/cmd/muster/wiring"
	"muster/jobs"
	"muster/jobs/queue"
)

// rig is the whole engine without faces: ledger on disk, a queue, dispatcher, and workers in this process.
type rig struct {
	app     *all.Services
	store   *store.Store
	queue   *queue.Queue
	redis   *redisServer // nil: the queue that is part of the server
	closers []func()
}

// rigConfig is what differs from figure to figure.
type rigConfig struct {
	catalog *template.Catalog
	cloud   family.Provider
	shells  jobs.Shells // nil: SSH
	tools   map[string]family.Automator
	tenants []string
	slots   int // of each tenant's worker

	embedded bool // without a Redis, as a server is started without REDIS_URL

	database string // PostgreSQL that others use too; "": SQLite of its own
	queue    string // a Redis that others use too; "": its own
	asks     bool   // it only asks: others dispatch
}

type oneAccount struct{ cloud family.Provider }

func (o oneAccount) Provider(context.Context, template.ProviderSpec) (family.Provider, error) {
	return o.cloud, nil
}

func newRig(ctx context.Context, c rigConfig) (r *rig, err error) {
	r = &rig{}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	dir, err := os.MkdirTemp("", "muster-bench-")
	if err != nil {
		return nil, err
	}
	r.later(func() { _ = os.RemoveAll(dir) })
	url, err := r.startQueue(ctx, c, dir)
	if err != nil {
		return nil, err
	}
	if r.store, err = store.Open(ctx, cmp.Or(c.database, filepath.Join(dir, "muster.db")), make([]byte, store.KeySize)); err != nil {
		return nil, err
	}
	r.later(func() { _ = r.store.Close() })
	r.app = wiring.UseCases(all.Config{Store: r.store, Catalog: func() *template.Catalog { return c.catalog }, Now: time.Now})
	if r.queue, err = queue.Open(url, "bench"); err != nil {
		return nil, err
	}
	r.later(func() { _ = r.queue.Close() })
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	for _, t := range c.tenants {
		w, err := jobs.StartWorker(jobs.WorkerConfig{Name: "bench-" + t, Tenant: t, Slots: c.slots, Queue: r.queue, Coordinator: r.app.Execution.Coordinator,
			Providers: oneAccount{c.cloud}, Automators: c.tools, Shells: c.shells, Log: log})
		if err != nil {
			return nil, err
		}
		r.later(func() { _ = w.Close() })
	}
	if c.asks {
		return r, nil
	}
	loop, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() {
		(&queue.Dispatcher{Ledger: r.store, Queue: r.queue, Expire: r.app.Upkeep.Expire, Log: log, Now: time.Now}).Run(loop)
	})
	r.later(func() { stop(); wg.Wait() })
	return r, nil
}

// startQueue returns its address.
func (r *rig) startQueue(ctx context.Context, c rigConfig, dir string) (url string, err error) {
	if c.queue != "" {
		return c.queue, nil
	}
	if c.embedded {
		password := identity.NewPassword()
		e, err := queue.StartEmbeddedRedis(password)
		if err != nil {
			return "", err
		}
		r.later(func() { _ = e.Close() })
		return e.URL(password), nil
	}
	if r.redis, err = startRedis(ctx, dir); err != nil {
		return "", err
	}
	r.later(r.redis.stop)
	return "unix://" + r.redis.socket, nil
}

func (r *rig) later(f func()) { r.closers = append(r.closers, f) }

func (r *rig) close() {
	for i := len(r.closers) - 1; i >= 0; i-- {
		r.closers[i]()
	}
	r.closers = nil
}

// await waits until the latest operation of a cluster has ended well.
func (r *rig) await(ctx context.Context, tenant, cluster string) (app.Operation, error) {
	changed, stop := r.store.Watch(app.ClusterTopic(cluster))
	defer stop()
	for {
		ops, err := r.store.Operations(ctx, tenant, cluster)
		if err != nil {
			return app.Operation{}, err
		}
		switch op := ops[0]; op.Status {
		case app.OperationSucceeded:
			return op, nil
		case app.OperationFailed, app.OperationCancelled:
			return op, fmt.Errorf("operation %d is %s: %s", op.ID, op.Status, op.Message)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ops[0], fmt.Errorf("%d of %d steps done: %w", ops[0].Done, ops[0].Total, context.Cause(ctx))
		}
		time.Sleep(10 * time.Millisecond) // the feed of a big operation moves all the time
	}
}

// redisServer is a real Redis on a socket in a directory of its own, without persistence: the ledger needs none.
type redisServer struct {
	cmd    *exec.Cmd
	socket string
}

func startRedis(ctx context.Context, dir string) (*redisServer, error) {
	socket := filepath.Join(dir, "redis.sock")
	cmd := exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("redis-server (apt-get install redis-server): %w", err)
	}
	r := &redisServer{cmd: cmd, socket: socket}
	for {
		if c, err := net.Dial("unix", socket); err == nil {
			_ = c.Close()
			return r, nil
		}
		select {
		case <-ctx.Done():
			r.stop()
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (r *redisServer) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// cpuOf returns the CPU time that another process has used.
func cpuOf(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	sys, _ := strconv.Atoi(f[12])
	return time.Duration(user+sys) * 10 * time.Millisecond // USER_HZ is 100
}

// cpu is what this process has used, in user and system mode.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// status reads a number of /proc/self/status; 0 where there is none.
func status(name string) int {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if value, ok := strings.CutPrefix(s.Text(), name+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(value)[0])
			return n
		}
	}
	return 0
}

// watchMemory looks a hundred times a second at how much memory this process holds that is its own, and returns the most when asked to
// stop, in bytes. Pages of the program's file do not count: the kernel keeps one copy of them for all processes, drops them when it needs
// room, and how many are mapped goes with how much the program can do, not with what was done.
func watchMemory() (stop func() int) {
	most := status("RssAnon")
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				most = max(most, status("RssAnon"))
			}
		}
	}()
	return func() int {
		close(done)
		<-ended
		return max(most, status("RssAnon")) << 10
	}
}

// cost is what an act took.
type cost struct {
	wall, cpu, redis time.Duration
	nodes            time.Duration // CPU time that the machines used
	peak             int           // bytes of memory of its own that it held at most
}

// used is what the side of the server has used.
func (c cost) used() time.Duration { return c.cpu + c.redis }

func (c cost) sample() sample {
	return sample{"wall": c.wall.Seconds(), "cpu": c.used().Seconds(), "nodes": c.nodes.Seconds(), "memory": float64(c.peak) / (1 << 20)}
}

// during measures an act; redis may be nil.
func during(redis *redisServer, act func() error) (c cost, err error) {
	debug.FreeOSMemory()
	memory := watchMemory()
	began, used := time.Now(), cpu()
	var served time.Duration
	if redis != nil {
		served = cpuOf(redis.cmd.Process.Pid)
	}
	err = act()
	c = cost{wall: time.Since(began), cpu: cpu() - used, peak: memory()}
	if redis != nil {
		c.redis = cpuOf(redis.cmd.Process.Pid) - served
	}
	return c, err
}

// shellTools are the automators that templates of figures use.
func shellTools() (map[string]family.Automator, error) {
	sh, err := automators.New("shell")
	return map[string]family.Automator{"shell": sh}, err
}
