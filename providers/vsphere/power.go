package vsphere

import (
	"context"
	"time"

	"muster/app"
	"muster/app/family"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"
)

// powerOff cuts a machine's power. One that is off already is fine.
func (c *cloud) powerOff(ctx context.Context, vm ref) error {
	task, err := methods.PowerOffVM_Task(ctx, c, &types.PowerOffVM_Task{This: vm})
	if err == nil {
		_, err = c.await(ctx, task.Returnval)
	}
	return alreadySo(err, types.VirtualMachinePowerStatePoweredOff)
}

// powerOn starts a machine. One that is on already is fine.
func (c *cloud) powerOn(ctx context.Context, vm ref) error {
	task, err := methods.PowerOnVM_Task(ctx, c, &types.PowerOnVM_Task{This: vm})
	if err == nil {
		_, err = c.await(ctx, task.Returnval)
	}
	return alreadySo(err, types.VirtualMachinePowerStatePoweredOn)
}

func alreadySo(err error, state types.VirtualMachinePowerState) error {
	if f, ok := faultOf(err).(*types.InvalidPowerState); ok && f.ExistingState == state {
		return nil
	}
	return err
}

// Sleep lets the system shut itself down, and cuts its power where it takes too long, or has no VMware Tools that could. Then its user data, with the
// private host key, goes from its configuration: it was for the first start.
func (c *cloud) Sleep(ctx context.Context, id string) error {
	o, err := c.vm(ctx, id)
	if err != nil {
		return err
	}
	if machine(o).State != family.MachineStopped {
		if err := c.shutDown(ctx, o.ref); err != nil {
			return err
		}
	}
	used, err := c.one(ctx, o.ref, "runtime.powerState", propExtra)
	if err != nil || option(used, keyUser) == "" || !isOff(used) {
		return err
	}
	return c.reconfigure(ctx, o.ref, types.VirtualMachineConfigSpec{ExtraConfig: options(keyUser, "", keyUser+keyEncoding, "")})
}

// isOff reports whether a machine is off, and not just suspended.
func isOff(o object) bool {
	return prop[types.VirtualMachinePowerState](o, "runtime.powerState") == types.VirtualMachinePowerStatePoweredOff
}

func (c *cloud) shutDown(ctx context.Context, vm ref) error {
	_, err := methods.ShutdownGuest(ctx, c, &types.ShutdownGuest{This: vm})
	switch {
	case err == nil:
	case faulted[*types.ToolsUnavailable](err), faulted[*types.InvalidPowerState](err), is(err, app.EInvalid):
		return c.powerOff(ctx, vm)
	default:
		return err
	}
	for deadline := time.Now().Add(c.timing.shutdown); time.Now().Before(deadline); {
		o, err := c.one(ctx, vm, "runtime.powerState")
		if err != nil || isOff(o) {
			return err
		}
		if err := wait(ctx, c.timing.look); err != nil {
			return err
		}
	}
	return c.powerOff(ctx, vm)
}

// Wake starts a machine that is off or suspended.
func (c *cloud) Wake(ctx context.Context, id string) error {
	o, err := c.vm(ctx, id)
	if err != nil || machine(o).State != family.MachineStopped {
		return err
	}
	return c.powerOn(ctx, o.ref)
}

// reconfigure changes a machine's configuration.
func (c *cloud) reconfigure(ctx context.Context, vm ref, spec types.VirtualMachineConfigSpec) error {
	task, err := methods.ReconfigVM_Task(ctx, c, &types.ReconfigVM_Task{This: vm, Spec: spec})
	if err != nil {
		return err
	}
	_, err = c.await(ctx, task.Returnval)
	return err
}

// options are entries of a configuration. An empty value removes one.
func options(pairs ...string) (out []types.BaseOptionValue) {
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, &types.OptionValue{Key: pairs[i], Value: pairs[i+1]})
	}
	return out
}
