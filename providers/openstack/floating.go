package openstack

import (
	"context"
	"maps"
	"net/netip"
	"net/url"

	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/extensions/layer3/floatingips"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/pagination"
	"muster/app"
	"muster/app/family"
	stack "muster/providers/internal/openstack"
)

// tagServer is next to our own tags in a floating IP's description.
const tagServer = "muster-server"

// written puts tags into a description, of which Neutron keeps 255 characters: what comes last is left out first.
func written(tags map[string]string, names ...string) string {
	for ; ; names = names[:len(names)-1] {
		v := url.Values{}
		for _, name := range names {
			if tags[name] != "" {
				v.Set(name, tags[name])
			}
		}
		if text := v.Encode(); len(text) <= 255 {
			return text
		}
	}
}

// read returns the tags in a description; nil where they are not ours.
func read(description string) map[string]string {
	v, err := url.ParseQuery(description)
	if err != nil || v.Get(family.TagInstallation) == "" {
		return nil
	}
	tags := map[string]string{}
	for k := range v {
		tags[k] = v.Get(k)
	}
	return tags
}

// floatings returns the floating IPs that were made for machines of ours, with their tags.
func floatings(ctx context.Context, s *stack.Session, wanted func(floatingips.FloatingIP, map[string]string) bool) ([]floatingips.FloatingIP, error) {
	var found []floatingips.FloatingIP
	err := stack.Whole(func() error {
		found = nil
		return floatingips.List(s.Network, floatingips.ListOpts{ProjectID: s.Token.Project}).EachPage(ctx, stack.Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
			some, err := floatingips.ExtractFloatingIPs(page)
			for _, one := range some {
				if tags := read(one.Description); tags != nil && wanted(one, tags) {
					found = append(found, one)
				}
			}
			return true, err
		}))
	})
	return found, err
}

// aboutFloating is the description of a server's floating IP.
func aboutFloating(server string, tags map[string]string) string {
	all := map[string]string{tagServer: server}
	maps.Copy(all, tags)
	return written(all, family.TagInstallation, tagServer, family.TagCluster, family.TagIntent)
}

func ofServer(id string) func(floatingips.FloatingIP, map[string]string) bool {
	return func(_ floatingips.FloatingIP, tags map[string]string) bool { return tags[tagServer] == id }
}

// float sees to it that a server has its floating IP: one is made where there is none, and put where it belongs.
func (p *Provider) float(ctx context.Context, s *stack.Session, one *stack.Server, o order) error {
	if one.Floats() {
		return nil
	}
	from, err := p.pool(ctx, s, o.machineOptionsOf.floating)
	if err != nil {
		return err
	}
	port, fixed, err := p.port(ctx, s, one.ID, o.machineOptionsOf.networks)
	if err != nil {
		return err
	}
	have, err := floatings(ctx, s, ofServer(one.ID))
	if err != nil {
		return err
	}
	var ip *floatingips.FloatingIP
	switch {
	case len(have) == 0:
		ip, err = floatingips.Create(ctx, s.Network, floatingips.CreateOpts{FloatingNetworkID: from.ID, PortID: port, FixedIP: fixed, Description: aboutFloating(one.ID, o.spec.Tags)}).Extract()
	case have[0].PortID == port:
		ip = &have[0]
	default:
		ip, err = floatingips.Update(ctx, s.Network, have[0].ID, floatingips.UpdateOpts{PortID: &port, FixedIP: fixed}).Extract()
	}
	if err != nil {
		return err
	}
	// Nova hears of it a little later.
	if one.Addresses == nil {
		one.Addresses = map[string][]stack.Address{}
	}
	one.Addresses[from.Name] = append(one.Addresses[from.Name], stack.Address{Addr: ip.FloatingIP, Version: 4, Type: "floating"})
	return nil
}

// port waits for a server's port on the first of its networks. Fixed is the address that is meant where the port has several.
func (p *Provider) port(ctx context.Context, s *stack.Session, server string, on []string) (id, fixed string, err error) {
	first := ""
	if len(on) > 0 {
		n, err := p.network(ctx, s, on[0])
		if err != nil {
			return "", "", err
		}
		first = n.ID
	}
	there, err := p.pace.Until(ctx, func() (bool, error) {
		page, err := ports.List(s.Network, ports.ListOpts{DeviceID: server, NetworkID: first}).AllPages(ctx)
		if err != nil {
			return false, err
		}
		all, err := ports.ExtractPorts(page)
		for _, one := range all {
			if v4 := fourths(one.FixedIPs); len(v4) > 0 {
				id, fixed = one.ID, ""
				if len(v4) > 1 {
					fixed = v4[0]
				}
				return true, err
			}
		}
		return false, err
	})
	if err == nil && !there {
		err = app.Errorf(app.ETimeout, "server %s got no address for its floating IP", server)
	}
	return id, fixed, err
}

func fourths(all []ports.IP) (v4 []string) {
	for _, one := range all {
		if ip, err := netip.ParseAddr(one.IPAddress); err == nil && ip.Is4() {
			v4 = append(v4, one.IPAddress)
		}
	}
	return v4
}

// release returns the floating IPs of a server.
func release(ctx context.Context, s *stack.Session, server string) error {
	if s.Network == nil {
		return nil
	}
	have, err := floatings(ctx, s, ofServer(server))
	for _, one := range have {
		if err := floatingips.Delete(ctx, s.Network, one.ID).ExtractErr(); err != nil && !stack.Absent(err) {
			return err
		}
	}
	return err
}
