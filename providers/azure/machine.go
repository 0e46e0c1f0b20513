package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"muster/app"
	"muster/app/family"
)

// vm returns a VM with its state; ENotFound where there is none.
func (g *group) vm(ctx context.Context, id string) (*armcompute.VirtualMachine, error) {
	if !machineForm.MatchString(id) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, absent(id)
	}
	r, err := g.machines.Get(ctx, g.group, id, &armcompute.VirtualMachinesClientGetOptions{Expand: ref(armcompute.InstanceViewTypesInstanceView)})
	if err = coded(err); isAbsent(err) {
		return nil, absent(id)
	}
	if err == nil && r.Properties == nil {
		err = app.Errorf(app.ETransient, "Azure's response about machine %s is incomplete.", id)
	}
	return &r.VirtualMachine, err
}

// powerOf returns the power state, such as running; "" where Azure doesn't tell it.
func powerOf(p *armcompute.VirtualMachineProperties) string {
	if p == nil || p.InstanceView == nil {
		return ""
	}
	for _, s := range p.InstanceView.Statuses {
		if power, ok := strings.CutPrefix(value(s.Code), "PowerState/"); ok {
			return strings.ToLower(power)
		}
	}
	return ""
}

// Describe returns the machine as it is now.
func (g *group) Describe(ctx context.Context, id string) (family.Machine, error) {
	vm, err := g.vm(ctx, id)
	if err != nil {
		return family.Machine{}, err
	}
	return g.whole(ctx, vm)
}

// whole returns the machine with its addresses.
func (g *group) whole(ctx context.Context, vm *armcompute.VirtualMachine) (family.Machine, error) {
	r, err := g.cards.Get(ctx, g.group, cardName(value(vm.Name)), &armnetwork.InterfacesClientGetOptions{Expand: ref("ipConfigurations/publicIPAddress")})
	if err = coded(err); err != nil && !isAbsent(err) {
		return family.Machine{}, err
	}
	return g.machine(vm, powerOf(vm.Properties), addressesOf(r.Interface, nil)), nil
}

// addressesOf returns the addresses of an interface. Public addresses that aren't within it are looked up by ID.
func addressesOf(card armnetwork.Interface, public map[string]string) map[string]string {
	out := map[string]string{}
	if card.Properties == nil {
		return out
	}
	for _, c := range card.Properties.IPConfigurations {
		if c.Properties == nil {
			continue
		}
		if at := value(c.Properties.PrivateIPAddress); at != "" {
			out[app.AddressBind], out[app.AddressAccess] = at, at
		}
		if a := c.Properties.PublicIPAddress; a != nil {
			at := public[strings.ToLower(value(a.ID))]
			if a.Properties != nil && a.Properties.IPAddress != nil {
				at = *a.Properties.IPAddress
			}
			delete(out, app.AddressAccess)
			if at != "" {
				out[app.AddressAccess] = at
			}
		}
	}
	return out
}

// machine is what Azure says of it.
func (g *group) machine(vm *armcompute.VirtualMachine, power string, addresses map[string]string) family.Machine {
	p := vm.Properties
	provisioning := strings.ToLower(value(p.ProvisioningState))
	m := family.Machine{ID: strings.ToLower(value(vm.Name)), Hostname: value(vm.Tags[tagHostname]), SSHUser: value(vm.Tags[tagUser]),
		HostKey:   value(vm.Tags[tagHostKey]),
		Addresses: addresses, OwnRoot: true, Tags: tagsFrom(vm.Tags), CreatedAt: value(p.TimeCreated).UTC()}
	if m.Hostname == "" {
		m.Hostname = m.ID
	}
	if len(vm.Zones) > 0 {
		m.Zone = strings.ToLower(value(vm.Location)) + "-" + value(vm.Zones[0])
	}
	switch {
	case provisioning == "deleting":
		m.State = family.MachineStopped
	case power == "running" && addresses[app.AddressAccess] != "":
		m.State = family.MachineRunning
	case power == "" && provisioning != "failed", power == "running", power == "starting",
		power == "stopped" && (provisioning == "creating" || provisioning == "updating"): // for a moment, on the way to running
		m.State = family.MachineStarting
	default:
		m.State = family.MachineStopped // stopping, stopped, deallocating, deallocated, or it never started
	}
	if p.HardwareProfile != nil {
		m.Note = string(value(p.HardwareProfile.VMSize))
	}
	if value(p.Priority) == armcompute.VirtualMachinePriorityTypesSpot {
		m.Note += ", spot"
		m.Taken = power == "deallocated" || power == "deallocating"
	}
	switch {
	case provisioning == "deleting", provisioning == "failed":
		m.Note += ", " + provisioning
	case m.State == family.MachineStopped:
		m.Note += ", " + power
	}
	return m
}

