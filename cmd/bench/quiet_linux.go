package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app/family"
	"muster/providers/fake"
)

// quiet answers as thousands of machines that run nothing: what real shells would cost is the machines' and not the worker's,
// and there would not be room for theirs on this host. It speaks the worker's own protocol over SSH. A script that runs once
// waits for the gate; what a node says of itself was said by this host once.
type quiet struct {
	dir     string
	waiting atomic.Int64
	gate    chan struct{}
	opened  sync.Once

	mu        sync.Mutex
	listeners []net.Listener
	facts     []byte // what the node's contract was answered with, but for the time
}

func newQuiet(dir string) *quiet { return &quiet{dir: dir, gate: make(chan struct{})} }

func (q *quiet) open() int {
	q.opened.Do(func() { close(q.gate) })
	return 1
}

func (q *quiet) close() {
	q.open()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.listeners {
		_ = l.Close()
	}
}

func (q *quiet) bind(spec family.MachineSpec) fake.Endpoint {
	nowhere := fake.Endpoint{Address: "127.0.0.1", Port: 1}
	host, err := ssh.ParsePrivateKey(spec.HostKey)
	if err != nil {
		return nowhere
	}
	allowed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(spec.AuthorizedKey))
	if err != nil {
		return nowhere
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(k.Marshal(), allowed.Marshal()) {
			return nil, fmt.Errorf("this key isn't authorized")
		}
		return &ssh.Permissions{}, nil
	}}
	config.AddHostKey(host)
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.listeners)
	l, err := net.Listen("tcp4", fmt.Sprintf("127.%d.%d.%d:0", 170+n/62500, n/250%250, n%250+1))
	if err != nil {
		return nowhere
	}
	q.listeners = append(q.listeners, l)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go q.serve(c, config)
		}
	}()
	at := l.Addr().(*net.TCPAddr)
	return fake.Endpoint{Address: at.IP.String(), Port: at.Port, User: "root"}
}

func (q *quiet) serve(raw net.Conn, config *ssh.ServerConfig) {
	defer raw.Close()
	_, chans, reqs, err := ssh.NewServerConn(raw, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(reqs)
	for nc := range chans {
		if ch, reqs, err := nc.Accept(); err == nil {
			go q.session(ch, reqs)
		}
	}
}

var tokenWord = regexp.MustCompile(`muster-[0-9a-f]{16}`)

func (q *quiet) session(ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer ch.Close()
	for r := range reqs {
		if r.WantReply {
			_ = r.Reply(r.Type == "exec", nil)
		}
		var exec struct{ Line string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &exec) != nil {
			continue
		}
		go func() {
			status := q.carryOut(ch, exec.Line)
			_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			_ = ch.Close()
		}()
	}
}

// noResident is how a node without a fitting shell says that it cannot keep one for several commands.
const noResident = 126

func (q *quiet) carryOut(ch ssh.Channel, line string) (status uint32) {
	if strings.Contains(line, `" resident"`) || strings.Contains(line, ` resident" >&2`) {
		return noResident
	}
	_, _ = fmt.Fprintf(ch.Stderr(), "%s 1 /bin/sh\n", tokenWord.FindString(line))
	switch {
	case strings.Contains(line, "muster-node"):
		facts, said, status := q.ask(line)
		if status != 0 {
			_, _ = ch.Stderr().Write(said)
			return status
		}
		_, _ = fmt.Fprintf(ch, "muster-node time=%d\n%s", time.Now().Unix(), facts)
	case strings.Contains(line, "muster_scratch"): // it runs once
		q.waiting.Add(1)
		<-q.gate
		q.waiting.Add(-1)
	}
	return 0
}

// ask has this host answer what a node is asked about itself, until it has answered once. Where it does not, it returns what was
// said against it.
func (q *quiet) ask(line string) (facts, said []byte, status uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.facts != nil {
		return q.facts, nil, 0
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(os.Environ(), "MUSTER_STATE_ROOT="+q.dir+"/state")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, lifeline, err := os.Pipe()
	if err != nil {
		return nil, []byte(err.Error()), 1
	}
	defer lifeline.Close()
	defer in.Close()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, errs.Bytes(), uint32(max(cmd.ProcessState.ExitCode(), 1))
	}
	for l := range strings.Lines(out.String()) {
		if strings.HasPrefix(l, "muster-node ") && !strings.HasPrefix(l, "muster-node time=") {
			q.facts = append(q.facts, l...)
		}
	}
	return q.facts, nil, 0
}
