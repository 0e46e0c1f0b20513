//go:build unix

package remotetest

import (
	"net"
	"os"
	"syscall"
	"testing"
)

// ClosedPort returns a port of 127.0.0.1 that refuses connections until the test calls open or ends. A socket is bound to it that doesn't
// listen, so no other test's server gets that port.
func ClosedPort(t testing.TB) (port int, open func() (net.Listener, error)) {
	t.Helper()
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), "closed port")
	t.Cleanup(func() { _ = socket.Close() })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return at.(*syscall.SockaddrInet4).Port, func() (net.Listener, error) {
		if err := syscall.Listen(fd, syscall.SOMAXCONN); err != nil {
			return nil, err
		}
		return net.FileListener(socket)
	}
}