// List returns every machine that carries all of the tags.
func (g *group) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	found, err := g.listed(ctx, tags)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	power, err := g.powers(ctx, found)
	if err != nil {
		return nil, err
	}
	public, cards := map[string]string{}, map[string]armnetwork.Interface{}
	if err := pages(ctx, g.addresses.NewListPager(g.group, nil), func(page armnetwork.PublicIPAddressesClientListResponse) {
		for _, a := range page.Value {
			if a.Properties != nil {
				public[strings.ToLower(value(a.ID))] = value(a.Properties.IPAddress)
			}
		}
	}); err != nil {
		return nil, err
	}
	if err := pages(ctx, g.cards.NewListPager(g.group, nil), func(page armnetwork.InterfacesClientListResponse) {
		for _, c := range page.Value {
			cards[strings.ToLower(value(c.Name))] = *c
		}
	}); err != nil {
		return nil, err
	}
	var out []family.Machine
	for _, vm := range found {
		name := strings.ToLower(value(vm.Name))
		out = append(out, g.machine(vm, power[name], addressesOf(cards[cardName(name)], public)))
	}
	slices.SortFunc(out, func(a, b family.Machine) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// listed returns the resource group's VMs that Muster made and that carry all of the tags.
func (g *group) listed(ctx context.Context, tags map[string]string) (out []*armcompute.VirtualMachine, err error) {
	err = pages(ctx, g.machines.NewListPager(g.group, nil), func(page armcompute.VirtualMachinesClientListResponse) {
		for _, vm := range page.Value {
			if vm.Properties != nil && machineForm.MatchString(strings.ToLower(value(vm.Name))) && carries(tagsFrom(vm.Tags), tags) {
				out = append(out, vm)
			}
		}
	})
	return out, err
}

// powers returns the power states of machines by name. The list of a resource group doesn't have them, that of the subscription does, for those who may
// read it; of others, each machine is asked for.
func (g *group) powers(ctx context.Context, found []*armcompute.VirtualMachine) (map[string]string, error) {
	of := map[string]string{}
	prefix := strings.ToLower("/subscriptions/" + g.subscription + "/resourceGroups/" + g.group + "/")
	if len(found) > 2 {
		err := pages(ctx, g.machines.NewListAllPager(&armcompute.VirtualMachinesClientListAllOptions{StatusOnly: ref("true")}),
			func(page armcompute.VirtualMachinesClientListAllResponse) {
				for _, vm := range page.Value {
					if power := powerOf(vm.Properties); power != "" && strings.HasPrefix(strings.ToLower(value(vm.ID)), prefix) {
						of[base(vm.ID)] = power
					}
				}
			})
		if err != nil && app.CodeOf(err) != app.ECredentials {
			return nil, err
		}
	}
	for _, vm := range found {
		name := strings.ToLower(value(vm.Name))
		if of[name] != "" {
			continue
		}
		one, err := g.vm(ctx, name)
		if err != nil && !isAbsent(err) {
			return nil, err
		}
		if err == nil {
			of[name] = powerOf(one.Properties)
		}
	}
	return of, nil
}

// Delete removes the machine with all that was made for it, and returns when it is gone.
func (g *group) Delete(ctx context.Context, id string) error {
	if !machineForm.MatchString(id) {
		return ctx.Err()
	}
	unlock, err := g.locks.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if err := g.dropNames(ctx, id); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	return g.parts().remove(ctx, id)
}
