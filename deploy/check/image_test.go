//go:build release

package check

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hangs is far longer than an Engine takes to start or stop.
const hangs = time.Minute

// dockerEngine is a Docker Engine without networks, which a test starts.
type dockerEngine struct{ client, address string }

func (e dockerEngine) docker(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(e.client, args...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+e.address, "DOCKER_BUILDKIT=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// builder finds a docker command that can build with BuildKit: with buildx, or older than Docker 23, which had it built in.
func builder(t *testing.T) string {
	t.Helper()
	var found []string
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/bin") {
		if name, err := exec.LookPath(filepath.Join(dir, "docker")); err == nil && !slices.Contains(found, name) {
			found = append(found, name)
			version, _ := exec.Command(name, "--version").Output()
			if exec.Command(name, "buildx", "version").Run() == nil || strings.HasPrefix(string(version), "Docker version 20.") {
				return name
			}
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("no docker command builds with BuildKit: %q. Install Debian's docker-buildx", found)
	}
	t.Skipf("no docker command builds with BuildKit: %q", found)
	return ""
}

func startEngine(t *testing.T) dockerEngine {
	t.Helper()
	e := dockerEngine{client: builder(t)}
	daemon := program(t, "dockerd")
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("a Docker Engine is started by root")
		}
		t.Skip("a Docker Engine is started by root")
	}
	dir, err := os.MkdirTemp("", "mdr") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	e.address = "unix://" + filepath.Join(dir, "s")
	cmd := exec.Command(daemon, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"),
		"-H", e.address, "--bridge", "none", "--iptables=false", "--ip6tables=false")
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
		ask := exec.Command(e.client, "version")
		ask.Env = append(os.Environ(), "DOCKER_HOST="+e.address)
		if ask.Run() == nil {
			return e
		}
		if time.Now().After(deadline) {
			b, _ := os.ReadFile(log.Name())
			t.Fatalf("the engine does not answer: %s", b[max(0, len(b)-2000):])
		}
	}
}

// TestReleaseImage builds the image of both architectures from the released programs, as GoReleaser does, and runs it. Its base is empty, since
// nothing is pulled here; that of a release has certificates as well.
func TestReleaseImage(t *testing.T) {
	s := openSnapshot(t)
	e := startEngine(t)
	folder := t.TempDir()
	for _, platform := range platforms[:2] {
		to := filepath.Join(folder, strings.ReplaceAll(platform, "_", "/"))
		unpack(t, s.path(platform+".tar.gz"), to)
	}
	if err := os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte(read(t, "../Dockerfile")), 0o600); err != nil {
		t.Fatal(err)
	}
	type image struct {
		Architecture string
		Config       struct {
			User   string
			Labels map[string]string
		}
	}
	for _, platform := range platforms[:2] {
		name := "muster:" + platform
		args := []string{"build", "--platform", strings.ReplaceAll(platform, "_", "/"), "--tag", name}
		for _, arg := range []string{"PROGRAM=prebuilt", "BASE=scratch", "VERSION=" + s.version} {
			args = append(args, "--build-arg", arg)
		}
		e.docker(t, append(args, folder)...)
		var found []image
		if err := json.Unmarshal([]byte(e.docker(t, "inspect", name)), &found); err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		i := found[0]
		if "linux_"+i.Architecture != platform || i.Config.User != "65532:65532" || i.Config.Labels["org.opencontainers.image.version"] != s.version {
			t.Errorf("%s: %+v", platform, i)
		}
		if platform != here(t) {
			continue
		}
		if out := e.docker(t, "run", "--rm", "--network", "none", name, "version"); !strings.HasPrefix(out, "muster "+s.version+" ") {
			t.Errorf("the image's program says %s", out)
		}
		serves(t, e, name)
	}
}

// serves starts a server from an image, whose data directory it can write to, and waits until it's ready.
func serves(t *testing.T, e dockerEngine, image string) {
	t.Helper()
	catalog, err := filepath.Abs("../../examples/catalog")
	if err != nil {
		t.Fatal(err)
	}
	id := e.docker(t, "run", "--detach", "--network", "none", "--read-only", "--cap-drop", "ALL", "--tmpfs", "/tmp", "--volume", catalog+":/etc/muster/catalog:ro", image)
	for deadline := time.Now().Add(hangs); ; time.Sleep(200 * time.Millisecond) {
		ready := exec.Command(e.client, "exec", id, "muster", "server", "ready")
		ready.Env = append(os.Environ(), "DOCKER_HOST="+e.address)
		out, err := ready.CombinedOutput()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("the server isn't ready: %s\n%s", out, e.docker(t, "logs", id))
			break
		}
	}
	e.docker(t, "rm", "--force", "--volumes", id)
}
