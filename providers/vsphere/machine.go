package vsphere

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"
)

// Keys of a machine's configuration.
const (
	keyCard     = "muster.machine"
	keyMeta     = "guestinfo.metadata"
	keyUser     = "guestinfo.userdata"
	keyEncoding = ".encoding"
	propExtra   = "config.extraConfig"
	// propInstance is there whenever the configuration can be read.
	propInstance = "config.instanceUuid"
)

// card is what Muster notes in a machine's configuration.
type card struct {
	Tags     map[string]string `json:"tags"`
	Hostname string            `json:"hostname"`
	User     string            `json:"user"`
	HostKey  string            `json:"host_key,omitempty"`
	Zone     string            `json:"zone,omitempty"`
}

func (k card) write() (string, error) {
	b, err := json.Marshal(k)
	return string(b), err
}

// paths are what is read of a machine. Of its configuration, that's the card alone: the rest is long.
func (c *cloud) paths() []string {
	extra := propExtra + `["` + keyCard + `"]`
	if c.whole.Load() {
		extra = propExtra
	}
	return []string{"name", "runtime.powerState", "runtime.connectionState", "guest.ipAddress", "guest.net", "config.createDate", "config.template", propInstance,
		"summary.config.numCpu", "summary.config.memorySizeMB", extra}
}

// vms reads machines. A vCenter that takes no path to a single key of a configuration is asked for all of it from then on.
func (c *cloud) vms(ctx context.Context, from []ref, steps []types.BaseSelectionSpec) ([]object, error) {
	found, err := c.collect(ctx, from, steps, want{typeVM, c.paths()})
	if !faulted[*types.InvalidProperty](err) {
		return found, err
	}
	c.whole.Store(true)
	return c.collect(ctx, from, steps, want{typeVM, c.paths()})
}

// option returns a value of a machine's configuration.
func option(o object, key string) string {
	v, ok := o.props[propExtra+`["`+key+`"]`].(types.OptionValue)
	if !ok {
		for _, each := range prop[types.ArrayOfOptionValue](o, propExtra).OptionValue {
			if each.GetOptionValue().Key == key {
				v = *each.GetOptionValue()
			}
		}
	}
	text, _ := v.Value.(string)
	return text
}

// readCard returns what Muster noted. It counts only in the machine that it was noted in: a clone that people make of one has it, too, but another instance
// UUID.
func readCard(o object) (k card) {
	if json.Unmarshal([]byte(option(o, keyCard)), &k) != nil ||
		!strings.EqualFold(instanceUUID(k.Tags), prop[string](o, propInstance)) {
		return card{}
	}
	return k
}

// legible is the error for a machine whose configuration vCenter can't read now: it's still being created, or its host or datastore is away. What it is can't
// be known, least of all that it isn't there.
func legible(o object) error {
	if prop[string](o, propInstance) != "" {
		return nil
	}
	e := app.Errorf(app.ETransient, "vCenter can't read the configuration of virtual machine %s now.", cmp.Or(plain(prop[string](o, "name")), o.Value))
	e.Hint = "It may still be being created, or its host or datastore isn't available. If it's lost, remove it from vCenter's inventory."
	return e
}

// machine is a virtual machine in app's words.
func machine(o object) family.Machine {
	k := readCard(o)
	m := family.Machine{ID: o.Value, State: family.MachineStarting, Hostname: k.Hostname, SSHUser: k.User, Tags: k.Tags, HostKey: k.HostKey,
		OwnRoot: true, Zone: k.Zone, Note: "virtual machine " + plain(prop[string](o, "name")), CreatedAt: prop[time.Time](o, "config.createDate")}
	if m.Hostname == "" {
		m.Hostname = plain(prop[string](o, "name"))
	}
	switch prop[types.VirtualMachinePowerState](o, "runtime.powerState") {
	case types.VirtualMachinePowerStatePoweredOff, types.VirtualMachinePowerStateSuspended:
		m.State = family.MachineStopped
	case types.VirtualMachinePowerStatePoweredOn:
		if m.Addresses = addresses(o); m.Addresses["access_v4"] != "" {
			m.State = family.MachineRunning
		}
	}
	if c := prop[types.VirtualMachineConnectionState](o, "runtime.connectionState"); c != "" && c != types.VirtualMachineConnectionStateConnected {
		m.Note += ", " + string(c) + " in vCenter"
	}
	return m
}

