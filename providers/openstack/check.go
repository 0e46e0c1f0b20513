package openstack

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	stack "muster/providers/internal/openstack"

	cinder "github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/limits"
	"github.com/gophercloud/gophercloud/v2/openstack/blockstorage/v3/volumetypes"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/quotas"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/security/groups"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
)

// CheckAccount looks at everything that machines need.
func (p *Provider) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var f stack.Findings
	wishes := map[int]machineOptions{}
	var zones, nets, pools, named, types []string
	account, err := machineOptionsOf(p.settings)
	if err != nil {
		f.Bad(family.AboutSettings, "", err)
	}
	for i, need := range needs.Machines {
		w, err := machineOptionsOf(p.settings.With(need.Flavor.Extra, need.Image.Extra))
		if err != nil {
			f.Bad(family.AboutSettings, need.Flavor.Flavor, err)
		}
		if need.Zone != "" {
			w.zone = need.Zone
		}
		wishes[i] = w
	}
	if len(wishes) == 0 {
		wishes[0] = account
	}
	alone, kind := false, p.settings.Text("volume_type")
	for _, w := range wishes {
		zones, nets, pools = append(zones, w.zone), append(nets, w.networks...), append(pools, w.floating)
		named, types = append(named, w.groups...), append(types, w.disks.BootType)
		alone = alone || len(w.networks) == 0
	}
	session := f.Open(ctx, p.sessions)
	if session == nil {
		return f, nil
	}
	f.Zone(ctx, session, distinct(zones))
	p.nameable(ctx, session, &f)
	demand := f.Machines(ctx, session, needs, func(i int, _ flavors.Flavor) stack.Disks { return wishes[i].disks }, func(i int) (ports, floating int) {
		if wishes[i].floating != "" {
			floating = 1
		}
		return max(len(wishes[i].networks), 1), floating
	})
	demand.Nova(ctx, session, &f)
	p.checkNetworks(ctx, session, &f, distinct(nets), distinct(pools), distinct(named), alone, demand)
	switch {
	case demand.All.Volumes > 0 || len(distinct(append(types, kind))) > 0:
		checkVolumes(ctx, session, &f, distinct(types), kind, demand)
	case session.Volume == nil:
		f.Doubt(family.AboutRegion, "volumes", "Choose services without volumes, or ask the cloud's operator for Cinder.",
			"The region has no volume service, so clusters can't have volumes.")
	}
	demand.Apart(&f)
	return f, nil
}

// distinct returns what there is, sorted and once.
func distinct(all []string) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

