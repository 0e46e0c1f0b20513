package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// furnish turns the mounted root into a machine's: programs, devices, its own /etc, and nothing of the host's besides.
// It runs on the building thread, which from then on sees that root alone.
func (b *building) furnish() error {
	const root = "root" // mountRoot has gone to the machine's directory
	if b.record.Image == HostImage {
		if err := b.mountPrograms(root); err != nil {
			return err
		}
	}
	for _, d := range []string{"proc", "sys", "dev", "run"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	devices := openDevices()
	defer closeAll(devices)
	volumes, err := b.openVolumes()
	defer func() { closeFolders(volumes) }()
	if err != nil {
		return err
	}
	if err := enter(root); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	if err := mountKernel(devices); err != nil {
		return err
	}
	if err := mountVolumes(volumes); err != nil {
		return err
	}
	return b.writeEtc()
}

// mountPrograms lays the host's programs under the root, each tree with a layer of the machine's own above it.
func (b *building) mountPrograms(root string) error {
	prefix := ""
	if b.record.InMemory {
		prefix = memory + "/"
	}
	for _, tree := range programTrees {
		info, err := os.Lstat("/" + tree)
		if err != nil || !info.IsDir() {
			continue // absent, or a symbolic link, which the base has as well
		}
		if err := overlay(b.source(), "/"+tree, prefix+tree+"-", filepath.Join(root, tree)); err != nil {
			return err
		}
	}
	return nil
}

// enter makes root the root of the calling thread, and lets go of the old one.
func enter(root string) error {
	if err := unix.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	// The old root lies on top of the new one now.
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
}

type mounting struct {
	kind, target string
	flags        uintptr
	options      string
}

// mountKernel mounts what the kernel offers. /proc follows in process 1, which it must show as the first.
func mountKernel(devices map[string]*os.File) error {
	for _, m := range []mounting{
		{"tmpfs", "/run", unix.MS_NOSUID | unix.MS_NODEV, "mode=0755"},
		{"tmpfs", "/dev", unix.MS_NOSUID, "mode=0755,size=64k"},
		{"devpts", "/dev/pts", unix.MS_NOSUID | unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5"},
		{"tmpfs", "/dev/shm", unix.MS_NOSUID | unix.MS_NODEV, "mode=1777"},
	} {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.target, m.kind, m.flags, m.options); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	// Tools that look at the hardware complain without /sys, but all else works; some containers refuse it.
	_ = unix.Mount("sysfs", "/sys", "sysfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	for link, target := range map[string]string{
		"/dev/ptmx": "pts/ptmx", "/dev/fd": "/proc/self/fd",
		"/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, link); err != nil {
			return err
		}
	}
	return makeDevices(devices)
}

// nodeDevices are the devices that a machine has, by their numbers.
var nodeDevices = map[string][2]uint32{
	"null": {1, 3}, "zero": {1, 5}, "full": {1, 7}, "random": {1, 8}, "urandom": {1, 9}, "tty": {5, 0},
}

// openDevices takes hold of the host's devices, for where new ones may not be made.
func openDevices() map[string]*os.File {
	out := make(map[string]*os.File)
	for name := range nodeDevices {
		fd, err := unix.Open("/dev/"+name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == nil {
			out[name] = os.NewFile(uintptr(fd), name)
		}
	}
	return out
}

func closeAll(files map[string]*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func makeDevices(host map[string]*os.File) error {
	for name, number := range nodeDevices {
		path := "/dev/" + name
		err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(number[0], number[1])))
		if errors.Is(err, unix.EPERM) && host[name] != nil {
			err = bindDevice(host[name], path)
		} else if err == nil {
			err = os.Chmod(path, 0o666) // whatever the umask
		}
		if err != nil {
			return fmt.Errorf("create %s: %w", path, err)
		}
	}
	return nil
}

// bindDevice shows a host's device at path. It works through the open file, since its own path is out of reach.
func bindDevice(f *os.File, path string) error {
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		return err
	}
	tree, err := unix.OpenTree(int(f.Fd()), "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open_tree: %w", err)
	}
	defer func() { _ = unix.Close(tree) }()
	return unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// writeEtc writes what only this machine has. Paths are the machine's own; symbolic links in an image cannot lead
// out of it.
func (b *building) writeEtc() error {
	name := b.record.Hostname
	names := name
	if short, _, dotted := strings.Cut(name, "."); dotted {
		names += " " + short
	}
	server := ""
	if b.sshd.penalties {
		server = "PerSourcePenalties no\n"
	}
	for _, d := range []struct {
		path string
		mode fs.FileMode
	}{
		{"/etc/ssh", 0o755}, {"/run/sshd", 0o755}, {"/var/empty/sshd", 0o755}, {"/root", 0o700}, {"/root/.ssh", 0o700},
	} {
		if err := os.MkdirAll(d.path, d.mode); err != nil {
			return err
		}
		if err := os.Chmod(d.path, d.mode); err != nil {
			return err
		}
	}
	if b.again {
		return nil // all else is as the machine has left it
	}
	for _, f := range []struct {
		path, content string
		mode          fs.FileMode
	}{
		{"/etc/hostname", name + "\n", 0o644},
		{"/etc/hosts", fmt.Sprintf("127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n%s %s\n", b.record.Address, names), 0o644},
		{"/etc/ssh/sshd_config", sshdConfig + server, 0o644},
		{"/etc/ssh/ssh_host_ed25519_key", string(b.keys.hostPEM), 0o600},
		{"/etc/ssh/ssh_host_ed25519_key.pub", b.keys.hostPublic + "\n", 0o644},
		{"/root/.ssh/authorized_keys", b.keys.authorized + "\n", 0o600},
	} {
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(f.path, []byte(f.content), f.mode); err != nil {
			return err
		}
		if err := os.Chmod(f.path, f.mode); err != nil {
			return err
		}
	}
	return nil
}

// sshdConfig lets root in by key alone, and as often as a busy worker likes.
const sshdConfig = `Port 22
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile .ssh/authorized_keys
PermitRootLogin prohibit-password
PubkeyAuthentication yes
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PidFile none
PrintMotd no
X11Forwarding no
MaxStartups 1000
MaxSessions 100
MaxAuthTries 20
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
`
