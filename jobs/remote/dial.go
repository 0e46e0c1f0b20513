package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

const (
	dialLimit = 15 * time.Second // from the first packet to a shell
	keepalive = 15 * time.Second // between two questions whether the other side is there, and for its answer
)

// handshakes bounds the handshakes that compute at the same time, in the whole process: each is about a millisecond of
// our time and some 25 of the node's, and a thousand at once would all run into dialLimit.
var handshakes atomic.Pointer[chan struct{}]

func init() { setHandshakes(64) }

// setHandshakes says how many handshakes may run at the same time in this process; less than 1 is 1. Those that are
// running are not counted among the new ones.
func setHandshakes(n int) {
	slots := make(chan struct{}, max(n, 1))
	handshakes.Store(&slots)
}

// settings are what tests turn.
type settings struct {
	dialLimit time.Duration
	connect   time.Duration // of dialLimit, until the other side has taken the connection; 0: all of it
	keepalive time.Duration
	authGrace time.Duration
	killAfter time.Duration
	outputMax int
	rate      int // bytes a second
	burst     int // bytes that may come at once
	drain     time.Duration
	resident  bool // commands under a claim may be run by a resident
}

func defaults() settings {
	return settings{
		dialLimit: dialLimit, keepalive: keepalive, authGrace: authGrace,
		killAfter: killAfter, outputMax: outputMax, rate: outputRate, burst: outputBurst, drain: drainGrace,
		resident: true,
	}
}

// Dial connects, proves both sides and returns the connection; Close it. It gives up after 15 seconds, or when ctx ends.
// A machine that is not there is ETransient, one that shows another key than t.HostKey is EHostKey, one that refuses
// our key is ECredentials with reason "auth_refused".
func Dial(ctx context.Context, t Target) (*Conn, error) {
	return dial(ctx, t, defaults())
}

func dial(ctx context.Context, t Target, set settings) (*Conn, error) {
	signer, err := t.signer()
	if err != nil {
		return nil, err
	}
	want, err := t.pinned()
	if err != nil {
		return nil, err
	}

	limited, cancel := context.WithTimeout(ctx, set.dialLimit)
	defer cancel()
	connect := t.Guard
	if connect == nil {
		connect = (&net.Dialer{KeepAlive: set.keepalive}).DialContext
	}
	reach, reached := context.WithCancel(limited)
	if set.connect > 0 {
		reach, reached = context.WithTimeout(limited, set.connect)
	}
	raw, err := connect(reach, "tcp", t.endpoint())
	reached()
	if err != nil {
		return nil, dialError(ctx, t, err)
	}
	// A deadline in the past wakes every read and write at once.
	stop := context.AfterFunc(limited, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	g, err := handshake(limited, t, raw, signer, want)
	if !stop() && err == nil {
		err = limited.Err()
		_ = g.conn.Close()
		go ssh.DiscardRequests(g.reqs) // ends with the connection, as does the list of channels, which no one fills
	}
	if err != nil {
		_ = raw.Close()
		return nil, dialError(ctx, t, err)
	}
	return newConn(t, g, set), nil
}

// greeted is what a handshake returns.
type greeted struct {
	conn  ssh.Conn
	chans <-chan ssh.NewChannel
	reqs  <-chan *ssh.Request
	seen  ssh.PublicKey
}

// handshake waits for the other side to speak first, as SSH servers do, and only then takes one of the handshake
// slots: a machine that is still booting must not hold back those that are up.
func handshake(ctx context.Context, t Target, raw net.Conn, s ssh.Signer, want ssh.PublicKey) (g greeted, err error) {
	in := bufio.NewReaderSize(raw, 512)
	if _, err := in.Peek(1); err != nil {
		return g, fmt.Errorf("no greeting: %w", err)
	}
	slots := *handshakes.Load()
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return g, ctx.Err()
	}

	conf := &ssh.ClientConfig{
		User:              t.user(),
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(s)},
		HostKeyAlgorithms: hostKeyAlgorithms(want),
		HostKeyCallback: func(_ string, _ net.Addr, k ssh.PublicKey) error {
			g.seen = k
			if want != nil && !bytes.Equal(k.Marshal(), want.Marshal()) {
				return hostKeyError(t, want, ssh.FingerprintSHA256(k))
			}
			return nil
		},
		Config: ssh.Config{
			Ciphers: []string{
				ssh.CipherAES128GCM, ssh.CipherAES256GCM, ssh.CipherChaCha20Poly1305,
				ssh.CipherAES128CTR, ssh.CipherAES192CTR, ssh.CipherAES256CTR,
			},
			KeyExchanges: []string{
				ssh.KeyExchangeCurve25519, ssh.KeyExchangeMLKEM768X25519, ssh.KeyExchangeECDHP256,
				ssh.KeyExchangeECDHP384, ssh.KeyExchangeECDHP521, ssh.KeyExchangeDH16SHA512, ssh.KeyExchangeDH14SHA256,
			},
		},
	}
	g.conn, g.chans, g.reqs, err = ssh.NewClientConn(&peeked{raw, in}, t.endpoint(), conf)
	if err != nil {
		var neg *ssh.AlgorithmNegotiationError
		if want != nil && errors.As(err, &neg) && neg.What == "host key" {
			err = hostKeyError(t, want, "a different type of key ("+strings.Join(neg.RequestedAlgorithms, ", ")+")")
		}
	}
	return g, err
}

