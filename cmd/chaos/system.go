//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// system is Muster: its processes and what is between them.
type system struct {
	servers      []*process // the REST API is there
	provisioners []*process // hosts of workers, where the servers have none of their own
	database     *process   // nil where each server keeps its own
	databases    []*proxy   // between Muster and its database
	uplinks      []*proxy   // between provisioners and their servers
	redis        *process
	redisDir     string
	redisAddress string
	network      []*proxy // between Muster and its Redis
	data         string   // of the first server
	clients      []string // data directories in which servers leave their address
	closers      []func() error
}

// setup is what a topology is made from.
type setup struct {
	binary  string
	dir     string
	catalog string
	env     []string
	died    func(name string, how error)
}

// topologies make systems; nothing of them runs yet.
var topologies = map[string]func(setup) (*system, error){
	"one":  oneServer,
	"many": manyServers,
}

// oneServer is a server with its workers inside, on SQLite, with a Redis of its own.
func oneServer(s setup) (*system, error) {
	y := &system{data: filepath.Join(s.dir, "data")}
	url, err := y.addRedis(s)
	if err != nil {
		return y, err
	}
	p, err := s.server("server", y.data, append(s.env, "REDIS_URL="+url), "--workers", "16")
	if err != nil {
		return y, err
	}
	y.servers, y.clients = []*process{p}, []string{y.data}
	return y, nil
}

// manyServers are servers on one PostgreSQL, each with a network of its own to it and to Redis, and as many provisioners.
func manyServers(s setup) (*system, error) {
	y := &system{}
	address, err := y.addPostgres(s)
	if err != nil {
		return y, err
	}
	// A build without provisioners has its workers in the servers.
	split := exec.Command(s.binary, "provisioner", "token", "create", "--help").Run() == nil
	workers := "8"
	if split {
		workers = "0"
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	for i := range 2 {
		redis, err := y.addRedis(s)
		if err != nil {
			return y, err
		}
		n, err := newProxy(address)
		if err != nil {
			return y, err
		}
		y.databases = append(y.databases, n)
		name := "server" + strconv.Itoa(i+1)
		data := filepath.Join(s.dir, "data-"+name)
		env := append(slices.Clone(s.env), "REDIS_URL="+redis, "MUSTER_SECRET_KEY="+hex.EncodeToString(key),
			"DATABASE_URL=postgres://app@"+n.address()+"/postgres?sslmode=disable")
		p, err := s.server(name, data, env, "--workers", workers)
		if err != nil {
			return y, err
		}
		y.servers, y.clients = append(y.servers, p), append(y.clients, data)
	}
	if split {
		return y, y.addProvisioners(s)
	}
	return y, nil
}

// clockVariable names the file that steps a server's clock, in builds with the tag chaos.
const clockVariable = "MUSTER_CHAOS_CLOCK"

func (s setup) server(name, data string, env []string, more ...string) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	argv := append([]string{s.binary, "serve", "--listen", address, "--data", data, "--catalog", s.catalog}, more...)
	clock := filepath.Join(s.dir, name+".clock")
	env = append(slices.Clone(env), clockVariable+"="+clock)
	return &process{name: name, address: address, argv: argv, env: env, clock: clock, log: filepath.Join(s.dir, name+".log"), died: s.died,
		ready: func(ctx context.Context) error { return answers(ctx, address) }}, nil
}

// answers wants someone to listen. Whether the API answers the clients find out.
func answers(ctx context.Context, address string) error {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return c.Close()
}

// addRedis prepares a Redis that keeps its data over a restart, unless there is one, and a network in front of it.
func (y *system) addRedis(s setup) (url string, err error) {
	if y.redis == nil {
		if err := y.makeRedis(s); err != nil {
			return "", err
		}
	}
	n, err := newProxy(y.redisAddress)
	if err != nil {
		return "", err
	}
	y.network = append(y.network, n)
	return "redis://" + n.address() + "/0", nil
}

func (y *system) makeRedis(s setup) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return fmt.Errorf("redis-server isn't installed (Debian: apt-get install redis-server): %w", err)
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	y.redisDir = filepath.Join(s.dir, "redis")
	if err := os.MkdirAll(y.redisDir, 0o700); err != nil {
		return err
	}
	y.redisAddress = "127.0.0.1:" + strconv.Itoa(port)
	y.redis = &process{name: "redis", log: filepath.Join(s.dir, "redis.log"), died: s.died,
		argv:  []string{program, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--dir", y.redisDir},
		ready: func(context.Context) error { return y.say("PING") }}
	return nil
}

// say tells Redis one thing, past the network that may be broken.
func (y *system) say(words ...string) error {
	c, err := net.DialTimeout("tcp", y.redisAddress, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(c, "%s\r\n", strings.Join(words, " ")); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && strings.HasPrefix(line, "-") {
		err = errors.New(strings.TrimSpace(line))
	}
	return err
}

// emptyRedis removes what Redis would remember; it must not be running.
func (y *system) emptyRedis() error {
	if err := os.RemoveAll(y.redisDir); err != nil {
		return err
	}
	return os.MkdirAll(y.redisDir, 0o700)
}

// processes are all of them, in the order in which they are started.
func (y *system) processes() []*process {
	var all []*process
	for _, p := range []*process{y.database, y.redis} {
		if p != nil {
			all = append(all, p)
		}
	}
	return append(append(all, y.servers...), y.provisioners...)
}

func (y *system) start(ctx context.Context) error {
	for _, p := range y.processes() {
		if err := p.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stop asks all to end, the last started first.
func (y *system) stop() error {
	var errs []error
	all := y.processes()
	for i := len(all) - 1; i >= 0; i-- {
		errs = append(errs, all[i].stop())
	}
	return errors.Join(errs...)
}

func (y *system) close() {
	for _, p := range y.processes() {
		p.kill()
	}
	for _, n := range slices.Concat(y.network, y.databases, y.uplinks) {
		n.close()
	}
	for _, f := range y.closers {
		_ = f()
	}
}
