package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
)

// Target is where a machine is and what it must prove.
type Target struct {
	Name    string // for people
	Address string // host:port
	User    string
	HostKey string // authorized_keys form
	// Pin is asked for a machine whose HostKey is "": it gets the key that the machine presents, keeps it, and returns the one that counts.
	Pin func(key string) (string, error)
}

// Dialer connects to an address, as net.Dialer's DialContext does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// dial returns a connection whose both sides are proven. slots bounds those that compute; a machine that has not greeted yet takes none.
func dial(ctx context.Context, via Dialer, t Target, key Key, limit time.Duration, slots chan struct{}) (*ssh.Client, error) {
	var known ssh.PublicKey
	if t.HostKey != "" {
		var err error
		if known, _, _, _, err = ssh.ParseAuthorizedKey([]byte(t.HostKey)); err != nil {
			return nil, app.Errorf(app.EInternal, "can't parse the host key of %s", t.Name)
		}
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if via == nil {
		via = (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext
	}
	raw, err := via(limited, "tcp", t.Address)
	if err != nil {
		return nil, unreachable(ctx, t, err)
	}
	// A deadline in the past wakes every read and write at once.
	stop := context.AfterFunc(limited, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	c, err := handshake(limited, t, raw, key, known, slots)
	if !stop() && err == nil {
		err = limited.Err()
		_ = c.Close()
	}
	if err != nil {
		_ = raw.Close()
		return nil, unreachable(ctx, t, err)
	}
	return c, nil
}

func handshake(ctx context.Context, t Target, raw net.Conn, key Key, known ssh.PublicKey, slots chan struct{}) (*ssh.Client, error) {
	in := bufio.NewReaderSize(raw, 512)
	if _, err := in.Peek(1); err != nil {
		return nil, fmt.Errorf("no greeting: %w", err)
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	conf := &ssh.ClientConfig{
		User: t.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(key.signer)}, HostKeyAlgorithms: algorithms(known),
		HostKeyCallback: func(_ string, _ net.Addr, shown ssh.PublicKey) error {
			if known != nil {
				if !bytes.Equal(shown.Marshal(), known.Marshal()) {
					return wrongHostKey(t, known, ssh.FingerprintSHA256(shown))
				}
				return nil
			}
			if t.Pin == nil {
				return app.Errorf(app.EHostKey, "The host key of machine %s is unknown.", t.Name)
			}
			kept, err := t.Pin(written(shown))
			if err != nil {
				return err
			}
			if kept != written(shown) {
				return app.Errorf(app.EHostKey, "Machine %s presents another host key than on first contact.", t.Name)
			}
			return nil
		},
	}
	conn, chans, reqs, err := ssh.NewClientConn(&peeked{raw, in}, t.Address, conf)
	if err != nil {
		var none *ssh.AlgorithmNegotiationError
		if known != nil && errors.As(err, &none) && none.What == "host key" {
			err = wrongHostKey(t, known, "a different type of key ("+strings.Join(none.RequestedAlgorithms, ", ")+")")
		}
		return nil, err
	}
	return ssh.NewClient(conn, chans, reqs), nil
}

// peeked is a connection of which the first bytes wait in a buffer.
type peeked struct {
	net.Conn
	in *bufio.Reader
}

func (p *peeked) Read(b []byte) (int, error) { return p.in.Read(b) }

func wrongHostKey(t Target, known ssh.PublicKey, shown string) error {
	e := app.Errorf(app.EHostKey, "The machine at %s couldn't prove that it's %s: the host key on record is %s, but it presented %s.", t.Address, t.Name, ssh.FingerprintSHA256(known), shown)
	e.Hint = "Compare the key with the one on the machine's console. If it was reinstalled, correct host_key in the inventory, or remove the pinned key from the account's data directory."
	return e
}

// unreachable says in one sentence why there is no connection. ctx is the caller's.
func unreachable(ctx context.Context, t Target, err error) error {
	var coded *app.Error
	switch {
	case errors.As(err, &coded):
		return coded
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(err.Error(), "unable to authenticate"): // x/crypto has no type for this one
		e := app.Errorf(app.ECredentials, "Machine %s refused the account's key for user %s.", t.Name, t.User)
		e.Hint = "Add the public key of ssh_key to the user's authorized_keys, or correct user= on the machine's line."
		return e
	}
	e := app.Errorf(app.ETransient, "Machine %s isn't responding at %s: %w.", t.Name, t.Address, err)
	e.Reason = noAnswer
	e.Hint = "Check that it's running and that Muster can reach its SSH port. To take it out of service, add the word out to its line."
	return e
}

// noAnswer is the reason of errors of machines that cannot be reached, or were lost.
const noAnswer = "no_answer"
