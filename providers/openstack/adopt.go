package openstack

import (
	"context"
	"slices"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/pagination"
	"muster/app"
	"muster/app/family"
	stack "muster/providers/internal/openstack"
)

// Adopt returns a server other tags and another name, and its ports the security groups that Create would have given them, the cluster's firewall among
// them. The firewall comes first: what carries the cluster's tags is behind it.
func (p *Provider) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	o := order{spec: spec}
	var err error
	if o.machineOptionsOf, err = machineOptionsOf(p.settings.With(spec.Flavor.Extra, spec.Image.Extra)); err != nil {
		return err
	}
	if err := stack.Keepable(spec); err != nil {
		return err
	}
	if spec.Firewall != nil {
		if o.rules, err = rulesOf(*spec.Firewall, o.machineOptionsOf.sshFrom); err != nil {
			return err
		}
	}
	done, err := p.turns.Take(ctx, "intent "+spec.Intent)
	if err != nil {
		return err
	}
	defer done()
	_, err = stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) {
		one, err := stack.Get(ctx, s, id)
		if err != nil {
			return nil, err
		}
		if o.rules != nil {
			if err := p.enclose(ctx, s, one, o); err != nil {
				return nil, err
			}
		} else if err := leave(ctx, s, one, o); err != nil {
			return nil, err
		}
		if err := redescribe(ctx, s, id, spec.Tags); err != nil {
			return nil, err
		}
		return nil, stack.Retag(ctx, s, one, spec)
	})
	return err
}

// enclose puts all ports of a server into the cluster's group and the account's, and into no others.
func (p *Provider) enclose(ctx context.Context, s *stack.Session, one *stack.Server, o order) error {
	group, err := p.group(ctx, s, o)
	if err != nil {
		return err
	}
	named, err := accountGroups(ctx, s, o)
	if err != nil {
		return err
	}
	found, err := serverPorts(ctx, s, one.ID)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return app.Errorf(app.ETransient, "server %s has no port for its firewall yet", one.ID)
	}
	return putInto(ctx, s, found, append(named, group))
}

// leave takes all ports of a server out of the group of the cluster that its tags name: into the account's, or the project's default group where there
// are none, which is where Nova puts servers.
func leave(ctx context.Context, s *stack.Session, one *stack.Server, o order) error {
	tags := one.Tags()
	if s.Network == nil || tags[family.TagCluster] == "" {
		return nil
	}
	its, err := clusterGroups(ctx, s, tags)
	if err != nil || len(its) == 0 {
		return err
	}
	found, err := serverPorts(ctx, s, one.ID)
	if err != nil || !slices.ContainsFunc(found, func(port ports.Port) bool { return slices.Contains(port.SecurityGroups, its[0].ID) }) {
		return err
	}
	wants, err := accountGroups(ctx, s, o)
	if err == nil && len(wants) == 0 {
		o.machineOptionsOf.groups = []string{"default"}
		wants, err = accountGroups(ctx, s, o)
	}
	if err != nil {
		return err
	}
	return putInto(ctx, s, found, wants)
}

// accountGroups returns the IDs of the groups that the settings name.
func accountGroups(ctx context.Context, s *stack.Session, o order) (ids []string, err error) {
	if len(o.machineOptionsOf.groups) == 0 {
		return nil, nil
	}
	all, err := listGroups(ctx, s, groups.ListOpts{})
	if err != nil {
		return nil, err
	}
	for _, name := range o.machineOptionsOf.groups {
		i := slices.IndexFunc(all, func(g groups.SecGroup) bool { return g.ID == name || g.Name == name })
		if i < 0 {
			e := app.Errorf(app.EInvalid, "security group %q doesn't exist in the project", name)
			e.Hint = "Create it, or remove it from the setting security_groups."
			return nil, e
		}
		ids = append(ids, all[i].ID)
	}
	return ids, nil
}

func serverPorts(ctx context.Context, s *stack.Session, server string) (found []ports.Port, err error) {
	err = stack.Whole(func() error {
		found = nil
		return ports.List(s.Network, ports.ListOpts{DeviceID: server}).EachPage(ctx, stack.Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
			some, err := ports.ExtractPorts(page)
			found = append(found, some...)
			return true, err
		}))
	})
	return found, err
}

// putInto puts ports into groups, and into no others.
func putInto(ctx context.Context, s *stack.Session, found []ports.Port, wants []string) error {
	slices.Sort(wants)
	wants = slices.Compact(wants)
	for _, port := range found {
		if slices.Equal(slices.Sorted(slices.Values(port.SecurityGroups)), wants) {
			continue
		}
		if err := ports.Update(ctx, s.Network, port.ID, ports.UpdateOpts{SecurityGroups: &wants}).Err; err != nil {
			return err
		}
	}
	return nil
}

// redescribe writes the tags of a server's floating IPs again. Where they lead is said once more, since some clouds take a change without it for one to nowhere.
func redescribe(ctx context.Context, s *stack.Session, server string, tags map[string]string) error {
	if s.Network == nil {
		return nil
	}
	have, err := floatings(ctx, s, ofServer(server))
	if err != nil {
		return err
	}
	about := aboutFloating(server, tags)
	for _, ip := range have {
		if ip.Description == about {
			continue
		}
		if err := floatingips.Update(ctx, s.Network, ip.ID, floatingips.UpdateOpts{Description: &about, PortID: &ip.PortID, FixedIP: ip.FixedIP}).Err; err != nil {
			return err
		}
	}
	return nil
}
