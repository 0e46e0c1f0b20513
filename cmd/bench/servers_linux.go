package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/app"
	"muster/app/family"
)

// serverVariable, when set, makes this program a server of serverConfig, in JSON.
const serverVariable = "MUSTER_BENCH_SERVER"

// serverConfig is what servers share.
type serverConfig struct {
	Database, Queue string
	Tenants         []string
	Slots           int
}

// A server gets this share of a processor, so that what several of them can do together isn't bound by the processors here. It's stopped for the rest
// of each period, as by a quota of a container.
const (
	serverPeriod = 10 * time.Millisecond
	serverShare  = 4 // one part of so many
)

// fewServers measures so many clusters at once, of ten tenants.
func fewServers(ctx context.Context, database string, servers, clusters, nodes int) (s sample, err error) {
	var tenants []string
	for i := range 10 {
		tenants = append(tenants, fmt.Sprintf("tenant%d", i))
	}
	// It asks, and has no workers.
	r, err := newRig(ctx, rigConfig{catalog: eight(), cloud: stillCloud{}, shells: still{}, database: database, asks: true})
	if err != nil {
		return nil, err
	}
	defer r.close()
	config := serverConfig{Database: database, Queue: "unix://" + r.redis.socket, Tenants: tenants, Slots: 16}
	var all []*server
	defer func() {
		for _, one := range all {
			err = errors.Join(err, one.stop())
		}
	}()
	for range servers {
		one, err := startServer(config)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	begun := time.Now()
	var used, postgres time.Duration
	for _, one := range all {
		used -= cpuOf(one.cmd.Process.Pid)
	}
	postgres -= cpuOfPostgres(database)
	var mu sync.Mutex
	var first error
	steps := 0
	var asked sync.WaitGroup
	for i := range clusters {
		asked.Go(func() {
			op, _, err := r.create(ctx, tenants[i%len(tenants)], "web", fmt.Sprintf("c%d", i), nodes)
			mu.Lock()
			defer mu.Unlock()
			if steps += op.Done; first == nil {
				first = err
			}
		})
	}
	asked.Wait()
	took := time.Since(begun)
	for _, one := range all {
		used += cpuOf(one.cmd.Process.Pid)
	}
	postgres += cpuOfPostgres(database)
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(max(1, steps)) }
	return sample{"rate": float64(steps) / took.Seconds(), "cpu": each(used), "postgres": each(postgres)}, first
}

// server is a process with a dispatcher and a worker for each tenant.
type server struct {
	cmd   *exec.Cmd
	in    io.Closer
	done  chan struct{}
	paced sync.WaitGroup
}

func startServer(c serverConfig) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serverVariable+"="+string(b), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, in: in, done: make(chan struct{})}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("a server didn't start: %w", err), s.stop())
	}
	s.paced.Go(func() {
		for {
			select {
			case <-s.done:
				return
			default:
			}
			time.Sleep(serverPeriod / serverShare)
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(serverPeriod - serverPeriod/serverShare)
			_ = cmd.Process.Signal(syscall.SIGCONT)
		}
	})
	return s, nil
}

func (s *server) stop() error {
	close(s.done)
	s.paced.Wait()
	_ = s.in.Close()
	return s.cmd.Wait()
}

// runServer works until its input ends.
func runServer(config string) error {
	var c serverConfig
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	tools, err := shellTools()
	if err != nil {
		return err
	}
	r, err := newRig(context.Background(), rigConfig{catalog: eight(), cloud: stillCloud{}, shells: still{}, tools: tools, tenants: c.Tenants, slots: c.Slots,
		database: c.Database, queue: c.Queue})
	if err != nil {
		return err
	}
	defer r.close()
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// stillCloud has every machine at once, and keeps nothing, so that all servers know the same ones.
type stillCloud struct{}

func (stillCloud) Create(_ context.Context, s family.MachineSpec) (family.Machine, error) {
	m, err := stillCloud{}.Describe(context.Background(), s.Intent)
	m.Tags, m.Hostname = s.Tags, s.Hostname
	return m, err
}

func (stillCloud) Describe(_ context.Context, id string) (family.Machine, error) {
	return family.Machine{ID: id, State: family.MachineRunning, SSHUser: "root", OwnRoot: true,
		Addresses: map[string]string{app.AddressAccess: "127.0.0.1", app.AddressBind: "127.0.0.1"}}, nil
}
func (stillCloud) List(context.Context, map[string]string) ([]family.Machine, error) { return nil, nil }
func (stillCloud) Delete(context.Context, string) error                              { return nil }

// cpuOfPostgres is what the processes that serve a database have used, as far as they still run.
func cpuOfPostgres(database string) (used time.Duration) {
	name := filepath.Base(strings.SplitN(database, "?", 2)[0])
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(b), "postgres: ") || !strings.Contains(string(b), " "+name+" ") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			used += cpuOf(pid)
		}
	}
	return used
}
