package email

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
)

// fakeServer is a strict mail server. It refuses everything that isn't in order.
type fakeServer struct {
	t        *testing.T
	address  string
	tls      *tls.Config // offered by STARTTLS; nil: it isn't offered
	implicit bool
	user     string // AUTH PLAIN is required
	password string

	mu     sync.Mutex
	refuse map[string]string // the answer to a command instead, such as "RCPT": "550 no such person"
	drop   bool              // hang up after the message, without an answer
	mails  []string          // accepted messages
	to     []string
	faults []string
}

func (f *fakeServer) start(t *testing.T) *fakeServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.t, f.address = t, l.Addr().String()
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { f.serve(c) })
		}
	})
	return f
}

func (f *fakeServer) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeServer) fault(format string, args ...any) {
	f.set(func() { f.faults = append(f.faults, fmt.Sprintf(format, args...)) })
}

// got returns the accepted messages and their recipients, and fails the test if a client broke the rules.
func (f *fakeServer) got() (mails, to []string) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.faults) > 0 {
		f.t.Errorf("the client broke the protocol: %q", f.faults)
	}
	return append([]string{}, f.mails...), append([]string{}, f.to...)
}

func (f *fakeServer) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	encrypted := f.implicit
	if f.implicit {
		c = tls.Server(c, f.tls)
	}
	in := bufio.NewReader(c)
	say := func(text string) { _, _ = fmt.Fprintf(c, "%s\r\n", text) }
	say("220 fake ESMTP")
	authenticated, from, to := f.user == "", "", ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if !strings.HasSuffix(line, "\r\n") || len(line) > 512 {
			f.fault("a line of %d bytes, ended by %q", len(line), line[max(0, len(line)-2):])
			return
		}
		line = strings.TrimSuffix(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		f.mu.Lock()
		refusal := f.refuse[verb]
		f.mu.Unlock()
		switch {
		case refusal != "":
			say(refusal)
		case verb == "EHLO":
			say("250-fake")
			if f.tls != nil && !encrypted {
				say("250-STARTTLS")
			}
			if f.user != "" {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case verb == "STARTTLS" && f.tls != nil && !encrypted:
			say("220 go ahead")
			c = tls.Server(c, f.tls)
			in, encrypted, from, to = bufio.NewReader(c), true, "", ""
		case verb == "AUTH":
			authenticated = rest == "PLAIN "+plainSecret(f.user, f.password)
			say(map[bool]string{true: "235 ok", false: "535 5.7.8 wrong password"}[authenticated])
		case !authenticated && verb != "QUIT":
			say("530 5.7.0 authenticate first")
		case verb == "MAIL" && strings.HasPrefix(rest, "FROM:<") && from == "":
			from = rest
			say("250 ok")
		case verb == "RCPT" && strings.HasPrefix(rest, "TO:<") && from != "" && to == "":
			to = strings.TrimSuffix(strings.TrimPrefix(rest, "TO:<"), ">")
			say("250 ok")
		case verb == "DATA" && to != "":
			say("354 go ahead")
			b, err := textproto.NewReader(in).ReadDotBytes()
			if err != nil {
				f.fault("the message: %v", err)
				return
			}
			gone := false
			f.set(func() { f.mails, f.to, gone = append(f.mails, string(b)), append(f.to, to), f.drop })
			if from, to = "", ""; gone {
				return
			}
			say("250 queued")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			f.fault("unexpected %q", line)
			say("503 bad sequence")
		}
	}
}
