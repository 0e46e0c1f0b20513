package vsphere

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/providers/internal/account"

	"github.com/vmware/govmomi/vim25/types"
)

// templates returns the datacenter's templates by name, or by their path where several have one name.
func (c *inventory) templates(ctx context.Context, s *site) (map[string]object, error) {
	all, err := c.collect(ctx, []ref{s.vms}, below(),
		want{typeVM, []string{"name", "parent", "config.template", "config.guestFullName", "config.createDate"}}, want{typeFolder, []string{"name", "parent"}})
	if err != nil {
		return nil, err
	}
	folders, many := map[ref]object{}, map[string]int{}
	for _, o := range all {
		if o.Type == typeFolder {
			folders[o.ref] = o
		} else if prop[bool](o, "config.template") {
			many[plain(prop[string](o, "name"))]++
		}
	}
	out := map[string]object{}
	for _, o := range all {
		if o.Type != typeVM || !prop[bool](o, "config.template") {
			continue
		}
		name := plain(prop[string](o, "name"))
		if many[name] > 1 || strings.Contains(name, "/") {
			name = prop[string](o, "name") // as paths have it
			for in, ok := folders[prop[ref](o, "parent")]; ok; in, ok = folders[prop[ref](in, "parent")] {
				name = prop[string](in, "name") + "/" + name
			}
		}
		out[name] = o
	}
	return out, nil
}

// template returns the template with a name or an inventory path, and its hardware.
func (c *inventory) template(ctx context.Context, s *site, image string) (object, error) {
	var found *ref
	var known map[string]object
	var err error
	if strings.Contains(image, "/") {
		found, err = c.walk(ctx, s, image)
	} else if known, err = c.knownTemplates(ctx, s); err == nil {
		if o, ok := known[image]; ok {
			found = &o.ref
		}
	}
	if err != nil {
		return object{}, err
	}
	if found == nil || found.Type != typeVM {
		e := app.Errorf(app.EInvalid, "Template %q doesn't exist in datacenter %s, or the user can't see it.", image, s.name)
		e.Hint = "Use the name of a VM template, or its path below the VM folder, such as templates/debian-12."
		if names := sorted(known); humanize.Nearest(image, names) != "" {
			e.Hint = humanize.Suggest(image, names)
		}
		return object{}, e
	}
	o, err := c.one(ctx, *found, "name", "config.template", "config.hardware.device", "config.guestFullName", "datastore", "summary.storage")
	if absent(err) {
		err = app.Errorf(app.EInvalid, "Template %q was deleted.", image)
	}
	if err != nil {
		return o, err
	}
	if !prop[bool](o, "config.template") {
		e := app.Errorf(app.EInvalid, "%q is a virtual machine, not a template.", image)
		e.Hint = "Convert it to a template in vCenter, or clone it to one."
		return o, e
	}
	return o, nil
}

func sorted(m map[string]object) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// knownTemplates are the templates as of a short while ago: there may be thousands of machines beside them.
func (c *inventory) knownTemplates(ctx context.Context, s *site) (map[string]object, error) {
	unlock, err := c.locks.Lock(ctx, "templates")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c.images != nil && c.imagesOf == s {
		return c.images, nil
	}
	all, err := c.templates(ctx, s)
	if err == nil {
		c.images, c.imagesOf = all, s
	}
	return all, err
}

// walk follows a path from the VM folder, or an inventory path from the root.
func (c *inventory) walk(ctx context.Context, s *site, path string) (*ref, error) {
	if strings.HasPrefix(path, "/") {
		return c.at(ctx, path)
	}
	at := &s.vms
	for _, name := range strings.Split(path, "/") {
		var err error
		if at, err = c.child(ctx, *at, name); err != nil || at == nil {
			return nil, err
		}
	}
	return at, nil
}

// disks are a template's, in the order in which its system sees them.
func disks(template object) []*types.VirtualDisk {
	var out []*types.VirtualDisk
	for _, d := range prop[types.ArrayOfVirtualDevice](template, "config.hardware.device").VirtualDevice {
		if disk, ok := d.(*types.VirtualDisk); ok {
			out = append(out, disk)
		}
	}
	slices.SortStableFunc(out, func(a, b *types.VirtualDisk) int {
		return cmp.Or(cmp.Compare(a.ControllerKey, b.ControllerKey), cmp.Compare(unit(a), unit(b)))
	})
	return out
}

// inGB writes a disk's size.
func inGB(kb int64) string { return account.Number(float64(kb) / gib) }

func unit(d *types.VirtualDisk) int32 {
	if d.UnitNumber == nil {
		return 0
	}
	return *d.UnitNumber
}

