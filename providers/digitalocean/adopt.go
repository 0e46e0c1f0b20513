package digitalocean

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"

	"github.com/digitalocean/godo"
)

// Adopt returns a droplet other tags and another name, and puts it behind its new cluster's firewall. Tags are put on one after the other: the firewall's
// comes first, and the others count from when the last of them is there.
func (c *cloud) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	release, err := c.locks.Lock(ctx, intentKey(spec.Tags))
	if err != nil {
		return err
	}
	defer release()
	d, err := c.droplet(ctx, id)
	if err != nil {
		return err
	}
	wall := ""
	if spec.Firewall != nil {
		if err := c.firewalls.ensure(ctx, spec); err != nil {
			return err
		}
		wall = firewallTag(spec.Tags[family.TagInstallation], spec.Tags[family.TagCluster])
		if err := c.putTag(ctx, d, wall); err != nil {
			return err
		}
	}
	if err := c.retag(ctx, d, spec.Tags); err != nil {
		return err
	}
	for _, t := range d.Tags {
		if strings.HasPrefix(t, firewallPrefix) && t != wall { // of a cluster that it left
			_, err := c.api.Tags.UntagResources(ctx, t, &godo.UntagResourcesRequest{Resources: resources(d)})
			if err = failure("tag:delete", err); err != nil && !absent(err) {
				return err
			}
		}
	}
	return c.rename(ctx, d, spec.Hostname)
}

// retag writes a droplet's own tags again. What of an earlier try would come between is taken away before, and the former ones afterwards.
func (c *cloud) retag(ctx context.Context, d *godo.Droplet, tags map[string]string) error {
	k := readCard(d.Tags)
	if err := c.relabel(ctx, d, labelTags(k.tags), labelTags(tags)); err != nil {
		return err
	}
	current, err := k.write()
	if err != nil {
		return err
	}
	wanted := current
	if !maps.Equal(k.tags, tags) {
		k.tags = tags
		k.turn++
		if wanted, err = k.write(); err != nil {
			return err
		}
	}
	drop := func(keep ...string) error {
		for _, t := range d.Tags {
			if !strings.HasPrefix(t, ownPrefix) || slices.Contains(keep, t) {
				continue
			}
			_, err := c.api.Tags.Delete(ctx, t)
			if err = failure("tag:delete", err); err != nil && !absent(err) && !forbidden(err) { // one that stays is litter
				return err
			}
		}
		return nil
	}
	if err := drop(append(slices.Clone(current), wanted...)...); err != nil {
		return err
	}
	for _, t := range wanted {
		if err := c.putTag(ctx, d, t); err != nil {
			return err
		}
	}
	return drop(wanted...)
}

// relabel has a droplet carry the tags of other labels. Those that it leaves stay in the account, where others may carry them.
func (c *cloud) relabel(ctx context.Context, d *godo.Droplet, before, after []string) error {
	for _, t := range before {
		if slices.Contains(after, t) || !slices.Contains(d.Tags, t) {
			continue
		}
		_, err := c.api.Tags.UntagResources(ctx, t, &godo.UntagResourcesRequest{Resources: resources(d)})
		if err = failure("tag:delete", err); err != nil && !absent(err) {
			return err
		}
	}
	for _, t := range after {
		if err := c.putTag(ctx, d, t); err != nil {
			return err
		}
	}
	return nil
}

// putTag has a droplet carry a tag, which is made where there is none.
func (c *cloud) putTag(ctx context.Context, d *godo.Droplet, name string) error {
	if slices.Contains(d.Tags, name) {
		return nil
	}
	if err := ensureTag(ctx, c.api, name); err != nil {
		return err
	}
	_, err := c.api.Tags.TagResources(ctx, name, &godo.TagResourcesRequest{Resources: resources(d)})
	return failure("tag:create", err)
}

func resources(d *godo.Droplet) []godo.Resource {
	return []godo.Resource{{ID: strconv.Itoa(d.ID), Type: godo.DropletResourceType}}
}

// ensureTag makes a tag where there is none.
func ensureTag(ctx context.Context, api *godo.Client, name string) error {
	_, _, err := api.Tags.Create(ctx, &godo.TagCreateRequest{Name: name})
	if err == nil {
		return nil
	}
	if err = failure("tag:create", err); app.CodeOf(err) != app.EInvalid && app.CodeOf(err) != app.ETransient {
		return err
	}
	// It is there already, or it is not: then this says so.
	if _, _, again := api.Tags.Get(ctx, name); again != nil {
		return err
	}
	return nil
}

// rename renames a droplet in the control panel, and waits until that is done: until then it takes no other order.
func (c *cloud) rename(ctx context.Context, d *godo.Droplet, name string) error {
	if d.Name == name {
		return nil
	}
	if _, _, err := c.api.DropletActions.Rename(ctx, d.ID, name); err != nil {
		return failure("droplet:update", err)
	}
	for deadline := time.Now().Add(c.timing.shutdown); time.Now().Before(deadline); {
		if err := wait(ctx, c.timing.look); err != nil {
			return err
		}
		now, err := c.droplet(ctx, strconv.Itoa(d.ID))
		if err != nil || now.Name == name {
			return err
		}
	}
	return app.Errorf(app.ETransient, "Droplet %d isn't named %s yet.", d.ID, name)
}
