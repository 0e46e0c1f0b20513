package azure

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"muster/app"
	"muster/providers/internal/account"
)

// parts are what machines have beside themselves: a network interface, a public address and disks. Interface and address are made before their machine and
// have names derived from its own, so that a create that was cut off continues with them.
type parts struct{ g *group }

func (g *group) parts() parts { return parts{g} }

// ensureCard makes the network interface, with its address and its place in the cluster's firewall, where they are missing. It returns its ID.
func (x parts) ensureCard(ctx context.Context, w wanted) (string, error) {
	g := x.g
	wall, members := "", ""
	var err error
	if w.spec.Firewall != nil {
		if wall, members, err = g.ensureFirewall(ctx, w.spec, w.options); err != nil {
			return "", err
		}
	}
	address := ""
	if w.options.public {
		if address, err = x.ensureAddress(ctx, w); err != nil {
			return "", err
		}
	}
	card := x.cardOf(w, address, wall, members)
	there, err := x.card(ctx, w.name)
	if err == nil && fits(there, card) {
		return g.idOf(kindCard, cardName(w.name)), nil
	}
	if err != nil && !isAbsent(err) {
		return "", err
	}
	return g.idOf(kindCard, cardName(w.name)), x.putCard(ctx, cardName(w.name), card)
}

func (x parts) putCard(ctx context.Context, name string, card armnetwork.Interface) error {
	return unknownYet(put(ctx, x.g, x.g.cards.BeginCreateOrUpdate, name, card))
}

var ownReference = regexp.MustCompile(`(?i)resource /[^ ]*/(publicIPAddresses|networkSecurityGroups|applicationSecurityGroups)/muster-`)

// unknownYet is for a reference to the cluster's own firewall, or to an address of ours, that someone has just deleted.
func unknownYet(err error) error {
	if e := app.AsError(err); err != nil && e.Reason == "InvalidResourceReference" && ownReference.MatchString(e.Message) {
		again := *e
		again.Code = app.ETransient
		return &again
	}
	return err
}

// cardOf is the network interface as Azure is asked for it.
func (x parts) cardOf(w wanted, address, wall, members string) armnetwork.Interface {
	g := x.g
	ip := &armnetwork.InterfaceIPConfigurationPropertiesFormat{Primary: ref(true), Subnet: &armnetwork.Subnet{ID: &g.subnet},
		PrivateIPAllocationMethod: ref(armnetwork.IPAllocationMethodDynamic), PrivateIPAddressVersion: ref(armnetwork.IPVersionIPv4)}
	if address != "" {
		ip.PublicIPAddress = &armnetwork.PublicIPAddress{ID: &address,
			Properties: &armnetwork.PublicIPAddressPropertiesFormat{DeleteOption: ref(armnetwork.DeleteOptionsDelete)}}
	}
	p := &armnetwork.InterfacePropertiesFormat{IPConfigurations: []*armnetwork.InterfaceIPConfiguration{{Name: ref("primary"), Properties: ip}}}
	setFirewall(p, wall, members)
	return armnetwork.Interface{Location: &g.location, Tags: w.tags, Properties: p}
}

// setFirewall puts an interface behind a firewall; "" takes it out of any.
func setFirewall(p *armnetwork.InterfacePropertiesFormat, wall, members string) {
	p.NetworkSecurityGroup = nil
	if wall != "" {
		p.NetworkSecurityGroup = &armnetwork.SecurityGroup{ID: &wall}
	}
	for _, c := range p.IPConfigurations {
		c.Properties.ApplicationSecurityGroups = nil
		if members != "" {
			c.Properties.ApplicationSecurityGroups = []*armnetwork.ApplicationSecurityGroup{{ID: &members}}
		}
	}
}

// fits reports whether an interface is ready, and has the address and the firewall that are wanted.
func fits(is *armnetwork.Interface, wanted armnetwork.Interface) bool {
	parts := func(p *armnetwork.InterfacePropertiesFormat) (out []string) {
		if p.NetworkSecurityGroup != nil {
			out = append(out, base(p.NetworkSecurityGroup.ID))
		}
		for _, c := range p.IPConfigurations {
			for _, m := range c.Properties.ApplicationSecurityGroups {
				out = append(out, "member of "+base(m.ID))
			}
			if a := c.Properties.PublicIPAddress; a != nil {
				out = append(out, "address "+base(a.ID))
			}
			out = append(out, strings.ToLower(value(c.Properties.Subnet.ID)))
		}
		return out
	}
	return ready(is.Properties.ProvisioningState) && slices.Equal(parts(is.Properties), parts(wanted.Properties))
}

