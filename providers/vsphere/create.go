package vsphere

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/userdata"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"
)

// order is what one machine is made of.
type order struct {
	spec     family.MachineSpec
	size     size
	rootDisk int
	dataDisk int
	card     card
	userData string
}

// intentKey tells a machine from those of all installations.
func intentKey(tags map[string]string) string {
	sum := sha256.Sum256([]byte(tags[family.TagInstallation] + "\x00" + tags[family.TagIntent]))
	return hex.EncodeToString(sum[:])
}

// instanceUUID is where a machine is found by, whatever people call it: vCenter has an index of these.
func instanceUUID(tags map[string]string) string {
	b, _ := hex.DecodeString(intentKey(tags)[:32])
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80 // version 8: made of one's own
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// machineName is the node's name with a part of the intent's key: two clones for one intent can't both have it.
func machineName(spec family.MachineSpec) string {
	name := account.Name(spec.Hostname)
	return name[:min(len(name), shownName)] + "-" + intentKey(spec.Tags)[:12]
}

func (c *cloud) order(spec family.MachineSpec) (*order, error) {
	if spec.Image.Image == "" {
		return nil, app.Errorf(app.EInvalid, "A virtual machine requires an image, which is a VM template.")
	}
	extra, err := read(c.raw.With(spec.Flavor.Extra))
	if err != nil {
		return nil, err
	}
	o := &order{spec: spec, rootDisk: extra.rootDisk, dataDisk: extra.dataDisk}
	if o.size, err = readSize(spec.Flavor.Flavor); err != nil {
		return nil, err
	}
	user := cmp.Or(spec.Image.SSHUser, "root")
	options := userdata.Options{User: user, DataDisks: o.dataDisk > 0, Custom: extra.custom, Limit: limitUserData}
	text, hostKey, err := userdata.CloudConfig(spec, options)
	o.userData, o.card = text, card{Tags: spec.Tags, Hostname: spec.Hostname, User: user, HostKey: hostKey}
	return o, err
}

// Create clones the template, and starts the clone.
func (c *cloud) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	o, err := c.order(spec)
	if err != nil {
		return family.Machine{}, err
	}
	key := intentKey(spec.Tags)
	release, err := c.locks.Lock(ctx, key)
	if err != nil {
		return family.Machine{}, err
	}
	defer release()
	find := func() (*object, error) { return c.find(ctx, spec.Tags) }
	found, err := account.Standing(ctx, &c.asked, key, c.timing.late, find, func(task string) (*object, error) {
		return c.cloned(ctx, key, ref{Type: typeTask, Value: task}, spec.Tags)
	})
	if err != nil {
		return family.Machine{}, err
	}
	if found == nil {
		if found, err = c.clone(ctx, o, key); err != nil {
			return family.Machine{}, err
		}
	}
	return c.start(ctx, *found)
}

// find returns the intent's machine; nil where there is none. EConflict where it isn't this installation's.
func (c *cloud) find(ctx context.Context, tags map[string]string) (*object, error) {
	o, err := c.lookUp(ctx, tags)
	if err != nil || o == nil {
		return nil, err
	}
	return o, mine(*o, tags)
}

// lookUp returns the virtual machine with an intent's instance UUID, wherever it is in vCenter; nil where there is none.
func (c *cloud) lookUp(ctx context.Context, tags map[string]string) (*object, error) {
	content, err := c.content(ctx)
	if err != nil {
		return nil, err
	}
	byInstance := true
	r, err := methods.FindByUuid(ctx, c, &types.FindByUuid{This: *content.SearchIndex, Uuid: instanceUUID(tags), VmSearch: true,
		InstanceUuid: &byInstance})
	if err != nil || r.Returnval == nil {
		return nil, err
	}
	o, err := c.vm(ctx, r.Returnval.Value)
	if absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &o, nil
}

// mine refuses a machine that isn't the intent's. A card that is missing means that someone else made it, or changed it.
func mine(o object, tags map[string]string) error {
	has := readCard(o).Tags
	if has[family.TagInstallation] == tags[family.TagInstallation] && has[family.TagIntent] == tags[family.TagIntent] {
		return nil
	}
	e := app.Errorf(app.EConflict, "Virtual machine %s has the name or the instance UUID of a new machine, but isn't this installation's.",
		plain(prop[string](o, "name")))
	e.Hint = "Delete it in vCenter if it isn't needed."
	return e
}

// clone asks for the clone, and waits for it. Where its caller goes, the task continues, and the next call finds it.
func (c *cloud) clone(ctx context.Context, o *order, key string) (*object, error) {
	request, err := c.request(ctx, o, key)
	if err != nil {
		return nil, err
	}
	answer, err := methods.CloneVM_Task(ctx, c, request)
	if err != nil {
		if faulted[*types.DuplicateName](err) {
			return c.named(ctx, err, o.spec.Tags)
		}
		if absent(err) { // the template, the folder, or where it should run
			c.outdated()
			return nil, app.Errorf(app.ETransient, "Something that the machine needs was deleted in vCenter a moment ago: %w", err)
		}
		if faultOf(err) == nil { // it may have been carried out
			c.asked.Keep(key, "", err, c.timing.keep)
		}
		return nil, err
	}
	task := answer.Returnval
	c.asked.Keep(key, task.Value, nil, c.timing.keep)
	found, err := c.cloned(ctx, key, task, o.spec.Tags)
	if found == nil && err == nil {
		err = app.Errorf(app.ETransient, "vCenter doesn't show the virtual machine that it has cloned.")
	}
	return found, err
}

