//go:build unix

package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"

	"muster/app"
)

// Addresses are claimed by making a symbolic link from the address to the machine's id. That is one atomic act, so
// machines that are made at the same time, in whatever process, never share one.

// claim finds the first free address of the network, counted from an address of it and round again, that fits accepts.
// The first two (network and host) and the last (broadcast) are never given.
func (l layout) claim(ctx context.Context, id string, network netip.Prefix, from netip.Addr, fits func(netip.Addr) bool) (netip.Addr, error) {
	first := network.Addr().Next().Next()
	if !network.Contains(from) || from.Less(first) {
		from = first
	}
	for a, around := from, false; !around || a.Less(from); a = a.Next() {
		if !network.Contains(a.Next()) {
			if around {
				break
			}
			a, around = first, true
			if a == from {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return netip.Addr{}, err
		}
		link := filepath.Join(l.addresses(), a.String())
		err := os.Symlink(id, link)
		if errors.Is(err, fs.ErrExist) {
			owner, err := os.Readlink(link)
			if err != nil || owner != id {
				continue
			}
		} else if err != nil {
			return netip.Addr{}, err
		}
		if fits(a) {
			return a, nil
		}
		_ = os.Remove(link)
	}
	return netip.Addr{}, app.Errorf(app.ECapacity, "no address is available in %s", network)
}

// release returns whatever addresses a machine has claimed.
func (l layout) release(id string) {
	entries, _ := os.ReadDir(l.addresses())
	for _, e := range entries {
		link := filepath.Join(l.addresses(), e.Name())
		if owner, err := os.Readlink(link); err == nil && owner == id {
			_ = os.Remove(link)
		}
	}
}
