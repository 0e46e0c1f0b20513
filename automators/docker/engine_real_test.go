//go:build real

package docker_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const hangs = 5 * time.Minute // reached only where something hangs

const (
	realBridge  = "mda-real"
	realAddress = "10.81.0.1/16"
)

// engine is a Docker Engine of the test's own, with its own data, socket and bridge. The host's packet filter and any other engine are left alone.
type engine struct {
	address string // DOCKER_HOST
}

// docker runs the engine's command line on the test's own account.
func (e engine) docker(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+e.address)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func startEngine(t *testing.T) engine {
	t.Helper()
	for _, tool := range []string{"dockerd", "docker"} {
		if _, err := exec.LookPath(tool); err != nil || os.Geteuid() != 0 {
			t.Fatalf("an engine is started by root, with dockerd and docker (Debian: apt-get install docker.io iptables): %v", err)
		}
	}
	dir, err := os.MkdirTemp("", "mda") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	run("ip", "link", "add", realBridge, "type", "bridge")
	t.Cleanup(func() { run("ip", "link", "del", realBridge) })
	run("ip", "addr", "add", realAddress, "dev", realBridge)
	run("ip", "link", "set", realBridge, "up")
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	e := engine{"unix://" + filepath.Join(dir, "s")}
	cmd := exec.Command("dockerd", "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"), "-H", e.address,
		"--bridge", realBridge, "--iptables=false", "--ip6tables=false", "--ip-masq=false", "--default-address-pool", "base=10.82.0.0/16,size=24")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(hangs):
			_ = cmd.Process.Kill()
			<-ended
			t.Error("the engine did not end")
		}
		_ = log.Close()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		ask := exec.Command("docker", "version")
		ask.Env = append(os.Environ(), "DOCKER_HOST="+e.address)
		if ask.Run() == nil {
			break
		}
		if time.Now().After(deadline) {
			b, _ := os.ReadFile(log.Name())
			t.Fatalf("the engine does not answer: %s", b[max(0, len(b)-2000):])
		}
	}
	t.Cleanup(func() { // all that the tests have made
		for _, kind := range [][2]string{{"ps --all --quiet", "rm --force --volumes"}, {"network ls --quiet --filter label=muster.made", "network rm"}} {
			for _, id := range strings.Fields(e.docker(t, strings.Fields(kind[0])...)) {
				e.docker(t, append(strings.Fields(kind[1]), id)...)
			}
		}
	})
	return e
}
