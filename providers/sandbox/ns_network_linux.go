package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"muster/app"
)

// network is the bridge that connects the machines of one data directory with the host, which has the first address.
type network struct {
	files  layout
	log    *slog.Logger
	wanted netip.Prefix // not valid: choose
	hash   string       // of the data directory, in the names of devices
	bridge string
}

func newNetwork(l layout, wanted netip.Prefix, log *slog.Logger) *network {
	sum := sha256.Sum256([]byte(l.dir))
	hash := hex.EncodeToString(sum[:])
	return &network{files: l, log: log, wanted: wanted, hash: hash[:5], bridge: "mb" + hash[:10]}
}

// device is the name of the host's end of a machine's cable, at most the 15 characters that the kernel allows.
func (n *network) device(id string) string {
	return "mv" + n.hash + strings.TrimPrefix(id, "sb-")[:8]
}

// ensure returns the bridge's network, making the bridge if it is not there. The caller's record must stand, since a
// bridge without any machine is removed.
func (n *network) ensure(ctx context.Context) (netip.Prefix, error) {
	unlock, err := lockFile(ctx, n.files.lock())
	if err != nil {
		return netip.Prefix{}, err
	}
	defer unlock()
	if p, err := n.standing(); err != nil || p.IsValid() {
		return p, err
	}
	unlockHost, err := lockHost(ctx)
	if err != nil {
		return netip.Prefix{}, err
	}
	defer unlockHost()
	p, err := n.choose()
	if err != nil {
		return netip.Prefix{}, err
	}
	host := p.Addr().Next()
	if err := runIP(ctx,
		// A fixed hardware address keeps it from changing with every machine that comes and goes.
		fmt.Sprintf("link add %s address %s type bridge", n.bridge, hardwareAddress(host)),
		fmt.Sprintf("addr add %s/%d dev %s", host, p.Bits(), n.bridge),
		fmt.Sprintf("link set %s up", n.bridge),
	); err != nil {
		_ = runIP(ctx, "link del "+n.bridge)
		return netip.Prefix{}, fmt.Errorf("create the bridge: %w", err)
	}
	n.warnOfFilter(ctx)
	return p, nil
}

// standing returns the network of the bridge that is there; not valid where there is none.
func (n *network) standing() (netip.Prefix, error) {
	ifi, err := net.InterfaceByName(n.bridge)
	if err != nil {
		return netip.Prefix{}, nil //nolint:nilerr // no such bridge
	}
	addrs, err := ifi.Addrs()
	if err != nil {
		return netip.Prefix{}, err
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && ifi.Flags&net.FlagUp != 0 {
			return p.Masked(), nil
		}
	}
	// Someone was stopped half way through making it.
	return netip.Prefix{}, runIP(context.Background(), "link del "+n.bridge)
}

// choose takes the network that is asked for, or else the first of a list that nothing on this host uses.
func (n *network) choose() (netip.Prefix, error) {
	used, err := usedNetworks()
	if err != nil {
		return netip.Prefix{}, err
	}
	candidates := []netip.Prefix{n.wanted}
	if !n.wanted.IsValid() {
		candidates = candidates[:0]
		for second := byte(78); second < 100; second++ {
			candidates = append(candidates, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, second, 0, 0}), 16))
		}
	}
	for _, c := range candidates {
		if !overlaps(used, c) {
			return c, nil
		}
	}
	if n.wanted.IsValid() {
		e := app.Errorf(app.EConflict, "network %s is in use on this host", n.wanted)
		e.Hint = "Leave the setting subnet empty to pick a free network."
		return netip.Prefix{}, e
	}
	return netip.Prefix{}, app.Errorf(app.ECapacity, "no network from 10.78.0.0/16 to 10.99.0.0/16 is available on this host")
}

func overlaps(used []netip.Prefix, p netip.Prefix) bool {
	for _, u := range used {
		if u.Overlaps(p) {
			return true
		}
	}
	return false
}

// usedNetworks returns those of the host's own addresses and those it has routes to, save the default route.
func usedNetworks() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var used []netip.Prefix
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			used = append(used, p.Masked())
		}
	}
	// Of the thread that asks, since /proc/net would be that of the process's first one.
	routes, err := os.ReadFile("/proc/thread-self/net/route")
	if err != nil {
		return used, nil //nolint:nilerr // without /proc the addresses have to do
	}
	for line := range strings.Lines(string(routes)) {
		if p, ok := parseRoute(line); ok {
			used = append(used, p)
		}
	}
	return used, nil
}