func ready(s *armnetwork.ProvisioningState) bool {
	return value(s) == armnetwork.ProvisioningStateSucceeded
}

// card returns a machine's interface, once nothing is being done to it; ENotFound where it has none.
func (x parts) card(ctx context.Context, machine string) (*armnetwork.Interface, error) {
	g := x.g
	for {
		r, err := g.cards.Get(ctx, g.group, cardName(machine), nil)
		if err != nil {
			return nil, coded(err)
		}
		if r.Properties == nil {
			return nil, app.Errorf(app.ETransient, "Azure's response about %s is incomplete.", cardName(machine))
		}
		if value(r.Properties.ProvisioningState) != armnetwork.ProvisioningStateUpdating {
			return &r.Interface, nil
		}
		if err := pause(ctx, g.pauses.poll); err != nil {
			return nil, err
		}
	}
}

// ensureAddress makes a machine's public address where there is none, and returns its ID. It has no zone of its own, so it serves machines of each.
func (x parts) ensureAddress(ctx context.Context, w wanted) (string, error) {
	g := x.g
	name := addressName(w.name)
	id := g.idOf(kindAddress, name)
	for {
		r, err := g.addresses.Get(ctx, g.group, name, nil)
		if err = coded(err); err != nil && !isAbsent(err) {
			return "", err
		}
		if err == nil && r.Properties != nil && ready(r.Properties.ProvisioningState) {
			return id, nil
		}
		if err != nil || r.Properties == nil || value(r.Properties.ProvisioningState) == armnetwork.ProvisioningStateFailed {
			break
		}
		if err := pause(ctx, g.pauses.poll); err != nil {
			return "", err
		}
	}
	return id, put(ctx, g, g.addresses.BeginCreateOrUpdate, name, armnetwork.PublicIPAddress{Location: &g.location, Tags: w.tags,
		SKU: &armnetwork.PublicIPAddressSKU{Name: ref(armnetwork.PublicIPAddressSKUNameStandard), Tier: ref(armnetwork.PublicIPAddressSKUTierRegional)},
		Properties: &armnetwork.PublicIPAddressPropertiesFormat{PublicIPAllocationMethod: ref(armnetwork.IPAllocationMethodStatic),
			PublicIPAddressVersion: ref(armnetwork.IPVersionIPv4), DeleteOption: ref(armnetwork.DeleteOptionsDelete)}})
}

// discard removes the parts of a machine that was refused. What can't be removed now is listed by Shared: Azure keeps an interface for the machine that it
// was asked for with for three minutes.
func (x parts) discard(ctx context.Context, machine string) { _ = x.removeParts(ctx, machine) }

// remove deletes a machine with all its parts, and returns when they are gone. What doesn't exist is success.
func (x parts) remove(ctx context.Context, machine string) error {
	g := x.g
	if err := drop(ctx, g, g.machines.BeginDelete, machine); err != nil {
		return err
	}
	return x.removeParts(ctx, machine)
}

// removeParts deletes what a machine leaves, as after a create that was cut off. Most of it went with the machine.
func (x parts) removeParts(ctx context.Context, machine string) error {
	g := x.g
	if err := drop(ctx, g, g.cards.BeginDelete, cardName(machine)); err != nil {
		return err
	}
	errs := []error{drop(ctx, g, g.addresses.BeginDelete, addressName(machine))}
	for _, name := range diskNames(machine) {
		errs = append(errs, drop(ctx, g, g.disks.BeginDelete, name))
	}
	return errors.Join(errs...)
}

// pages reads a whole list.
func pages[T any](ctx context.Context, p *runtime.Pager[T], do func(T)) error {
	for n := 0; p.More(); n++ {
		if n == account.MaxPages {
			return account.EndlessList("Azure")
		}
		page, err := p.NextPage(ctx)
		if err != nil {
			return coded(err)
		}
		do(page)
	}
	return nil
}
