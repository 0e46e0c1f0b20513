package openstack

import (
	"context"
	"maps"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"muster/app"
	"muster/app/family"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/userdata"
)

// order is what is known of a machine before the cloud is asked.
type order struct {
	spec             family.MachineSpec
	machineOptionsOf machineOptions
	rules            []rule
	userData         string
	hostKey          string
}

// Create makes a server, or returns the one of the same intent, and sees to its floating IP.
func (p *Provider) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	o, err := p.plan(spec)
	if err != nil {
		return family.Machine{}, err
	}
	done, err := p.turns.Take(ctx, "intent "+spec.Intent)
	if err != nil {
		return family.Machine{}, err
	}
	defer done()
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Machine, error) { return p.create(ctx, s, o) })
}

// plan refuses what no cloud would take.
func (p *Provider) plan(spec family.MachineSpec) (order, error) {
	o := order{spec: spec}
	var err error
	if o.machineOptionsOf, err = machineOptionsOf(p.settings.With(spec.Flavor.Extra, spec.Image.Extra)); err != nil {
		return o, err
	}
	if spec.Zone != "" {
		o.machineOptionsOf.zone = spec.Zone
	}
	if err := stack.Keepable(spec); err != nil {
		return o, err
	}
	if spec.Firewall != nil {
		if o.rules, err = rulesOf(*spec.Firewall, o.machineOptionsOf.sshFrom); err != nil {
			return o, err
		}
	}
	o.userData, o.hostKey, err = userdata.CloudConfig(spec, userdata.Options{User: spec.Image.SSHUser, DataDisks: o.machineOptionsOf.disks.DataGB > 0,
		Custom: o.machineOptionsOf.custom, Limit: userdata.LimitNova})
	return o, err
}

func (p *Provider) create(ctx context.Context, s *stack.Session, o order) (family.Machine, error) {
	group := ""
	one, err := stack.Ensure(ctx, s, p.pace, stack.Order{
		Tags:   o.spec.Tags,
		Recent: &p.asked,
		Options: func() (servers.CreateOpts, error) {
			opts, err := p.options(ctx, s, o)
			if err == nil && o.rules != nil {
				group = opts.SecurityGroups[0]
			}
			return opts, err
		},
		Finish: func(one *stack.Server) error {
			if !one.WantsFloating() {
				return nil
			}
			return p.float(ctx, s, one, o)
		},
		Remove: func(ctx context.Context, id string) error { return p.remove(ctx, s, id) },
	})
	if err != nil {
		p.catalog.Forget()
		p.networks.Forget()
		if e := app.AsError(err); group != "" && e.Code == app.EInvalid && strings.Contains(e.Message, group) {
			// The account's reconciler removed the cluster's group just then, since no machine was in it yet.
			return family.Machine{}, app.Errorf(app.ETransient, "the cluster's security group was deleted while the machine was being requested: %s", e.Message)
		}
		return family.Machine{}, err
	}
	m := one.Machine(p.order(ctx, s, one))
	m.HostKey, m.SSHUser = o.hostKey, o.spec.Image.SSHUser
	if m.Zone == "" {
		m.Zone = o.machineOptionsOf.zone
	}
	return m, nil
}

// options looks up what names stand for, and makes what must be there before the server.
func (p *Provider) options(ctx context.Context, s *stack.Session, o order) (servers.CreateOpts, error) {
	meta := maps.Clone(o.spec.Tags)
	opts := servers.CreateOpts{Name: o.spec.Hostname, Metadata: meta, UserData: []byte(o.userData), AvailabilityZone: o.machineOptionsOf.zone, SecurityGroups: o.machineOptionsOf.groups}
	if o.machineOptionsOf.floating != "" {
		meta[stack.MetaAccess] = stack.AccessFloating
	}
	if o.machineOptionsOf.drive {
		opts.ConfigDrive = &o.machineOptionsOf.drive
	}
	if d := o.machineOptionsOf.disks; d.BootGB > 0 || d.DataGB > 0 { // Nova would take the order, and fail to build the server
		if err := s.Needs("volume", s.Volume); err != nil {
			return opts, err
		}
	}
	flavor, err := p.catalog.Flavor(ctx, s, o.spec.Flavor.Flavor)
	if err != nil {
		return opts, err
	}
	opts.FlavorRef = flavor.ID
	image, err := p.catalog.Image(ctx, s, o.spec.Image.Image)
	if err != nil {
		return opts, err
	}
	o.machineOptionsOf.disks.Put(&opts, image.ID)
	var on []servers.Network
	for _, name := range o.machineOptionsOf.networks {
		n, err := p.network(ctx, s, name)
		if err != nil {
			return opts, err
		}
		on = append(on, servers.Network{UUID: n.ID})
	}
	if on != nil {
		opts.Networks = on
	}
	if o.machineOptionsOf.floating != "" { // so that nothing is made where there is no such pool
		if _, err := p.pool(ctx, s, o.machineOptionsOf.floating); err != nil {
			return opts, err
		}
	}
	if o.rules != nil {
		group, err := p.group(ctx, s, o)
		if err != nil {
			return opts, err
		}
		opts.SecurityGroups = append([]string{group}, o.machineOptionsOf.groups...)
	}
	return opts, nil
}
