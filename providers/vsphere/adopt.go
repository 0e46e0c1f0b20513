package vsphere

import (
	"context"

	"muster/app/family"

	"github.com/vmware/govmomi/vim25/types"
)

// Adopt writes the new node's tags and name in one change, so that there's no moment in between. User data that is still there goes with it.
func (c *cloud) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	release, err := c.locks.Lock(ctx, intentKey(spec.Tags))
	if err != nil {
		return err
	}
	defer release()
	o, err := c.vm(ctx, id)
	if err != nil {
		return err
	}
	k := readCard(o)
	k.Tags, k.Hostname = spec.Tags, spec.Hostname
	text, err := k.write()
	if err != nil {
		return err
	}
	change := types.VirtualMachineConfigSpec{ExtraConfig: options(keyCard, text)}
	if name := machineName(spec); name != plain(prop[string](o, "name")) {
		change.Name = name
	}
	if machine(o).State == family.MachineRunning { // it has an address, so it has read them
		change.ExtraConfig = append(change.ExtraConfig, options(keyUser, "", keyUser+keyEncoding, "")...)
	}
	return c.reconfigure(ctx, o.ref, change)
}
