package digitalocean

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/keylock"
	"muster/providers/internal/records"
)

const (
	everyPort = "1-65535"
	icmpPort  = "0" // ICMP has none, and the API wants ports in every rule
	maxRules  = 50  // that one firewall may have, in and out
)

// What things made for a cluster are called in their ids.
const (
	kindFirewall = "firewall"
	kindVolume   = "volume"
)

// firewalls are those of clusters.
type firewalls struct {
	api     *godo.Client
	sshFrom []string
	locks   keylock.Locks
}

// ensure makes the cluster's firewall where there is none. It is put on by a tag, so it holds for each droplet from the moment that it exists. It is
// looked for each time: a machine without it would be open to everyone.
func (fs *firewalls) ensure(ctx context.Context, spec family.MachineSpec) error {
	wanted, err := fs.request(spec)
	if err != nil {
		return err
	}
	release, err := fs.locks.Lock(ctx, wanted.Name)
	if err != nil {
		return err
	}
	defer release()
	if there, err := fs.has(ctx, wanted); there || err != nil {
		return err
	}
	if err := ensureTag(ctx, fs.api, wanted.Tags[0]); err != nil {
		return err
	}
	_, r, err := fs.api.Firewalls.Create(ctx, wanted)
	if err == nil {
		return nil
	}
	if r != nil && r.StatusCode == http.StatusConflict { // names are unique: someone else was faster
		if there, err := fs.has(ctx, wanted); there || err != nil {
			return err
		}
	}
	return failure("firewall:create", err)
}

func (fs *firewalls) has(ctx context.Context, wanted *godo.FirewallRequest) (bool, error) {
	all, err := pages(ctx, "firewall:read", fs.api.Firewalls.List)
	return slices.ContainsFunc(all, func(f godo.Firewall) bool {
		return f.Name == wanted.Name && slices.Contains(f.Tags, wanted.Tags[0])
	}), err
}

// request is what is asked for: SSH from where the account says, the cluster's rules, and everything among its machines; outward everything.
func (fs *firewalls) request(spec family.MachineSpec) (*godo.FirewallRequest, error) {
	installation, cluster := spec.Tags[family.TagInstallation], spec.Tags[family.TagCluster]
	t := firewallTag(installation, cluster)
	if len(t) > longestTag {
		return nil, app.Errorf(app.EInvalid, "The names of the installation and of cluster %s are too long for a DigitalOcean tag (at most %d characters).", cluster, longestTag)
	}
	within, everywhere := &godo.Sources{Tags: []string{t}}, &godo.Destinations{Addresses: []string{"0.0.0.0/0", "::/0"}}
	f := &godo.FirewallRequest{Name: firewallName(installation, cluster), Tags: []string{t}, DropletIDs: []int{}}
	f.InboundRules = append(f.InboundRules, godo.InboundRule{Protocol: "tcp", PortRange: "22", Sources: &godo.Sources{Addresses: fs.sshFrom}})
	for _, protocol := range []string{"tcp", "udp", "icmp"} {
		ports := everyPort
		if protocol == "icmp" {
			ports = icmpPort
		}
		f.InboundRules = append(f.InboundRules, godo.InboundRule{Protocol: protocol, PortRange: ports, Sources: within})
		f.OutboundRules = append(f.OutboundRules, godo.OutboundRule{Protocol: protocol, PortRange: ports, Destinations: everywhere})
	}
	for _, r := range spec.Firewall.Rules {
		from, err := prefixes("from", r.From)
		if err != nil {
			return nil, err
		}
		ports := cmp.Or(r.Ports, everyPort)
		if r.Protocol == "icmp" {
			ports = icmpPort
		}
		f.InboundRules = append(f.InboundRules, godo.InboundRule{Protocol: r.Protocol, PortRange: ports, Sources: &godo.Sources{Addresses: from}})
	}
	if n := len(f.InboundRules) + len(f.OutboundRules); n > maxRules {
		e := app.Errorf(app.EInvalid, "The firewall of cluster %s would have %d rules; DigitalOcean allows %d.", cluster, n, maxRules)
		e.Hint = "Combine adjacent ports in one rule, such as 8000-8100, and several CIDR ranges in one from."
		return nil, e
	}
	return f, nil
}

// firewallName is of the cluster alone. Names are unique in an account.
func firewallName(installation, cluster string) string {
	words := make([]string, 0, 4)
	for _, w := range []string{"muster", account.Name(installation), account.Name(cluster)} {
		words = append(words, w[:min(len(w), 40)])
	}
	return strings.Join(append(words, hash(installation, cluster)), "-")
}