// peeked is a connection of which the first bytes wait in a buffer.
type peeked struct {
	net.Conn
	in *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.in.Read(b) }

// hostKeyAlgorithms asks for the pinned key's own kind, since a machine with several keys shows only one of them.
func hostKeyAlgorithms(want ssh.PublicKey) []string {
	rsa := []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	switch {
	case want == nil:
		return append([]string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521}, rsa...)
	case want.Type() == ssh.KeyAlgoRSA:
		return rsa
	}
	return []string{want.Type()}
}

func hostKeyError(t Target, want ssh.PublicKey, got string) *app.Error {
	return &app.Error{
		Code: app.EHostKey,
		Message: fmt.Sprintf("The machine at %s couldn't prove its identity: the host key on record is %s, but it presented %s.",
			t.endpoint(), ssh.FingerprintSHA256(want), got),
		Hint: "Another machine may have taken over the address, or this one was reinstalled. Nothing was sent to it. " +
			"Compare the key with the one on the machine's console. If the machine is lost, delete or repair the node.",
	}
}

// dialError says in one sentence why there is no connection. ctx is the caller's: only when that one has ended is it a
// time-out or a cancel and not simply a machine that does not answer.
func dialError(ctx context.Context, t Target, err error) error {
	var coded *app.Error
	if errors.As(err, &coded) {
		return coded
	}
	if ctx.Err() != nil {
		return ended(ctx, "connecting to "+t.endpoint())
	}
	// x/crypto has no type for this one.
	if strings.Contains(err.Error(), "unable to authenticate") {
		return &app.Error{
			Code: app.ECredentials, Reason: "auth_refused",
			Message: fmt.Sprintf("The machine at %s refused the key of user %s.", t.endpoint(), t.user()),
			Hint:    "Check that the image's SSH user is right and that the cluster's public key is in its authorized_keys.",
		}
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return &app.Error{Code: app.ETransient, Reason: "no_answer", Message: "The machine at " + t.endpoint() + " isn't responding", Err: err}
	}
	return &app.Error{Code: app.ETransient, Reason: "no_connection", Message: "Can't open an SSH connection to " + t.endpoint(), Err: err}
}

// ended turns the end of ctx into ETimeout or ECancelled. What is the beginning of the sentence.
func ended(ctx context.Context, what string) *app.Error {
	what = strings.ToUpper(what[:1]) + what[1:]
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &app.Error{Code: app.ETimeout, Message: what + " timed out", Err: ctx.Err()}
	}
	return &app.Error{Code: app.ECancelled, Message: what + " was cancelled", Err: ctx.Err()}
}
