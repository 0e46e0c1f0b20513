//go:build real

package main

import (
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"muster/app"
)

// realRedis starts a Redis server on a free loopback port and returns its address, and a way to say something to it.
func realRedis(t *testing.T) (url string, say func(words ...string)) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis-server (Debian: apt-get install redis-server): %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	say = func(words ...string) {
		t.Helper()
		var out []byte
		for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if out, err = exec.Command("redis-cli", append([]string{"-p", port}, words...)...).CombinedOutput(); err == nil {
				return
			}
		}
		t.Fatalf("redis-cli %v: %v: %s", words, err, out)
	}
	say("PING")
	return fmt.Sprintf("redis://127.0.0.1:%s/0", port), say
}

func TestRealRedisFlushedInTheMiddleOfACreate(t *testing.T) {
	url, say := realRedis(t)
	p := newProcess(t, "REDIS_URL="+url)
	v := p.create(12)
	for range 10 {
		time.Sleep(50 * time.Millisecond)
		say("FLUSHALL")
	}
	if v = p.await(v.ID); v.Status != app.ClusterActive {
		t.Fatalf("cluster is %s: %s\n%s", v.Status, v.Message, p.out)
	}
	p.page(v)
}

func TestRealRedisAndServerKilledInTheMiddleOfACreate(t *testing.T) {
	url, say := realRedis(t)
	p := newProcess(t, "REDIS_URL="+url)
	v := p.create(12)
	for i := range 4 {
		time.Sleep(time.Duration(80+60*i) * time.Millisecond)
		p.kill()
		if i%2 == 0 {
			say("FLUSHALL")
		}
		p.start()
	}
	if v = p.await(v.ID); v.Status != app.ClusterActive {
		t.Fatalf("cluster is %s: %s\n%s", v.Status, v.Message, p.out)
	}
	p.page(v)
}
