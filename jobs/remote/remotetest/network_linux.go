package remotetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Network is a network namespace with nothing but a loopback of its own: what listens in it can't be reached from this process's network, and
// the other way round.
type Network struct {
	t  testing.TB
	ns *os.File
}

// NewNetwork creates a network, which needs root.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	n := &Network{t: t}
	err := onThread(func() (err error) {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("can't create a network namespace, which needs root: %w", err)
		}
		if n.ns, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return err
		}
		return loopbackUp()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.ns.Close() })
	return n
}

// onThread calls f on a thread that ends afterwards, since f may move it to another namespace.
func onThread(f func() error) error {
	end := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if unix.Gettid() == os.Getpid() {
			// The first thread never ends. While this goroutine keeps it, another one is used.
			end <- onThread(f)
			runtime.UnlockOSThread()
			return
		}
		end <- f()
	}()
	return <-end
}

// loopbackUp switches on the loopback of the thread's network.
func loopbackUp() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r)
}

// do calls f on a thread in the network. Sockets that f opens stay in it.
func (n *Network) do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(int(n.ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
}

// Command is exec.Command in the network. A nil network is this process's.
func (n *Network) Command(name string, args ...string) *exec.Cmd {
	if n == nil {
		return exec.Command(name, args...)
	}
	return exec.Command("nsenter", append([]string{fmt.Sprintf("--net=/proc/%d/fd/%d", os.Getpid(), n.ns.Fd()), "--", name}, args...)...)
}

// Listen listens in the network, until the test ends.
func (n *Network) Listen(address string) net.Listener {
	n.t.Helper()
	var l net.Listener
	if err := n.do(func() (err error) { l, err = net.Listen("tcp", address); return err }); err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = l.Close() })
	return l
}

// dial connects to an address in the network.
func (n *Network) dial(_ context.Context, network, address string) (c net.Conn, err error) {
	err = n.do(func() (err error) { c, err = net.Dial(network, address); return err })
	return c, err
}

// OpenSSH is an sshd on the network's own loopback.
func (n *Network) OpenSSH() *Node {
	n.t.Helper()
	return openSSH(n.t, n.Command, n.dial)
}

// Admit lets the network reach an address of this process's network under the same address.
func (n *Network) Admit(address string) {
	n.t.Helper()
	l := n.Listen(address)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go pass(in, address)
		}
	}()
}

// pass connects a connection to an address of this process's network.
func pass(in net.Conn, address string) {
	defer in.Close()
	out, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { _, _ = io.Copy(out, in); _ = out.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(in, out)
}
