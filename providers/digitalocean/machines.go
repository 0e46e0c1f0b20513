package digitalocean

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
)

// machine is a droplet in app's words.
func machine(d *godo.Droplet) family.Machine {
	k := readCard(d.Tags)
	m := family.Machine{
		ID:        strconv.Itoa(d.ID),
		State:     state(d.Status),
		Hostname:  d.Name,
		Addresses: addresses(d),
		SSHUser:   k.user,
		Tags:      k.tags,
		HostKey:   k.key,
		OwnRoot:   true,
		Note:      note(d),
	}
	if m.SSHUser == "" {
		m.SSHUser = "root"
	}
	if d.Region != nil {
		m.Zone = d.Region.Slug
	}
	if at, err := time.Parse(time.RFC3339, d.Created); err == nil {
		m.CreatedAt = at
	}
	return m
}

func state(status string) family.MachineState {
	switch status {
	case "active":
		return family.MachineRunning
	case "off", "archive":
		return family.MachineStopped
	}
	return family.MachineStarting
}

// addresses leaves out what is not known yet.
func addresses(d *godo.Droplet) map[string]string {
	out := make(map[string]string, 3)
	for kind, of := range map[string]func() (string, error){"access_v4": d.PublicIPv4, "bind_v4": d.PrivateIPv4, "access_v6": d.PublicIPv6} {
		if a, err := of(); err == nil && a != "" {
			out[kind] = a
		}
	}
	return out
}

func note(d *godo.Droplet) string {
	text := "droplet " + d.SizeSlug
	if d.Image != nil && d.Image.Name != "" {
		text += ", " + strings.TrimSpace(d.Image.Distribution+" "+d.Image.Name)
	}
	if d.Status == "archive" {
		text += ", archived by DigitalOcean"
	}
	return text
}

// droplet returns a droplet; ENotFound for an id that none can have.
func (c *cloud) droplet(ctx context.Context, id string) (*godo.Droplet, error) {
	n, ok := number(id)
	if !ok {
		return nil, app.Errorf(app.ENotFound, "Droplet %q doesn't exist.", id)
	}
	d, _, err := c.api.Droplets.Get(ctx, n)
	if err = failure("droplet:read", err); absent(err) {
		return nil, app.Errorf(app.ENotFound, "Droplet %s doesn't exist.", id)
	}
	return d, err
}

// droplets returns those that carry all of the tags. The cloud looks for one tag, the one that the fewest have.
func (c *cloud) droplets(ctx context.Context, tags map[string]string) ([]godo.Droplet, error) {
	list := c.api.Droplets.List
	for _, name := range []string{family.TagIntent, family.TagInstallation} {
		if value, ok := tags[name]; ok {
			list = func(ctx context.Context, o *godo.ListOptions) ([]godo.Droplet, *godo.Response, error) {
				return c.api.Droplets.ListByTag(ctx, tag(name, value), o)
			}
			break
		}
	}
	all, err := pages(ctx, "droplet:read", list)
	if absent(err) { // no one carries that tag yet
		return nil, nil
	}
	return slices.DeleteFunc(all, func(d godo.Droplet) bool { return !carries(readCard(d.Tags).tags, tags) }), err
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

func (c *cloud) Describe(ctx context.Context, id string) (family.Machine, error) {
	if err := ctx.Err(); err != nil {
		return family.Machine{}, err
	}
	d, err := c.droplet(ctx, id)
	if err != nil {
		return family.Machine{}, err
	}
	return machine(d), nil
}

func (c *cloud) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	found, err := c.droplets(ctx, tags)
	if err != nil {
		return nil, err
	}
	out := make([]family.Machine, 0, len(found))
	for i := range found {
		out = append(out, machine(&found[i]))
	}
	return out, nil
}

// Delete removes the names and the volume first: the droplet is what leads to it, and stays until there is nothing more to be led to. The tags that
// only this droplet
// carried go last; one that stays is litter and no harm, so it is no failure.
func (c *cloud) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := c.droplet(ctx, id)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	k := readCard(d.Tags)
	if err := c.dropNames(ctx, k.tags); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	if k.volume {
		if err := c.volumes.deleteOf(ctx, d, k); err != nil {
			return fmt.Errorf("volume: %w", err)
		}
	}
	if _, err := c.api.Droplets.Delete(ctx, d.ID); err != nil {
		if err = failure("droplet:delete", err); !absent(err) {
			return err
		}
	}
	c.recent.forget(d.ID)
	for _, t := range ownTags(d.Tags) {
		if _, err := c.api.Tags.Delete(ctx, t); err != nil {
			break
		}
	}
	return nil //nolint:nilerr // the machine is deleted; a tag without one does no harm
}