func (p *Provider) checkNetworks(ctx context.Context, s *stack.Session, f *stack.Findings, nets, pools, named []string, alone bool, demand *stack.Demand) {
	if err := s.Needs("network", s.Network); err != nil {
		f.Bad(family.AboutNetwork, "", err)
		return
	}
	p.networks.Forget()
	if alone {
		no := false
		all, err := listNetworks(ctx, s, networks.ListOpts{})
		all = slices.DeleteFunc(all, func(n network) bool { return n.External })
		switch {
		case err != nil:
			f.Bad(family.AboutNetwork, "", err)
		case len(all) == 1:
			f.Good(family.AboutNetwork, all[0].Name, "Machines use network %q, the project's only one.", all[0].Name)
		default:
			no = true
		}
		if no {
			e := app.Errorf(app.EInvalid, "the project has %d networks, but none is set", len(all))
			e.Hint = "Set networks to one of them: " + namesOf(all)
			f.Bad(family.AboutNetwork, "", e)
		}
	}
	for _, name := range nets {
		n, err := p.network(ctx, s, name)
		switch {
		case err != nil:
			f.Bad(family.AboutNetwork, name, err)
		case len(n.Subnets) == 0:
			e := app.Errorf(app.EInvalid, "network %q has no subnet, so its machines get no address", name)
			e.Hint = "Add a subnet, or choose another network."
			f.Bad(family.AboutNetwork, name, e)
		case n.Secured != nil && !*n.Secured:
			f.Doubt(family.AboutNetwork, name, "Clusters with a firewall need a network with port security.", "Network %q doesn't support security groups.", name)
		default:
			f.Good(family.AboutNetwork, name, "Network %q exists.", name)
		}
	}
	for _, name := range pools {
		if _, err := p.pool(ctx, s, name); err != nil {
			f.Bad(family.AboutNetwork, name, err)
			continue
		}
		f.Good(family.AboutNetwork, name, "Floating IPs come from %q.", name)
	}
	have, err := listGroups(ctx, s, groups.ListOpts{})
	if err != nil {
		f.Bad(family.AboutNetwork, "security groups", err)
	}
	for _, name := range named {
		if err == nil && !slices.ContainsFunc(have, func(g groups.SecGroup) bool { return g.ID == name || g.Name == name }) {
			e := app.Errorf(app.EInvalid, "security group %q doesn't exist in the project", name)
			e.Hint = "Create it, or remove it from the setting security_groups."
			f.Bad(family.AboutNetwork, name, e)
		}
	}
	q, err := quotas.GetDetail(ctx, s.Network, s.Token.Project).Extract()
	if err != nil {
		f.Doubt(family.AboutQuota, "network", "Check openstack quota show --network --usage yourself.", "The remaining floating IPs and security groups are unknown.")
		return
	}
	if demand.All.Floating > 0 || len(pools) > 0 {
		demand.Left(f, "floating IPs", func(w stack.Wants) int { return w.Floating }, q.FloatingIP.Limit, q.FloatingIP.Used+q.FloatingIP.Reserved)
	}
	demand.Left(f, "ports", func(w stack.Wants) int { return w.Ports }, q.Port.Limit, q.Port.Used+q.Port.Reserved)
	new(stack.Demand).Left(f, "security groups", func(stack.Wants) int { return 1 }, q.SecurityGroup.Limit, q.SecurityGroup.Used+q.SecurityGroup.Reserved)
}

func namesOf(all []network) string {
	var names []string
	for _, n := range all {
		names = append(names, cmp.Or(n.Name, n.ID))
	}
	slices.Sort(names)
	return cmp.Or(strings.Join(names, ", "), "none exists, so create one first") + "."
}

func checkVolumes(ctx context.Context, s *stack.Session, f *stack.Findings, boot []string, kind string, demand *stack.Demand) {
	if err := s.Needs("volume", s.Volume); err != nil {
		f.Bad(family.AboutRegion, "volumes", err)
		return
	}
	l, err := cinder.Get(ctx, s.Volume).Extract()
	if err != nil {
		f.Bad(family.AboutQuota, "volumes", err)
	} else {
		demand.Left(f, "volumes", func(w stack.Wants) int { return w.Volumes }, l.Absolute.MaxTotalVolumes, l.Absolute.TotalVolumesUsed)
		demand.Left(f, "GB of volumes", func(w stack.Wants) int { return w.VolumeGB }, l.Absolute.MaxTotalVolumeGigabytes, l.Absolute.TotalGigabytesUsed)
	}
	if len(boot) == 0 && kind == "" {
		return
	}
	page, err := volumetypes.List(s.Volume, nil).AllPages(ctx)
	var all []volumetypes.VolumeType
	if err == nil {
		all, err = volumetypes.ExtractVolumeTypes(page)
	}
	if err != nil {
		f.Bad(family.AboutSettings, "volume types", err)
		return
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	find := func(setting, name string) {
		if name == "" || slices.ContainsFunc(all, func(t volumetypes.VolumeType) bool { return t.ID == name || t.Name == name }) {
			return
		}
		e := app.Errorf(app.EInvalid, "volume type %q doesn't exist", name)
		e.Hint = humanize.Suggest(name, names)
		f.Bad(family.AboutSettings, setting, e)
	}
	for _, name := range boot {
		find("boot_volume_type", name)
	}
	find("volume_type", kind)
}
