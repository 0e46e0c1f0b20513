package remotetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"muster/jobs/remote"
)

// quietVariable holds what a process of Quiet has to know.
const quietVariable = "MUSTER_REMOTETEST_QUIET"

// Quiet starts an SSH server in a process of its own that says that it runs commands, and runs none: a command that holds
// the words "wait forever" says "begun" and does not end before its session does, every other one ends at once with exit
// code 0. It is for measuring what this process alone needs. The test binary's TestMain must call ServeQuiet first.
func Quiet(t testing.TB) remote.Target {
	t.Helper()
	hostKey, hostPEM := NewKey(t)
	userKey, userPEM := NewKey(t)
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), quietVariable+"="+AuthorizedKey(userKey), "GOGC=50")
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(hostPEM)), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var port int
	if _, err := fmt.Fscanf(bufio.NewReader(out), "port %d\n", &port); err != nil {
		t.Fatal("the quiet server didn't start: ", err)
	}
	return remote.Target{Address: "127.0.0.1", Port: port, HostKey: AuthorizedKey(hostKey), PrivateKey: userPEM}
}

// ServeQuiet is the server where this process was started as one; it then does not return. Otherwise it does nothing.
func ServeQuiet() {
	allowed := os.Getenv(quietVariable)
	if allowed == "" {
		return
	}
	fmt.Fprintln(os.Stderr, "quiet server:", serveQuiet(allowed))
	os.Exit(1)
}

// serveQuiet returns only an error.
func serveQuiet(allowed string) error {
	var private strings.Builder
	if _, err := bufio.NewReader(os.Stdin).WriteTo(&private); err != nil {
		return err
	}
	host, err := ssh.ParsePrivateKey([]byte(private.String()))
	if err != nil {
		return err
	}
	conf := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k))) != allowed {
			return nil, fmt.Errorf("refused")
		}
		return nil, nil
	}}
	conf.AddHostKey(host)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("port %d\n", l.Addr().(*net.TCPAddr).Port)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go quietConn(c, conf)
	}
}

func quietConn(raw net.Conn, conf *ssh.ServerConfig) {
	_, chans, reqs, err := ssh.NewServerConn(raw, conf)
	if err != nil {
		_ = raw.Close()
		return
	}
	go ssh.DiscardRequests(reqs)
	for nc := range chans {
		ch, reqs, err := nc.Accept()
		if err != nil {
			continue
		}
		go quietSession(ch, reqs)
	}
}

// quietResident says that it carries out commands as the resident of package remote does.
func quietResident(ch ssh.Channel, name string) {
	defer ch.Close()
	_, _ = fmt.Fprintf(ch.Stderr(), "%s resident\n", name)
	for in := bufio.NewReader(ch); ; {
		head := make([]byte, 40)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		size, _ := strconv.Atoi(strings.Fields(string(head))[0])
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			return
		}
		t, _, _ := strings.Cut(string(text), " ")
		_, _ = fmt.Fprintf(ch.Stderr(), "%s 1 /bin/sh\n", t)
		if strings.Contains(string(text), "wait forever") {
			_, _ = fmt.Fprintln(ch, "begun")
			continue
		}
		_, _ = fmt.Fprintf(ch, "%s end 0\n", t)
		_, _ = fmt.Fprintf(ch.Stderr(), "%s end 0\n", t)
	}
}

var token = regexp.MustCompile(`muster-[0-9a-f]{16}`)

func quietSession(ch ssh.Channel, reqs <-chan *ssh.Request) {
	var once sync.Once
	for r := range reqs {
		if r.WantReply {
			_ = r.Reply(r.Type == "exec", nil)
		}
		if r.Type != "exec" {
			continue
		}
		once.Do(func() {
			line := string(r.Payload)
			if strings.Contains(line, "exec bash ") {
				go quietResident(ch, token.FindString(line))
				return
			}
			if t := token.FindString(line); t != "" {
				_, _ = fmt.Fprintf(ch.Stderr(), "%s 1 /bin/sh\n", t)
			}
			if strings.Contains(line, "wait forever") {
				_, _ = fmt.Fprintln(ch, "begun")
			} else {
				_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{0}))
				_ = ch.Close()
			}
		})
	}
	_ = ch.Close()
}
