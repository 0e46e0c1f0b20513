//go:build real

package jobs_test

import (
	"net"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisForTest starts a Redis server on a free loopback port. Without one installed the test fails.
func redisForTest(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatalf("redis-server (Debian: apt-get install redis-server): %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + strconv.Itoa(port)})
	defer client.Close()
	for deadline := time.Now().Add(hangs); client.Ping(t.Context()).Err() != nil; {
		if time.Now().After(deadline) {
			t.Fatal("redis-server does not answer")
		}
		time.Sleep(20 * time.Millisecond)
	}
	return "redis://127.0.0.1:" + strconv.Itoa(port) + "/0"
}
