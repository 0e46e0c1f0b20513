package azure

import (
	"context"
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/userdata"
)

// defaultAdmin is the user that Azure's own agent creates where Muster signs in as root, whom Azure doesn't allow there.
const defaultAdmin = "azureuser"

// longestCustom is how long custom data may be, in bytes before base64.
const longestCustom = 65535

var (
	sizeForm  = regexp.MustCompile(`^(Standard|Basic)_[A-Za-z0-9_-]{1,60}$`)
	urnForm   = regexp.MustCompile(`^([\w.-]{1,80}):([\w.-]{1,80}):([\w.-]{1,80}):([\w.-]{1,80})$`)
	imageForm = regexp.MustCompile(`(?i)^/subscriptions/[0-9a-f-]{36}/resourceGroups/[^/]+/providers/Microsoft\.Compute/` +
		`(images/[^/]+|galleries/[^/]+/images/[^/]+(/versions/[^/]+)?)$`)
	foreign = regexp.MustCompile(`(?i)^/(CommunityGalleries|SharedGalleries)/[^/]+/Images/[^/]+(/Versions/[^/]+)?$`)
)

// wanted is a machine that is asked for.
type wanted struct {
	name    string
	spec    family.MachineSpec
	options options
	zone    string // 1, 2 or 3; "" for none
	user    string
	hostKey string // the public half
	custom  string
	image   *armcompute.ImageReference
	tags    map[string]*string
}

// want reads a spec; EInvalid for what no account would take.
func (g *group) want(spec family.MachineSpec) (w wanted, err error) {
	w = wanted{name: machineName(spec.Tags, spec.Intent), spec: spec, user: spec.Image.SSHUser}
	if w.user == "" {
		w.user = "root"
	}
	if w.options, err = readOptions(g.raw.With(spec.Flavor.Extra, spec.Image.Extra)); err != nil {
		return w, err
	}
	if !sizeForm.MatchString(spec.Flavor.Flavor) {
		return w, hinted(app.Errorf(app.EInvalid, "%q isn't a valid VM size.", spec.Flavor.Flavor), "For example, Standard_B2s. Sizes are case-sensitive.")
	}
	if w.image, err = imageOf(spec.Image.Image); err != nil {
		return w, err
	}
	if w.zone, err = g.zoneOf(spec.Zone); err != nil {
		return w, err
	}
	text, hostKey, err := userdata.CloudConfig(spec, userdata.Options{User: w.user, DataDisks: w.options.dataGB > 0, Custom: w.options.custom,
		Limit: longestCustom})
	if err != nil {
		return w, err
	}
	w.custom, w.hostKey = base64.StdEncoding.EncodeToString([]byte(text)), hostKey
	if len(hostKey) > longestText {
		w.hostKey = "" // a tag can't hold it, so the key is pinned at first contact
	}
	if w.tags, err = tagsFor(spec.Tags); err != nil {
		return w, err
	}
	w.tags[tagHostname], w.tags[tagUser], w.tags[tagMade] = ref(spec.Hostname), ref(w.user), now()
	if w.hostKey != "" {
		w.tags[tagHostKey] = ref(w.hostKey)
	}
	return w, nil
}

// zoneOf returns the number of a zone such as westeurope-1.
func (g *group) zoneOf(zone string) (string, error) {
	if zone == "" {
		return "", nil
	}
	n, ok := strings.CutPrefix(zone, g.location+"-")
	if !ok || len(n) != 1 || n[0] < '1' || n[0] > '9' {
		return "", hinted(app.Errorf(app.EInvalid, "%q isn't a zone of location %s.", zone, g.location),
			"A zone is the location and a number, such as "+g.location+"-1.")
	}
	return n, nil
}

func imageOf(text string) (*armcompute.ImageReference, error) {
	if m := urnForm.FindStringSubmatch(text); m != nil {
		return &armcompute.ImageReference{Publisher: &m[1], Offer: &m[2], SKU: &m[3], Version: &m[4]}, nil
	}
	if imageForm.MatchString(text) {
		return &armcompute.ImageReference{ID: &text}, nil
	}
	if m := foreign.FindStringSubmatch(text); m != nil && strings.EqualFold(m[1], "CommunityGalleries") {
		return &armcompute.ImageReference{CommunityGalleryImageID: &text}, nil
	} else if m != nil {
		return &armcompute.ImageReference{SharedGalleryImageID: &text}, nil
	}
	return nil, hinted(app.Errorf(app.EInvalid, "%q isn't a valid image.", text),
		"Use PUBLISHER:OFFER:SKU:VERSION, such as Debian:debian-12:12-gen2:latest, or the resource ID of an image.")
}

