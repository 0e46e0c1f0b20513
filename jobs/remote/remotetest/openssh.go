package remotetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/jobs/remote"
)

// OpenSSH starts the system's sshd on a free port of 127.0.0.1, as the user that runs the test. Where no sshd is
// installed the test is skipped, or fails when the environment has CI=true.
func OpenSSH(t testing.TB) *Node {
	t.Helper()
	return OpenSSHWith(t)
}

// OpenSSHWith is OpenSSH for commands that have more in their environment.
func OpenSSHWith(t testing.TB, env ...string) *Node {
	t.Helper()
	return openSSH(t, exec.Command, nil, env...)
}

// openSSH starts sshd by command. Dial, where it isn't nil, reaches it.
func openSSH(t testing.TB, command func(string, ...string) *exec.Cmd, dial func(context.Context, string, string) (net.Conn, error), env ...string) *Node {
	t.Helper()
	sshd := findSSHD()
	if sshd == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("sshd is not installed")
		}
		t.Skip("sshd is not installed")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" {
		// As root, sshd insists on this one.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}

	n := newNode(t)
	hostKey, hostPEM := NewKey(t)
	userKey, userPEM := NewKey(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	conf := strings.Join([]string{
		"Subsystem sftp internal-sftp",
		"HostKey " + write("host_key", string(hostPEM)),
		"AuthorizedKeysFile " + write("authorized_keys", AuthorizedKey(userKey)+"\n") + " " + filepath.Join(n.Home, ".ssh", "authorized_keys"),
		"PidFile none", "StrictModes no", "UsePAM no", "PermitRootLogin yes", "PasswordAuthentication no",
		"KbdInteractiveAuthentication no", "PrintMotd no", "MaxStartups 100",
		strings.Join(append([]string{fmt.Sprintf("SetEnv HOME=%s TMPDIR=%s MUSTER_STATE_ROOT=%s", n.Home, n.Temp, n.State)}, env...), " "),
	}, "\n") + "\n"

	for range 5 {
		port := freePort(t)
		file := write("sshd_config", fmt.Sprintf("ListenAddress 127.0.0.1:%d\n%s", port, conf))
		var log bytes.Buffer
		cmd := command(sshd, "-D", "-e", "-f", file)
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		died := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(died)
		}()
		n.target = remote.Target{Address: "127.0.0.1", Port: port, User: me.Username, HostKey: AuthorizedKey(hostKey), PrivateKey: userPEM,
			Guard: dial}
		if answers(n.target, died) {
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				<-died
			})
			return &n
		}
		_ = cmd.Process.Kill()
		<-died
		t.Logf("sshd didn't start on port %d, trying another: %s", port, log.String())
	}
	t.Fatal("sshd didn't start")
	return nil
}

func answers(target remote.Target, died <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	go func() {
		select {
		case <-died:
			cancel()
		case <-ctx.Done():
		}
	}()
	c, err := remote.Wait(ctx, target)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

func findSSHD() string {
	for _, p := range []string{"/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"} {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	p, err := exec.LookPath("sshd")
	if err != nil {
		return ""
	}
	return p
}

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
