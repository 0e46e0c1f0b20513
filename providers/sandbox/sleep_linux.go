package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func (n *namespaces) rest(ctx context.Context, r *record) error {
	if err := n.stop(ctx, r); err != nil {
		return err
	}
	return n.files.settle(r.ID)
}

// rouse runs process 1 once more, on the existing files and at the address that it had, where its network is still the same.
func (n *namespaces) rouse(ctx context.Context, r *record) error {
	if err := n.stop(ctx, r); err != nil {
		return err
	}
	if err := n.files.settle(r.ID); err != nil {
		return err
	}
	return n.run(ctx, r, keys{}, true)
}

// settle brings a machine's files to disk once nothing of it runs, and takes away the marks by which the kernel refuses to mount an
// overlay again that it need not have brought there by itself.
func (l layout) settle(id string) error {
	marks, err := filepath.Glob(filepath.Join(l.node(id), "*work", "work", "incompat", "volatile"))
	if err != nil || len(marks) == 0 {
		return err
	}
	dir, err := os.Open(l.node(id))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return fmt.Errorf("flush files to disk: %w", err)
	}
	for _, m := range marks {
		if err := os.RemoveAll(m); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// addressAgain is where to begin to look for an address: the one that it has, where the network still holds it.
func addressAgain(r *record, subnet netip.Prefix) netip.Addr {
	if a, err := netip.ParseAddr(r.Address); err == nil && subnet.Contains(a) {
		return a
	}
	return subnet.Addr()
}