// Create makes the machine, or returns the intent's existing one. It returns when Azure has found room for it.
func (g *group) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	w, err := g.want(spec)
	if err != nil {
		return family.Machine{}, err
	}
	unlock, err := g.locks.Lock(ctx, w.name)
	if err != nil {
		return family.Machine{}, err
	}
	defer unlock()
	vm, err := g.vm(ctx, w.name)
	switch {
	case isAbsent(err):
		return g.create(ctx, w)
	case err != nil:
		return family.Machine{}, err
	}
	return g.settled(ctx, w, vm, false)
}

// create makes the machine for the first time, in each market until there is room.
func (g *group) create(ctx context.Context, w wanted) (family.Machine, error) {
	var m family.Machine
	var err error
	for _, spot := range w.options.markets() {
		var card string
		if card, err = g.parts().ensureCard(ctx, w); err != nil {
			if refused(err) {
				g.parts().discard(ctx, w.name)
			}
			return m, missing(err)
		}
		if m, err = g.launch(ctx, w, g.request(w, card, spot)); err == nil {
			return m, nil
		}
		if code := app.CodeOf(err); !spot || code != app.ECapacity && code != app.EQuota {
			break
		}
	}
	return m, missing(err)
}

// missing is for errors of a create, in which what doesn't exist was named by the settings, or has just been deleted.
func missing(err error) error {
	if !isAbsent(err) {
		return err
	}
	e := *app.AsError(err)
	e.Code = app.EInvalid
	return &e
}

// markets are where a machine is bought: true is spot.
func (o options) markets() []bool {
	switch o.spot {
	case spotYes:
		return []bool{true}
	case spotFallback:
		return []bool{true, false}
	}
	return []bool{false}
}

// launch asks for the VM. A name that exists is never changed.
func (g *group) launch(ctx context.Context, w wanted, vm armcompute.VirtualMachine) (family.Machine, error) {
	_, err := g.machines.BeginCreateOrUpdate(ctx, g.group, w.name, vm, &armcompute.VirtualMachinesClientBeginCreateOrUpdateOptions{IfNoneMatch: ref("*")})
	if err = coded(err); refused(err) {
		g.parts().discard(ctx, w.name)
		return family.Machine{}, err
	}
	fresh := err == nil
	if !fresh && app.CodeOf(err) != app.EConflict { // or else another process was faster
		return family.Machine{}, err
	}
	made, err := g.vm(ctx, w.name)
	if isAbsent(err) {
		return family.Machine{}, app.Errorf(app.ETransient, "Machine %s was requested but doesn't exist yet.", w.name)
	}
	if err != nil {
		return family.Machine{}, err
	}
	return g.settled(ctx, w, made, fresh)
}

// settled waits until Azure has found room for a machine that is being made. One that never started is deleted, and the error is why: one that failed
// while this call waited (fresh), or that has no power state. Others that are Failed may be asleep: Azure calls them so if they couldn't wake.
func (g *group) settled(ctx context.Context, w wanted, vm *armcompute.VirtualMachine, fresh bool) (family.Machine, error) {
	for {
		if tagsFrom(vm.Tags)[family.TagIntent] != w.spec.Intent {
			return family.Machine{}, app.Errorf(app.EConflict, "Machine %s already exists and isn't Muster's.", w.name)
		}
		power, state := powerOf(vm.Properties), strings.ToLower(value(vm.Properties.ProvisioningState))
		switch {
		case state == "deleting":
			return family.Machine{}, app.Errorf(app.ETransient, "Machine %s is being deleted.", w.name)
		case state == "failed" && (power == "" || fresh && power != "running" && power != "starting"):
			err := failedAtStart(vm)
			if e := g.parts().remove(ctx, w.name); e != nil {
				return family.Machine{}, app.Errorf(app.ETransient, "Machine %s couldn't be created and isn't deleted yet: %s", w.name, app.AsError(err).Message)
			}
			return family.Machine{}, err
		case state != "creating", power == "running", power == "starting":
			return g.whole(ctx, vm)
		}
		fresh = true
		if err := pause(ctx, g.pauses.poll); err != nil {
			return family.Machine{}, err
		}
		next, err := g.vm(ctx, w.name)
		if isAbsent(err) { // the next try returns why
			return family.Machine{}, app.Errorf(app.ETransient, "Azure gave up creating machine %s.", w.name)
		}
		if err != nil {
			return family.Machine{}, err
		}
		vm = next
	}
}

