//go:build unix

package sandbox

import (
	"context"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// forwardTime is how long connecting to a port may take.
const forwardTime = 5 * time.Second

// forward connects a channel to a port of this host's loopback, which machines share and their shells reach anyway; to nothing else.
func forward(ctx context.Context, n ssh.NewChannel) {
	var to struct {
		Host       string
		Port       uint32
		Origin     string
		OriginPort uint32
	}
	if ssh.Unmarshal(n.ExtraData(), &to) != nil || to.Port == 0 || to.Port > 65535 {
		_ = n.Reject(ssh.Prohibited, "not an address")
		return
	}
	if ip := net.ParseIP(to.Host); to.Host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		_ = n.Reject(ssh.Prohibited, "machines in the sandbox forward ports of their host's loopback only")
		return
	}
	dialer := net.Dialer{Timeout: forwardTime}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(to.Host, strconv.FormatUint(uint64(to.Port), 10)))
	if err != nil {
		_ = n.Reject(ssh.ConnectionFailed, "connection refused")
		return
	}
	defer conn.Close()
	ch, requests, err := n.Accept()
	if err != nil {
		return
	}
	defer ch.Close()
	go ssh.DiscardRequests(requests)
	defer context.AfterFunc(ctx, func() { _ = conn.Close(); _ = ch.Close() })()
	var both sync.WaitGroup
	half := func(closeWrite func() error, err error) {
		if err != nil || closeWrite() != nil {
			_, _ = conn.Close(), ch.Close()
		}
	}
	both.Go(func() {
		_, err := io.Copy(conn, ch)
		half(conn.(*net.TCPConn).CloseWrite, err)
	})
	both.Go(func() {
		_, err := io.Copy(ch, conn)
		half(ch.CloseWrite, err)
	})
	both.Wait()
}
