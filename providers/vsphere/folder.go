package vsphere

import (
	"context"
	"strings"

	"muster/app"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"
)

// folderOf returns the folder of the machines, and the one that it would be in; nil for what doesn't exist.
func (c *inventory) folderOf(ctx context.Context, s *site) (in, found *ref, err error) {
	at := &s.vms
	for _, name := range c.folder {
		if at == nil {
			return nil, nil, nil
		}
		in = at
		if at, err = c.child(ctx, *in, name); err != nil {
			return nil, nil, err
		}
		if at != nil && at.Type != typeFolder {
			return nil, nil, setting("folder", "Choose another folder.", "%q isn't a folder", strings.Join(c.folder, "/"))
		}
	}
	return in, at, nil
}

// machines returns the folder of the machines; nil where it doesn't exist yet, so there are none.
func (c *inventory) machines(ctx context.Context) (*ref, error) {
	c.mu.Lock()
	known := c.known
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	s, err := c.theSite(ctx)
	if err != nil {
		return nil, err
	}
	_, found, err := c.folderOf(ctx, s)
	c.remember(found)
	return found, err
}

// remember keeps the machines' folder: its reference doesn't change when people rename or move it. Nil forgets it.
func (c *inventory) remember(folder *ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = folder
}

// ensureFolder returns the folder of the machines, which is made where only its last part is missing.
func (c *inventory) ensureFolder(ctx context.Context, s *site) (ref, error) {
	if found, err := c.machines(ctx); err != nil || found != nil {
		return at(found), err
	}
	in, found, err := c.folderOf(ctx, s)
	switch {
	case err != nil:
		return ref{}, err
	case in == nil:
		return ref{}, noFolder(c.folder[:len(c.folder)-1])
	case found == nil:
		made, err := methods.CreateFolder(ctx, c, &types.CreateFolder{This: *in, Name: c.folder[len(c.folder)-1]})
		switch {
		case faulted[*types.DuplicateName](err): // someone else was faster
			if found, err = c.child(ctx, *in, c.folder[len(c.folder)-1]); err != nil {
				return ref{}, err
			}
		case err != nil:
			return ref{}, err
		default:
			found = &made.Returnval
		}
	}
	c.remember(found)
	return at(found), nil
}

func noFolder(path []string) *app.Error {
	return setting("folder", "Create it in vCenter, below the datacenter's VM folder.", "folder %q doesn't exist", strings.Join(path, "/"))
}

func at(r *ref) ref {
	if r == nil {
		return ref{}
	}
	return *r
}