// Shared returns the firewalls, the volumes that no machine has, as where a machine was asked for in vain, and the names in the account's DNS zone.
func (c *cloud) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	wanted := make(map[string]string, 2)
	for _, name := range []string{family.TagInstallation, family.TagCluster} {
		if v, ok := tags[name]; ok {
			wanted[name] = v
		}
	}
	firewalls, err := pages(ctx, "firewall:read", c.api.Firewalls.List)
	if err != nil && !forbidden(err) { // who may not look at any has made none
		return nil, err
	}
	var out []family.SharedThing
	for i := range firewalls {
		if t := firewallTags(&firewalls[i]); t != nil && carries(t, wanted) {
			at, _ := time.Parse(time.RFC3339, firewalls[i].Created)
			out = append(out, family.SharedThing{ID: kindFirewall + "/" + firewalls[i].ID, Kind: kindFirewall, Name: firewalls[i].Name, Tags: t, CreatedAt: at})
		}
	}
	volumes, err := pages(ctx, "block_storage:read", func(ctx context.Context, o *godo.ListOptions) ([]godo.Volume, *godo.Response, error) {
		return c.api.Storage.ListVolumes(ctx, &godo.ListVolumeParams{ListOptions: o})
	})
	if err != nil && !forbidden(err) {
		return nil, err
	}
	for i := range volumes {
		v := &volumes[i]
		if t := volumeTags(v); t != nil && len(v.DropletIDs) == 0 && carries(t, wanted) {
			out = append(out, family.SharedThing{ID: kindVolume + "/" + v.ID, Kind: kindVolume, Name: v.Name, Tags: t, CreatedAt: v.CreatedAt})
		}
	}
	if c.zone == "" {
		return out, nil
	}
	names, err := records.Shared(ctx, c.domain(), wanted)
	if absent(err) {
		err = nil
	}
	return append(out, names...), err
}

// firewallTags returns the tags of a firewall; nil for one of others.
func firewallTags(f *godo.Firewall) map[string]string {
	for _, t := range f.Tags {
		if tags, ok := readFirewallTag(t); ok && f.Name == firewallName(tags[family.TagInstallation], tags[family.TagCluster]) {
			return tags
		}
	}
	return nil
}

func (c *cloud) DeleteShared(ctx context.Context, id string) error {
	if c.zone != "" {
		was, err := records.DropShared(ctx, c.domain(), id, func(tags map[string]string) (bool, error) {
			found, err := c.droplets(ctx, tags)
			return len(found) > 0, err
		})
		if was && (err == nil || absent(err)) {
			return nil
		}
		if was {
			return err
		}
	}
	kind, uuid, _ := strings.Cut(id, "/")
	if !uuidForm.MatchString(uuid) {
		return ctx.Err()
	}
	switch kind {
	case kindFirewall:
		return c.firewalls.delete(ctx, uuid)
	case kindVolume:
		v, _, err := c.api.Storage.GetVolume(ctx, uuid)
		if err = failure("block_storage:read", err); absent(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(v.DropletIDs) > 0 {
			return app.Errorf(app.ETransient, "Volume %s is attached to a droplet.", v.Name)
		}
		return c.volumes.delete(ctx, uuid)
	}
	return nil
}

// delete looks first whether a droplet is behind it.
func (fs *firewalls) delete(ctx context.Context, uuid string) error {
	f, _, err := fs.api.Firewalls.Get(ctx, uuid)
	if err = failure("firewall:read", err); absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	release, err := fs.locks.Lock(ctx, f.Name)
	if err != nil {
		return err
	}
	defer release()
	for _, t := range f.Tags {
		behind, _, err := fs.api.Droplets.ListByTag(ctx, t, &godo.ListOptions{PerPage: 1})
		if err = failure("droplet:read", err); err != nil && !absent(err) {
			return err
		}
		if len(behind) > 0 {
			return app.Errorf(app.ETransient, "Droplets such as %s are behind firewall %s.", behind[0].Name, f.Name)
		}
	}
	if _, err := fs.api.Firewalls.Delete(ctx, uuid); err != nil {
		if err = failure("firewall:delete", err); !absent(err) {
			return err
		}
	}
	for _, t := range f.Tags {
		if strings.HasPrefix(t, firewallPrefix) {
			_, _ = fs.api.Tags.Delete(ctx, t) // one that stays is litter
		}
	}
	return nil
}
