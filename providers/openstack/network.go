package openstack

import (
	"context"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"muster/app"
	stack "muster/providers/internal/openstack"
)

// network is one of Neutron's, with what its extensions say of it.
type network struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Subnets  []string `json:"subnets"`
	External bool     `json:"router:external"`
	Secured  *bool    `json:"port_security_enabled"`
	Up       bool     `json:"admin_state_up"`
}

// network returns the network with a name or ID.
func (p *Provider) network(ctx context.Context, s *stack.Session, name string) (network, error) {
	return p.networks.Get(name, func() (network, error) { return lookUp(ctx, s, name) })
}

// pool returns the external network that floating IPs are taken from.
func (p *Provider) pool(ctx context.Context, s *stack.Session, name string) (network, error) {
	n, err := p.network(ctx, s, name)
	if err == nil && !n.External {
		e := app.Errorf(app.EInvalid, "network %q isn't external, so it has no floating IPs", name)
		e.Field, e.Hint = "settings.floating_network", "Choose one that openstack network list --external shows."
		return n, e
	}
	return n, err
}

func lookUp(ctx context.Context, s *stack.Session, name string) (network, error) {
	if err := s.Needs("network", s.Network); err != nil {
		return network{}, err
	}
	if stack.IsID(name) {
		var one struct {
			Network network `json:"network"`
		}
		r := networks.Get(ctx, s.Network, name)
		if r.Err == nil {
			return one.Network, r.Result.ExtractInto(&one)
		}
		if !gophercloud.ResponseCodeIs(r.Err, http.StatusNotFound) {
			return network{}, r.Err
		}
	}
	found, err := listNetworks(ctx, s, networks.ListOpts{Name: name})
	switch {
	case err != nil:
		return network{}, err
	case len(found) == 0:
		e := app.Errorf(app.EInvalid, "network %q doesn't exist in the project", name)
		e.Field, e.Hint = "settings.networks", "Use the name or ID of a network that openstack network list shows for this project."
		return network{}, e
	case len(found) > 1:
		e := app.Errorf(app.EInvalid, "the project has %d networks named %q", len(found), name)
		e.Field, e.Hint = "settings.networks", "Use the network's ID."
		return network{}, e
	}
	return found[0], nil
}

func listNetworks(ctx context.Context, s *stack.Session, o networks.ListOpts) ([]network, error) {
	var all []network
	err := networks.List(s.Network, o).EachPage(ctx, stack.Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
		var in struct {
			Networks []network `json:"networks"`
		}
		err := page.(networks.NetworkPage).ExtractInto(&in)
		all = append(all, in.Networks...)
		return true, err
	}))
	return all, err
}

// order returns the names of the account's networks in their order, for a server that is on several. Where they cannot be had now, the server's
// addresses are reported all the same.
func (p *Provider) order(ctx context.Context, s *stack.Session, one *stack.Server) []string {
	if len(one.Addresses) < 2 {
		return nil
	}
	names := []string{}
	for _, name := range p.settings.List("networks") {
		if !stack.IsID(name) {
			names = append(names, name)
		} else if n, err := p.network(ctx, s, name); err == nil {
			names = append(names, n.Name)
		}
	}
	return names
}
