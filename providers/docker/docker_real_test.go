//go:build real

package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

const hangs = 5 * time.Minute // reached only where something hangs

const (
	realBridge  = "mdk-real"
	realAddress = "10.109.0.1/16" // not among those that sandboxes take
	realImage   = "muster-node:real"
)

// startEngine starts a Docker Engine of the test's own, with its own data, socket and bridge, and leaves the host's packet filter and any other engine alone.
func startEngine(t *testing.T, more ...string) (socket string) {
	t.Helper()
	_, err := exec.LookPath("dockerd")
	if err != nil || os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("an engine is started by root, with dockerd (Debian: apt-get install docker.io iptables): %v", err)
		}
		t.Skip("an engine is started by root, with dockerd (Debian: apt-get install docker.io iptables)")
	}
	dir, err := os.MkdirTemp("", "mdk") // paths of sockets are short
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
	socket = filepath.Join(dir, "s")
	cmd := exec.Command("dockerd", append(more, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"), "-H", "unix://"+socket,
		"--bridge", realBridge, "--iptables=false", "--ip6tables=false", "--ip-masq=false")...)
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
	c, err := client.New(client.WithHost("unix://" + socket))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		if _, err := c.Ping(t.Context(), client.PingOptions{}); err == nil {
			break
		}
		if time.Now().After(deadline) {
			b, _ := os.ReadFile(log.Name())
			t.Fatalf("the engine does not answer: %s", b[max(0, len(b)-2000):])
		}
	}
	importImage(t, c, realImage, rootFiles(t))
	importImage(t, c, "bare:1", []string{"/bin/sh"})
	return socket
}

// rootFiles are the host's own files that a machine needs at least: an SSH server, a shell and three commands, with what they are linked to.
func rootFiles(t *testing.T) []string {
	t.Helper()
	files := map[string]bool{}
	for _, name := range []string{"/usr/sbin/sshd", "/bin/sh", "/bin/cat", "/bin/hostname", "/bin/true", "/usr/lib/openssh/sshd-session", "/usr/lib/openssh/sshd-auth"} {
		if _, err := os.Stat(name); err != nil {
			if strings.Contains(name, "/openssh/") { // only newer ones have it
				continue
			}
			t.Fatal(err)
		}
		files[name] = true
		out, _ := exec.Command("ldd", name).Output()
		for _, word := range strings.Fields(string(out)) {
			if filepath.IsAbs(word) {
				files[word] = true
			}
		}
	}
	out := make([]string, 0, len(files))
	for f := range files {
		out = append(out, f)
	}
	return out
}

func importImage(t *testing.T, c *client.Client, name string, files []string) {
	t.Helper()
	r, err := c.ImageImport(t.Context(), client.ImageImportSource{Source: bytes.NewReader(layerOf(t, files)), SourceName: "-"}, name, client.ImageImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(r); err != nil || bytes.Contains(out, []byte(`"error"`)) {
		t.Fatalf("import %s: %s, %v", name, out, err)
	}
	_ = r.Close()
}

// layerOf packs files of the host, with what a system has in its /etc.
func layerOf(t *testing.T, files []string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(name string, mode int64, content string) {
		h := &tar.Header{Name: strings.TrimPrefix(name, "/"), Mode: mode, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, content)
	}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		put(f, 0o755, string(content))
	}
	put("/root/", 0o700, "")
	put("/tmp/", 0o1777, "")
	put("/etc/passwd", 0o644, "root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/bin/false\n")
	put("/etc/group", 0o644, "root:x:0:\nnogroup:x:65534:\n")
	put("/etc/shadow", 0o600, "root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n")
	put("/etc/nsswitch.conf", 0o644, "passwd: files\ngroup: files\nshadow: files\n")
	put("/etc/ssh/sshd_config", 0o644, "UsePAM no\nSubsystem sftp internal-sftp\n")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRealEnginePassesTheSuite(t *testing.T) {
	socket := startEngine(t)
	reopen := func(t *testing.T) family.Provider {
		e, err := open(map[string]any{"host": "unix://" + socket})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		return e
	}
	left := func(ctx context.Context, t *testing.T) []family.Machine {
		e, err := open(map[string]any{"host": "unix://" + socket})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		ms, err := e.List(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	providertest.Run(t, providertest.Harness{
		Judge: "real",
		Open: func(t *testing.T) family.Provider {
			t.Cleanup(func() {
				for _, m := range left(context.Background(), t) {
					if err := reopen(t).Delete(context.Background(), m.ID); err != nil {
						t.Error(err)
					}
				}
				volumes, err := reopen(t).(family.Volumes).ListVolumes(context.Background(), nil)
				if err != nil || len(volumes) > 0 {
					t.Errorf("left: %+v, %v", volumes, err)
				}
			})
			return reopen(t)
		},
		Reopen: reopen,
		Flavor: "1cpu-1gb",

		VolumesAtCreation: true,
		Image:             realImage,
		Login:             true,
		Refuses: map[string]func(*family.MachineSpec){
			"a broken host key":        func(s *family.MachineSpec) { s.HostKey = []byte("no key") },
			"more CPUs than there are": func(s *family.MachineSpec) { s.Flavor.Flavor = "4096cpu-1gb" },
			"an image that is absent":  func(s *family.MachineSpec) { s.Image.Image = "absent:1" },
			"an image without sshd":    func(s *family.MachineSpec) { s.Image.Image = "bare:1" },
		},
	})
	t.Run("a network that is not there", func(t *testing.T) {
		e, err := open(map[string]any{"host": "unix://" + socket, "network": "apps"})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		s, _ := providertest.Harness{Flavor: "unlimited", Image: realImage}.Spec(t, "nowhere")
		if _, err := e.Create(t.Context(), s); app.CodeOf(err) != app.EInvalid {
			t.Error(err)
		}
		if ms := left(t.Context(), t); len(ms) > 0 {
			t.Errorf("left: %+v", ms)
		}
	})
	t.Run("a published port", func(t *testing.T) {
		e, err := open(map[string]any{"host": "unix://" + socket, "publish": "127.0.0.1"})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		s, keys := providertest.Harness{Flavor: "0.5cpu-256mb", Image: realImage}.Spec(t, "published")
		m, err := e.Create(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Delete(context.Background(), m.ID) }()
		if m = providertest.Eventually(t, e, m.ID); m.Addresses["access_v4"] != "127.0.0.1" || m.SSHPort < 1024 {
			t.Fatalf("%+v", m)
		}
		_ = providertest.Dial(t, m, keys).Close()
	})
}
