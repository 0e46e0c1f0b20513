package azure

import (
	"context"
	"maps"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"muster/app"
	"muster/app/family"
)

// Adopt sets other tags on the machine, and puts it behind its new cluster's firewall before. Its names at Azure can't be changed.
func (g *group) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	unlock, err := g.locks.Lock(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	vm, err := g.vm(ctx, id)
	if err != nil {
		return err
	}
	tags, err := tagsFor(spec.Tags)
	if err != nil {
		return err
	}
	for _, k := range []string{tagUser, tagHostKey, tagMade} {
		if vm.Tags[k] != nil {
			tags[k] = vm.Tags[k]
		}
	}
	tags[tagHostname] = ref(spec.Hostname)
	if err := g.move(ctx, id, spec, tags); err != nil {
		return err
	}
	if sameTags(vm.Tags, tags) {
		return nil
	}
	return gone(id, put(ctx, g, g.machines.BeginUpdate, id, armcompute.VirtualMachineUpdate{Tags: tags}))
}

// move puts a machine's interface behind its cluster's firewall, or out of one, and its parts get its new tags.
func (g *group) move(ctx context.Context, id string, spec family.MachineSpec, tags map[string]*string) error {
	wall, members := "", ""
	if spec.Firewall != nil {
		o, err := readOptions(g.raw.With(spec.Flavor.Extra, spec.Image.Extra))
		if err != nil {
			return err
		}
		if wall, members, err = g.ensureFirewall(ctx, spec, o); err != nil {
			return err
		}
	}
	card, err := g.parts().card(ctx, id)
	if isAbsent(err) {
		return app.Errorf(app.EInvalid, "Machine %s doesn't have the network interface that Muster created.", id)
	}
	if err != nil {
		return err
	}
	before := *card
	before.Properties = ref(*card.Properties)
	before.Properties.IPConfigurations = nil
	for _, c := range card.Properties.IPConfigurations {
		same := &armnetwork.InterfaceIPConfiguration{Name: c.Name, Properties: ref(*c.Properties)}
		before.Properties.IPConfigurations = append(before.Properties.IPConfigurations, same)
	}
	setFirewall(card.Properties, wall, members)
	if !fits(&before, *card) || !sameTags(card.Tags, tags) {
		card.Tags = tags
		if err := g.parts().putCard(ctx, cardName(id), *card); err != nil {
			return err
		}
	}
	a, err := g.addresses.Get(ctx, g.group, addressName(id), nil)
	if err = coded(err); isAbsent(err) || err == nil && sameTags(a.Tags, tags) {
		return nil
	}
	if err == nil {
		_, err = g.addresses.UpdateTags(ctx, g.group, addressName(id), armnetwork.TagsObject{Tags: tags}, nil)
	}
	return coded(err)
}

func sameTags(a, b map[string]*string) bool {
	return maps.EqualFunc(a, b, func(x, y *string) bool { return value(x) == value(y) })
}
