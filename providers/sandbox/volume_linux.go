package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"muster/app"
)

var _ mounter = (*namespaces)(nil)

// mountPath is the path itself: the machine has files of its own.
func (n *namespaces) mountPath(_ *record, mount string) (string, error) {
	if rest, ok := strings.CutPrefix(mount, "~/"); ok {
		mount = "/root/" + rest
	}
	if !filepath.IsAbs(mount) || filepath.Clean(mount) != mount || mount == "/" {
		return "", invalid("mount", "a volume can't be mounted on %q", mount)
	}
	return mount, nil
}

// mount shows the volume's folder in a running machine: the folder is taken hold of on the host, and put in place from within the machine, whose
// own symbolic links so lead nowhere but into it.
func (n *namespaces) mount(r *record, v *volume) error {
	if mounted, err := r.Init.mounts(v.Mount); err != nil || mounted {
		return err
	}
	tree, err := openFolder(n.files.volumeFiles(v.ID))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(tree) }()
	return r.Init.within(func() error { return placeFolder(tree, v.Mount) })
}

func (n *namespaces) unmount(r *record, v *volume) error {
	if !r.Init.alive() {
		return nil // its mounts went with it
	}
	if mounted, err := r.Init.mounts(v.Mount); err != nil || !mounted {
		return err
	}
	err := r.Init.within(func() error { return unix.Unmount(v.Mount, unix.UMOUNT_NOFOLLOW) })
	if errors.Is(err, unix.EBUSY) {
		return app.Errorf(app.ETransient, "volume %s is in use on machine %s", v.ID, r.ID)
	}
	return err
}

// openFolder takes hold of a folder as a mount that is nowhere yet.
func openFolder(path string) (int, error) {
	tree, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open_tree: %w", err)
	}
	return tree, nil
}

// placeFolder mounts it on a path of the calling thread's own files.
func placeFolder(tree int, path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount: %w", err)
	}
	if err := unix.Mount("", path, "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_NODEV|unix.MS_NOSUID, "")
}

// within does something on a thread that sees the files of the process's machine.
func (p *initProcess) within(do func() error) error {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", p.PID))
	if err != nil {
		return err
	}
	defer func() { _ = ns.Close() }()
	if !p.alive() { // so that it was the machine's own which was opened
		return app.Errorf(app.ETransient, "the machine isn't running")
	}
	return onThread(func() error {
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return err
		}
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNS); err != nil {
			return fmt.Errorf("setns: %w", err)
		}
		return do()
	})
}

// mounts reports whether something is mounted on a path of the process's machine.
func (p *initProcess) mounts(path string) (bool, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mountinfo", p.PID))
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && fields[4] == path {
			return true, nil
		}
	}
	return false, nil
}

// folder is a volume of a machine that is being built.
type folder struct {
	tree int
	path string
}

// openVolumes takes hold of a machine's volumes while the host's files are in sight.
func (b *building) openVolumes() (list []folder, err error) {
	for _, v := range b.volumes {
		tree, err := openFolder(b.files.volumeFiles(v.ID))
		if err != nil {
			return list, fmt.Errorf("volume %s: %w", v.ID, err)
		}
		list = append(list, folder{tree, v.Mount})
	}
	return list, nil
}

func closeFolders(list []folder) {
	for _, f := range list {
		_ = unix.Close(f.tree)
	}
}

// mountVolumes puts them in place once the machine's root is.
func mountVolumes(list []folder) error {
	for _, f := range list {
		if err := placeFolder(f.tree, f.path); err != nil {
			return fmt.Errorf("mount a volume on %s: %w", f.path, err)
		}
	}
	return nil
}
