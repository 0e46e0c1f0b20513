package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"muster/app"
)

// namespaces makes machines of the kernel's own parts. Everything that a machine has outside its directory (mounts, network
// device, processes) hangs on its process 1 and goes with it; only the bridge is separate.
type namespaces struct {
	files layout
	log   *slog.Logger
	net   *network
	slots chan struct{} // each machine in the making occupies a thread and a few processes

	mu       sync.Mutex
	programs *programs
	refusal  error
	probed   bool
}

var _ backend = (*namespaces)(nil)

func newNamespaces(l layout, s settings, log *slog.Logger) *namespaces {
	return &namespaces{files: l, log: log, net: newNetwork(l, s.subnet, log), slots: make(chan struct{}, 2+2*runtime.NumCPU())}
}

// possible tries it out, once: see probe.
func (n *namespaces) possible(ctx context.Context, image string) error {
	n.mu.Lock()
	if !n.probed {
		n.programs, n.refusal = probe(ctx, n.files)
		n.probed = ctx.Err() == nil
	}
	err := n.refusal
	n.mu.Unlock()
	if err != nil || image == HostImage {
		return err
	}
	return n.files.checkImage(image)
}

func (n *namespaces) start(ctx context.Context, r *record, k keys) error {
	return n.run(ctx, r, k, false)
}

// run makes a machine run: a new one, or again one whose files are there.
func (n *namespaces) run(ctx context.Context, r *record, k keys, again bool) error {
	select {
	case n.slots <- struct{}{}:
		defer func() { <-n.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	subnet, err := n.net.ensure(ctx)
	if err != nil {
		return err
	}
	address, err := n.files.claim(ctx, r.ID, subnet, addressAgain(r, subnet), func(netip.Addr) bool { return true })
	if err != nil {
		return err
	}
	r.Address, r.Port, r.User = address.String(), 22, "root"
	if err := n.files.save(r); err != nil {
		return err
	}
	base := r.Image
	if r.Image == HostImage {
		if _, err := os.Stat(filepath.Join(n.files.dir, r.Base)); !again || r.Base == "" || err != nil {
			if r.Base, err = n.files.hostBase(ctx); err != nil {
				return fmt.Errorf("image host: %w", err)
			}
		}
		base = "../../" + r.Base
	}
	sshd, err := n.programs.sshd(r.Image)
	if err != nil {
		return err
	}
	b := &building{
		record: r, keys: k, again: again, base: base, sshd: sshd, files: n.files, net: n.net, log: n.log,
		prefix: netip.PrefixFrom(address, subnet.Bits()),
	}
	if again {
		if b.volumes, err = n.files.volumesOf(r.ID); err != nil {
			return err
		}
	}
	return b.run(ctx)
}

func (n *namespaces) alive(r *record) (bool, string) {
	r.Init.reap()
	note := "namespaces + OpenSSH"
	if r.InMemory {
		note += ", files in memory"
	}
	if r.Init.alive() {
		return true, note
	}
	note += "; its process 1 isn't running"
	if last := lastLine(n.files.file(r.ID, "log")); last != "" {
		note += ": " + last
	}
	return false, note
}

// lastLine returns the end of a log, "" where there is none.
func lastLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	b = bytes.TrimSpace(b)
	return strings.TrimSpace(string(b[bytes.LastIndexByte(b, '\n')+1:]))
}

func (n *namespaces) stop(ctx context.Context, r *record) error {
	if err := r.Init.kill(ctx); err != nil {
		return err
	}
	return n.net.unplug(ctx, r.ID)
}

func (n *namespaces) resume(context.Context, []*record) {}

func (n *namespaces) tidy(ctx context.Context, last bool) {
	if !last {
		return
	}
	n.files.dropBases()
	if err := n.net.remove(ctx); err != nil {
		n.log.Warn("could not remove the sandbox's bridge", "bridge", n.net.bridge, "error", err)
	}
}

func (n *namespaces) close() error { return nil }

// checkImage wants a directory that holds a root file system with an SSH server, and that overlaps neither with the
// data directory nor with the host's own root.
func (l layout) checkImage(image string) error {
	real, err := filepath.EvalSymlinks(image)
	if err != nil {
		return err
	}
	if real == "/" || within(l.dir, real) {
		return app.Errorf(app.EInvalid, "%s contains the sandbox's own data directory", image)
	}
	if strings.ContainsAny(image, ":,\\") {
		return app.Errorf(app.EInvalid, `an image's path can't contain ":", "," or "\"`)
	}
	if _, err := sshdPath(image); err != nil {
		return err
	}
	return nil
}

// sshdPath finds the SSH server below a root, as seen from inside it.
func sshdPath(root string) (string, error) {
	for _, p := range []string{"/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd", "/usr/lib/ssh/sshd"} {
		if info, err := os.Stat(filepath.Join(root, p)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("no OpenSSH server (sshd) in %s", filepath.Join(root, "usr/sbin"))
}

// probe tries, on a thread that is then thrown away, all that a machine needs: namespaces, mounts, a bridge, a pair of
// network devices. Nothing of it touches the host. The error says in words what is missing.
func probe(ctx context.Context, l layout) (*programs, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("it requires root")
	}
	if _, err := sshdPath("/"); err != nil {
		return nil, err
	}
	if within(l.dir, "/usr") {
		return nil, errors.New("the data directory can't be below /usr, which machines share")
	}
	if err := runIP(ctx, "link show lo"); err != nil {
		return nil, fmt.Errorf("requires iproute2: %w", err)
	}
	dir, err := os.MkdirTemp(l.trash(), "probe-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	err = onThread(func() error {
		if err := unix.Unshare(newNamespacesFlags); err != nil {
			return fmt.Errorf("requires permission to create namespaces: %w", err)
		}
		if err := mountRoot("probe", "/usr", dir, new(bool)); err != nil {
			return fmt.Errorf("requires overlay file systems: %w", err)
		}
		if err := runIP(ctx, "link add probe type bridge", "link add probe-a type veth peer name probe-b"); err != nil {
			return fmt.Errorf("requires bridges and veth devices: %w", err)
		}
		return nil
	})
	return newPrograms(), err
}