// cloned waits for a clone's task, and returns the machine; nil where there is none.
func (c *cloud) cloned(ctx context.Context, key string, task ref, tags map[string]string) (*object, error) {
	result, err := c.await(ctx, task)
	if ctx.Err() == nil && (err == nil || faultOf(err) != nil || errors.Is(err, errForgotten)) { // it has ended, and its end is reported once
		c.asked.Forget(key)
	}
	switch {
	case faulted[*types.DuplicateName](err):
		return c.named(ctx, err, tags)
	case errors.Is(err, errForgotten):
		return c.find(ctx, tags)
	case err != nil:
		return nil, err
	}
	made, ok := result.(ref)
	if !ok {
		return c.find(ctx, tags)
	}
	o, err := c.vm(ctx, made.Value)
	if absent(err) { // deleted meanwhile
		return nil, nil
	}
	return &o, err
}

// named returns the machine for which vCenter refused a second one of its name: another process's clone for the same intent. It may not be complete.
func (c *cloud) named(ctx context.Context, err error, tags map[string]string) (*object, error) {
	found, lookErr := c.find(ctx, tags)
	if lookErr != nil || found != nil {
		return found, lookErr
	}
	f, _ := faultOf(err).(*types.DuplicateName)
	if o, err := c.vm(ctx, f.Object.Value); err == nil && len(o.props) > 0 {
		return &o, mine(o, tags)
	}
	return nil, app.Errorf(app.ETransient, "vCenter is still creating the virtual machine %s.", f.Name)
}

// stillCloning is the error of a look for an intent's machine while this process knows that it's being cloned.
func (c *cloud) stillCloning(ctx context.Context, tags map[string]string) error {
	task := c.asked.ID(intentKey(tags))
	if task == "" {
		return nil
	}
	if on, err := c.running(ctx, ref{Type: typeTask, Value: task}); err != nil || !on {
		return err
	}
	return app.Errorf(app.ETransient, "vCenter is still cloning this machine.")
}

// start starts a machine that was cloned and never ran: its user data are still there. What can't be started is deleted, so that it can be made elsewhere.
func (c *cloud) start(ctx context.Context, o object) (family.Machine, error) {
	if machine(o).State != family.MachineStopped {
		return machine(o), nil
	}
	all, err := c.one(ctx, o.ref, propExtra)
	if err != nil || option(all, keyUser) == "" {
		return machine(o), err
	}
	if err := c.powerOn(ctx, o.ref); err != nil {
		if refused(err) && !absent(err) {
			_ = c.destroy(ctx, o) // what the refusal says counts; one that stays is in lists
		}
		return family.Machine{}, err
	}
	o.props["runtime.powerState"] = types.VirtualMachinePowerStatePoweredOn
	return machine(o), nil
}

// request is the clone: all that a machine has, it has from its first moment.
func (c *cloud) request(ctx context.Context, o *order, key string) (*types.CloneVM_Task, error) {
	s, err := c.theSite(ctx)
	if err != nil {
		return nil, err
	}
	place, err := c.place(ctx, s, o.spec.Zone)
	if err != nil {
		return nil, err
	}
	template, err := c.template(ctx, s, o.spec.Image.Image)
	if err != nil {
		return nil, err
	}
	folder, err := c.ensureFolder(ctx, s)
	if err != nil {
		return nil, err
	}
	devices, err := o.devices(template, place.network)
	if err != nil {
		return nil, err
	}
	o.card.Zone = place.zone
	extra, err := o.extra()
	if err != nil {
		return nil, err
	}
	host, err := c.hostOf(ctx, place, key)
	if err != nil {
		return nil, err
	}
	r := &types.CloneVM_Task{This: template.ref, Folder: folder, Name: machineName(o.spec), Spec: types.VirtualMachineCloneSpec{
		Location: types.VirtualMachineRelocateSpec{Pool: &place.pool, Host: host},
		Config: &types.VirtualMachineConfigSpec{InstanceUuid: instanceUUID(o.spec.Tags), NumCPUs: int32(o.size.cpus), NumCoresPerSocket: &oneCore,
			MemoryMB: int64(o.size.memoryMB), DeviceChange: devices, ExtraConfig: extra,
			Annotation: "Created by Muster for " + o.spec.Hostname + ". Its settings muster.machine say whose it is: don't change them."}}}
	if place.store != nil {
		r.Spec.Location.Datastore = &place.store.ref
	}
	return r, nil
}

var oneCore int32 = 1 // the template's number may not divide the vCPUs

// extra are the settings of the machine: the card, and what cloud-init reads at the first start. Its orders are to erase the user data then.
func (o *order) extra() ([]types.BaseOptionValue, error) {
	text, err := o.card.write()
	if err != nil {
		return nil, err
	}
	meta, err := json.Marshal(map[string]any{"instance-id": instanceUUID(o.spec.Tags), "local-hostname": o.spec.Hostname,
		"redact": []string{"userdata"}, "cleanup-guestinfo": []string{"userdata"}})
	if err != nil {
		return nil, err
	}
	code := base64.StdEncoding.EncodeToString
	return options(keyCard, text, keyMeta, code(meta), keyMeta+keyEncoding, "base64", keyUser, code([]byte(o.userData)), keyUser+keyEncoding, "base64"), nil
}