// addresses are those that VMware Tools report of the first adapter that has some. Addresses inside the machine, such as a container bridge's, belong to no
// adapter.
func addresses(o object) map[string]string {
	out := map[string]string{}
	nics := slices.Clone(prop[types.ArrayOfGuestNicInfo](o, "guest.net").GuestNicInfo)
	slices.SortStableFunc(nics, func(a, b types.GuestNicInfo) int { return int(a.DeviceConfigId - b.DeviceConfigId) })
	for _, nic := range nics {
		if nic.DeviceConfigId < 0 || out["access_v4"] != "" {
			continue
		}
		for _, text := range nic.IpAddress {
			note(out, text)
		}
	}
	if out["access_v4"] == "" {
		note(out, prop[string](o, "guest.ipAddress"))
	}
	return out
}

func note(out map[string]string, text string) {
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil || !a.IsGlobalUnicast():
	case a.Is4() && out["access_v4"] == "":
		out["access_v4"] = text
	case a.Is6() && out["access_v6"] == "":
		out["access_v6"] = text
	}
}

// ourName is what machines are called: see machineName.
var ourName = regexp.MustCompile(`-[0-9a-f]{12}$`)

var idForm = regexp.MustCompile(`^vm-[0-9]{1,20}$`)

// vm returns a virtual machine; ENotFound for an id that none can have.
func (c *cloud) vm(ctx context.Context, id string) (object, error) {
	if err := ctx.Err(); err != nil {
		return object{}, err
	}
	missing := app.Errorf(app.ENotFound, "Virtual machine %q doesn't exist.", id)
	if !idForm.MatchString(id) {
		return object{}, missing
	}
	found, err := c.vms(ctx, []ref{{Type: typeVM, Value: id}}, nil)
	if absent(err) || err == nil && len(found) == 0 {
		return object{}, missing
	}
	if err == nil && found[0].hidden != nil { // it's there, but not for this user
		err = taskFailure(&types.LocalizedMethodFault{Fault: found[0].hidden})
	}
	if absent(err) {
		return object{}, missing
	}
	if err != nil {
		return object{}, err
	}
	return found[0], legible(found[0])
}

func (c *cloud) Describe(ctx context.Context, id string) (family.Machine, error) {
	o, err := c.vm(ctx, id)
	if err != nil {
		return family.Machine{}, err
	}
	return machine(o), nil
}

// List reads the machines' folder, with the folders in it. An intent's machine is looked up, wherever people may have moved it.
func (c *cloud) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	if tags[family.TagInstallation] != "" && tags[family.TagIntent] != "" {
		o, err := c.lookUp(ctx, tags)
		if err == nil && o == nil {
			err = c.stillCloning(ctx, tags)
		}
		if err != nil || o == nil {
			return []family.Machine{}, err
		}
		return listed([]object{*o}, tags), nil
	}
	found, err := c.inFolder(ctx)
	if absent(err) { // it was deleted meanwhile, and perhaps created again
		c.remember(nil)
		found, err = c.inFolder(ctx)
	}
	if err != nil {
		return nil, err
	}
	for _, o := range found {
		if err := legible(o); err != nil && o.hidden == nil && ourName.MatchString(prop[string](o, "name")) {
			return nil, err
		}
	}
	return listed(found, tags), nil
}

// listed are those that carry tags.
func listed(all []object, tags map[string]string) []family.Machine {
	out := []family.Machine{}
	for _, o := range all {
		if m := machine(o); len(m.Tags) > 0 && carries(m.Tags, tags) && !prop[bool](o, "config.template") {
			out = append(out, m)
		}
	}
	return out
}

func (c *cloud) inFolder(ctx context.Context) ([]object, error) {
	folder, err := c.machines(ctx)
	if err != nil || folder == nil {
		return nil, err
	}
	return c.vms(ctx, []ref{*folder}, below())
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// Delete cuts the machine's power and deletes it with all its disks.
func (c *cloud) Delete(ctx context.Context, id string) error {
	o, err := c.vm(ctx, id)
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	err = c.destroy(ctx, o)
	if absent(err) {
		err = nil
	}
	if err == nil {
		c.asked.Forget(intentKey(readCard(o).Tags))
	}
	return err
}

func (c *cloud) destroy(ctx context.Context, o object) error {
	if !isOff(o) {
		if err := c.powerOff(ctx, o.ref); err != nil {
			return err
		}
	}
	task, err := methods.Destroy_Task(ctx, c, &types.Destroy_Task{This: o.ref})
	if err != nil {
		return err
	}
	_, err = c.await(ctx, task.Returnval)
	return err
}