// failedAtStart returns why a machine never started.
func failedAtStart(vm *armcompute.VirtualMachine) error {
	if v := vm.Properties.InstanceView; v != nil {
		for _, s := range v.Statuses {
			if code, ok := strings.CutPrefix(value(s.Code), "ProvisioningState/failed/"); ok {
				return refusal(0, nil, code, value(s.Message))
			}
		}
	}
	return app.Errorf(app.ETransient, "Azure couldn't create machine %s.", value(vm.Name))
}

// request is the VM as Azure is asked for it. All that it has goes with it.
func (g *group) request(w wanted, card string, spot bool) armcompute.VirtualMachine {
	disk := &armcompute.ManagedDiskParameters{StorageAccountType: ref(armcompute.StorageAccountTypes(w.options.diskType))}
	root := &armcompute.OSDisk{Name: ref(diskNames(w.name)[0]), CreateOption: ref(armcompute.DiskCreateOptionTypesFromImage),
		DeleteOption: ref(armcompute.DiskDeleteOptionTypesDelete), Caching: ref(armcompute.CachingTypesReadWrite), ManagedDisk: disk}
	if w.options.rootGB > 0 {
		root.DiskSizeGB = ref(int32(w.options.rootGB)) //nolint:gosec // bounded when it was read
	}
	admin := w.user
	if admin == "root" {
		admin = defaultAdmin
	}
	p := &armcompute.VirtualMachineProperties{
		HardwareProfile: &armcompute.HardwareProfile{VMSize: ref(armcompute.VirtualMachineSizeTypes(w.spec.Flavor.Flavor))},
		StorageProfile:  &armcompute.StorageProfile{ImageReference: w.image, OSDisk: root},
		OSProfile: &armcompute.OSProfile{ComputerName: ref(account.Name(w.spec.Hostname)), AdminUsername: &admin, CustomData: &w.custom,
			LinuxConfiguration: &armcompute.LinuxConfiguration{DisablePasswordAuthentication: ref(true), ProvisionVMAgent: ref(true),
				SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{
					{Path: ref("/home/" + admin + "/.ssh/authorized_keys"), KeyData: &w.spec.AuthorizedKey}}}}},
		NetworkProfile: &armcompute.NetworkProfile{NetworkInterfaces: []*armcompute.NetworkInterfaceReference{{ID: &card,
			Properties: &armcompute.NetworkInterfaceReferenceProperties{Primary: ref(true), DeleteOption: ref(armcompute.DeleteOptionsDelete)}}}},
	}
	if w.options.dataGB > 0 {
		p.StorageProfile.DataDisks = []*armcompute.DataDisk{{Name: ref(diskNames(w.name)[1]), Lun: ref(int32(0)),
			CreateOption: ref(armcompute.DiskCreateOptionTypesEmpty), DeleteOption: ref(armcompute.DiskDeleteOptionTypesDelete),
			DiskSizeGB: ref(int32(w.options.dataGB)), ManagedDisk: disk}} //nolint:gosec // bounded when it was read
	}
	if spot {
		p.Priority, p.EvictionPolicy = ref(armcompute.VirtualMachinePriorityTypesSpot), ref(armcompute.VirtualMachineEvictionPolicyTypesDeallocate)
		p.BillingProfile = &armcompute.BillingProfile{MaxPrice: ref(-1.0)} // up to the price of a regular machine
	}
	vm := armcompute.VirtualMachine{Location: &g.location, Tags: w.tags, Properties: p}
	if w.zone != "" {
		vm.Zones = []*string{&w.zone}
	}
	return vm
}