// parseRoute reads a line of /proc/net/route, whose addresses are hexadecimal in the machine's byte order.
func parseRoute(line string) (netip.Prefix, bool) {
	f := strings.Fields(line)
	if len(f) < 8 {
		return netip.Prefix{}, false
	}
	to, err1 := hex.DecodeString(f[1])
	mask, err2 := hex.DecodeString(f[7])
	if err1 != nil || err2 != nil || len(to) != 4 || len(mask) != 4 {
		return netip.Prefix{}, false
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		to = []byte{to[3], to[2], to[1], to[0]}
		mask = []byte{mask[3], mask[2], mask[1], mask[0]}
	}
	bits, _ := net.IPMask(mask).Size()
	return netip.PrefixFrom(netip.AddrFrom4([4]byte(to)), bits), bits > 0
}

// plug returns the thread tid, which is in its new network namespace, the other end of a cable. It runs on the host's side.
func (n *network) plug(ctx context.Context, id string, a netip.Addr, tid int) error {
	dev := n.device(id)
	if _, err := os.Stat("/sys/class/net/" + dev); err == nil {
		// The kernel takes a moment to clear away the device of a machine that has just gone.
		if err := n.unplug(ctx, id); err != nil {
			return err
		}
	}
	return runIP(ctx,
		// The hardware address follows from the address, so that no one remembers a wrong one when it is used again.
		fmt.Sprintf("link add %s numtxqueues 1 numrxqueues 1 type veth peer name eth0 address %s numtxqueues 1 numrxqueues 1 netns %d",
			dev, hardwareAddress(a), tid),
		fmt.Sprintf("link set %s addrgenmode none master %s up", dev, n.bridge),
	)
}

// unplug removes the host's end of a machine's cable, if it is there.
func (n *network) unplug(ctx context.Context, id string) error {
	dev := n.device(id)
	if _, err := net.InterfaceByName(dev); err != nil {
		return nil //nolint:nilerr // no such device
	}
	err := runIP(ctx, "link del "+dev)
	if err == nil {
		return nil
	}
	if _, gone := net.InterfaceByName(dev); gone != nil {
		return nil //nolint:nilerr // the kernel was first
	}
	return err
}

// remove removes the bridge, if it is there. The caller holds the directory's lock.
func (n *network) remove(ctx context.Context) error {
	if _, err := net.InterfaceByName(n.bridge); err != nil {
		return nil //nolint:nilerr // no such bridge
	}
	return runIP(ctx, "link del "+n.bridge)
}

// warnOfFilter tells of a packet filter that keeps machines from each other: container engines set such a one.
func (n *network) warnOfFilter(ctx context.Context) {
	b, err := os.ReadFile("/proc/sys/net/bridge/bridge-nf-call-iptables")
	if err != nil || strings.TrimSpace(string(b)) != "1" {
		return
	}
	out, err := exec.CommandContext(ctx, "iptables", "-S", "FORWARD").Output()
	if err == nil && bytes.Contains(out, []byte("-P FORWARD DROP")) {
		n.log.Warn("this host's packet filter drops traffic between sandbox machines",
			"remedy", fmt.Sprintf("iptables -I FORWARD -i %s -o %s -j ACCEPT", n.bridge, n.bridge))
	}
}

func hardwareAddress(a netip.Addr) string {
	b := a.As4()
	return fmt.Sprintf("02:6d:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
}

// lockHost keeps sandboxes of other data directories from choosing the same network. The name of an abstract socket
// belongs to the network namespace, which is just what is shared, and goes with its process.
func lockHost(ctx context.Context) (unlock func(), err error) {
	for {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@muster-sandbox-network", Net: "unix"})
		if err == nil {
			return func() { _ = l.Close() }, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// runIP runs commands of iproute2's ip, in the network namespace of the calling thread, up to the first that fails.
func runIP(ctx context.Context, commands ...string) error {
	path, err := findProgram("ip")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	cmd.Env = []string{"LC_ALL=C"}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("ip: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return nil
}

// findProgram looks where root's programs are too, which a service's PATH may leave out.
func findProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"} {
		if p, e := exec.LookPath(dir + name); e == nil {
			return p, nil
		}
	}
	return "", err
}
