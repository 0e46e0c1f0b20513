package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// newNamespacesFlags is all that the building thread leaves behind. The process namespace is the child's.
const newNamespacesFlags = unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// building is one machine in the making. A thread moves into new namespaces, sets them up with system calls, starts
// process 1 from there and ends, so that from then on process 1 alone holds them. Should Muster die at any point, the
// kernel takes everything back but the directory.
type building struct {
	record *record
	keys   keys
	again  bool   // its files are there, with its keys
	base   string // the lower directory of the root
	sshd   sshServer
	files  layout
	net    *network
	log    *slog.Logger
	prefix netip.Prefix // address and network's length

	volumes []*volume // that it had before, where it is made to run again
}

// initScript is what process 1 runs before it becomes the SSH server. It waits for a word, which comes only after its
// number has been written down: if Muster dies before that, read fails and it ends.
const initScript = `IFS= read -r go || exit 1
mount -t proc -o nosuid,nodev,noexec proc /proc || exit 1
exec "$0" -D -e -f /etc/ssh/sshd_config </dev/null`

func (b *building) run(ctx context.Context) error {
	log, err := os.OpenFile(b.files.file(b.record.ID, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	hold, word, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = word.Close() }()
	err = onThread(func() error { return b.onThread(ctx, hold, log) })
	_ = hold.Close()
	if err != nil {
		return err
	}
	if err := b.files.save(b.record); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err = io.WriteString(word, "go\n")
	return err
}

// onThread runs on a thread of its own.
func (b *building) onThread(ctx context.Context, hold, log *os.File) error {
	if err := unix.Unshare(newNamespacesFlags); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := b.connect(ctx); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	if err := setHostname(b.record.Hostname); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if err := mountRoot(b.source(), b.base, b.files.node(b.record.ID), &b.record.InMemory); err != nil {
		return err
	}
	if b.again && b.record.InMemory {
		b.record.InMemory = false
		return errors.New("can't mount the machine's files again")
	}
	if err := b.furnish(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.startInit(hold, log)
}

// source names the machine in the list of mounts that the machine itself sees.
func (b *building) source() string { return "muster:" + b.net.hash + ":" + b.record.ID }

// connect plugs the cable in. The host's end is made by another thread, one that has stayed in the host's namespace.
func (b *building) connect(ctx context.Context) error {
	plugged := make(chan error, 1)
	tid := unix.Gettid()
	go func() { plugged <- b.net.plug(ctx, b.record.ID, b.prefix.Addr(), tid) }()
	if err := <-plugged; err != nil {
		return err
	}
	return runIP(ctx,
		fmt.Sprintf("addr add %s dev eth0", b.prefix),
		"link set eth0 up",
		"link set lo up",
	)
}

// setHostname sets the kernel's name to the full name, or the first label where that is too long for it.
func setHostname(name string) error {
	if len(name) > 64 {
		name, _, _ = strings.Cut(name, ".")
	}
	return unix.Sethostname([]byte(name))
}

// startInit starts process 1. It is in a session of its own and outlives us; it is asked for nothing until the word.
func (b *building) startInit(hold, log *os.File) error {
	dropCapabilities()
	p, err := os.StartProcess("/bin/sh", []string{"/bin/sh", "-c", initScript, b.sshd.path}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"PATH=" + nodePath, "HOME=/root", "LANG=C.UTF-8"},
		Files: []*os.File{hold, log, log},
		Sys:   &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_NEWPID},
	})
	if err != nil {
		return fmt.Errorf("start process 1: %w", err)
	}
	defer func() { _ = p.Release() }()
	// /proc is the machine's own, empty one on this thread by now: look from another.
	type found struct {
		init *initProcess
		err  error
	}
	look := make(chan found, 1)
	go func() {
		i, err := identify(p.Pid)
		look <- found{i, err}
	}()
	f := <-look
	runtime.KeepAlive(p)
	b.record.Init = f.init
	return f.err
}

const nodePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// dropCapabilities takes away, for good and from all that is started on this thread, what could only harm the host.
func dropCapabilities() {
	for _, c := range []uintptr{unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_TIME} {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
}

// mountRoot makes the machine's root in dir/root, on the calling thread, which must be in a new mount namespace and is
// left in dir. What the machine changes goes to dir/upper, or to memory where the file system of dir cannot serve (it is itself an
// overlay, as in a container). source is what the mounts are called in /proc/mounts.
func mountRoot(source, base, dir string, inMemory *bool) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	// Paths from here on are relative, because the options of an overlay give a meaning to characters that the data
	// directory's own path may hold.
	if err := unix.Chdir(dir); err != nil {
		return err
	}
	if err := os.MkdirAll("root", 0o755); err != nil {
		return err
	}
	if !*inMemory {
		err := overlay(source, base, "", "root")
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EOPNOTSUPP) {
			return err
		}
	}
	*inMemory = true
	if err := os.MkdirAll(memory, 0o700); err != nil {
		return err
	}
	if err := unix.Mount(source, memory, "tmpfs", unix.MS_NODEV, "mode=0700"); err != nil {
		return fmt.Errorf("mount memory for the machine's files: %w", err)
	}
	return overlay(source, base, memory+"/", "root")
}

// memory is where the machine's files are when they are in memory.
const memory = "memory"

// overlay mounts lower on target, with what is written there kept in <prefix>upper.
func overlay(source, lower, prefix, target string) error {
	upper, work := prefix+"upper", prefix+"work"
	for _, d := range []string{upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	// The mode of the upper directory is that of the mounted one.
	info, err := os.Stat(lower)
	if err != nil {
		return err
	}
	if err := os.Chmod(upper, info.Mode().Perm()); err != nil {
		return err
	}
	options := "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work
	// Volatile spares the host a sync of its disk whenever a machine ends; older kernels do not know it.
	err = unix.Mount(source, target, "overlay", 0, options+",volatile")
	if errors.Is(err, unix.EINVAL) {
		err = unix.Mount(source, target, "overlay", 0, options)
	}
	if err != nil {
		return fmt.Errorf("mount overlay of %s: %w", lower, err)
	}
	return nil
}