// devices are the changes to the template's hardware.
func (o *order) devices(template object, network *object) (out []types.BaseVirtualDeviceConfigSpec, err error) {
	all := disks(template)
	if len(all) == 0 {
		return nil, app.Errorf(app.EInvalid, "Template %q has no disk.", o.spec.Image.Image)
	}
	if o.rootDisk > 0 {
		root := *all[0]
		if wants := int64(o.rootDisk) * gib; wants < root.CapacityInKB {
			e := app.Errorf(app.EInvalid, "The first disk of template %q has %s GB, which is more than root_disk_gb, %d.",
				o.spec.Image.Image, inGB(root.CapacityInKB), o.rootDisk)
			e.Hint = "Set root_disk_gb to at least the template's size, or to 0."
			return nil, e
		} else if wants > root.CapacityInKB {
			root.CapacityInKB, root.CapacityInBytes = wants, wants*1024
			out = append(out, &types.VirtualDeviceConfigSpec{Operation: types.VirtualDeviceConfigSpecOperationEdit, Device: &root})
		}
	}
	if o.dataDisk > 0 {
		disk, err := o.data(all)
		if err != nil {
			return nil, err
		}
		out = append(out, &types.VirtualDeviceConfigSpec{Operation: types.VirtualDeviceConfigSpecOperationAdd,
			FileOperation: types.VirtualDeviceConfigSpecFileOperationCreate, Device: disk})
	}
	if network != nil {
		change, err := adapter(template, *network)
		if err != nil {
			return nil, err
		}
		out = append(out, change)
	}
	return out, nil
}

// data is a thin disk beside the template's first one.
func (o *order) data(all []*types.VirtualDisk) (*types.VirtualDisk, error) {
	const reserved, units = 7, 16 // the controller itself has number 7
	thin, used := true, map[int32]bool{reserved: true}
	for _, d := range all {
		if d.ControllerKey == all[0].ControllerKey {
			used[unit(d)] = true
		}
	}
	for n := int32(0); n < units; n++ {
		if !used[n] {
			return &types.VirtualDisk{CapacityInKB: int64(o.dataDisk) * gib, CapacityInBytes: int64(o.dataDisk) * gib * 1024, VirtualDevice: types.VirtualDevice{
				Key: -1, ControllerKey: all[0].ControllerKey, UnitNumber: &n,
				Backing: &types.VirtualDiskFlatVer2BackingInfo{DiskMode: string(types.VirtualDiskModePersistent), ThinProvisioned: &thin}}}, nil
		}
	}
	return nil, app.Errorf(app.EInvalid, "The disk controller of template %q is full, so machines can't have a data disk.", o.spec.Image.Image)
}

// adapter puts the template's first network adapter on a network, or adds one.
func adapter(template, network object) (*types.VirtualDeviceConfigSpec, error) {
	var backing types.BaseVirtualDeviceBackingInfo
	name := prop[string](network, "name")
	switch network.Type {
	case typePortgroup:
		backing = &types.VirtualEthernetCardDistributedVirtualPortBackingInfo{Port: types.DistributedVirtualSwitchPortConnection{
			PortgroupKey: prop[string](network, "key"), SwitchUuid: prop[string](network, "switch")}}
	case "OpaqueNetwork":
		s := prop[types.OpaqueNetworkSummary](network, "summary")
		backing = &types.VirtualEthernetCardOpaqueNetworkBackingInfo{OpaqueNetworkId: s.OpaqueNetworkId, OpaqueNetworkType: s.OpaqueNetworkType}
	default:
		backing = &types.VirtualEthernetCardNetworkBackingInfo{Network: &network.ref,
			VirtualDeviceDeviceBackingInfo: types.VirtualDeviceDeviceBackingInfo{DeviceName: name}}
	}
	for _, d := range prop[types.ArrayOfVirtualDevice](template, "config.hardware.device").VirtualDevice {
		if nic, ok := d.(types.BaseVirtualEthernetCard); ok {
			card := nic.GetVirtualEthernetCard()
			card.Backing, card.MacAddress, card.AddressType = backing, "", string(types.VirtualEthernetCardMacTypeGenerated)
			return &types.VirtualDeviceConfigSpec{Operation: types.VirtualDeviceConfigSpecOperationEdit, Device: d}, nil
		}
	}
	card := &types.VirtualVmxnet3{}
	card.Key, card.Backing, card.AddressType = -2, backing, string(types.VirtualEthernetCardMacTypeGenerated)
	card.Connectable = &types.VirtualDeviceConnectInfo{StartConnected: true, AllowGuestControl: true, Connected: true}
	return &types.VirtualDeviceConfigSpec{Operation: types.VirtualDeviceConfigSpecOperationAdd, Device: card}, nil
}
