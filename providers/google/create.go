package google

import (
	"context"
	"encoding/json"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/app/googleauth"
	"muster/providers/google/internal/gcp"
)

// Create makes the machine, or returns the intent's existing one in any zone. It returns when the cloud has found room for it.
func (p *Provider) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	zone := spec.Zone
	if zone == "" {
		zone = p.zone
	}
	c, err := read(p.settings.With(spec.Flavor.Extra, spec.Image.Extra))
	if err != nil {
		return family.Machine{}, err
	}
	wanted, err := p.wanted(spec, c, zone)
	if err != nil {
		return family.Machine{}, err
	}
	// The intent may have been asked for in another zone before, whose answer was lost. In one zone the name alone would do.
	found, err := p.instances(ctx, map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation], family.TagIntent: spec.Intent})
	if err != nil {
		return family.Machine{}, err
	}
	if spec.Firewall != nil {
		if err := p.ensureFirewall(ctx, spec, c, zone); err != nil {
			return family.Machine{}, err
		}
	}
	if len(found) > 0 {
		oldest := slices.MinFunc(found, func(a, b *gcp.Instance) int {
			return when(a.CreationTimestamp).Compare(when(b.CreationTimestamp))
		})
		return p.settled(ctx, oldest)
	}
	err = p.insert(ctx, zone, wanted, requestID(spec.Tags[family.TagInstallation], spec.Intent, zone))
	switch code := app.CodeOf(err); {
	case code == app.ENotFound: // the machine type, the image, the network: nothing that was there before
		e := *app.AsError(err)
		e.Code = app.EInvalid
		return family.Machine{}, &e
	case err != nil && code != app.EConflict: // a conflict: another call made it at the same time
		return family.Machine{}, err
	}
	i, getErr := p.instance(ctx, zone+"/"+wanted.Name)
	switch {
	case app.CodeOf(getErr) == app.ENotFound:
		return family.Machine{}, app.Errorf(app.ETransient, "machine %s was requested but doesn't exist yet", wanted.Name)
	case getErr != nil:
		return family.Machine{}, getErr
	case tagsOf(i, metaOf(i))[family.TagIntent] != spec.Intent:
		return family.Machine{}, app.Errorf(app.EConflict, "machine %s in %s already exists and isn't Muster's", wanted.Name, zone)
	}
	return p.settled(ctx, i)
}

// insert asks for the machine and waits until it is known whether there is room. Where the call was answered with an operation that had ended, of a
// machine that is gone or was never made, it is asked for again: the cloud knows the request from an earlier try.
func (p *Provider) insert(ctx context.Context, zone string, wanted *gcp.Instance, request string) error {
	op, err := p.api.InsertInstance(ctx, p.project, zone, wanted, request)
	if err != nil {
		return coded(err)
	}
	if op.Status == "DONE" {
		_, err := p.instance(ctx, zone+"/"+wanted.Name)
		if app.CodeOf(err) != app.ENotFound {
			return err
		}
		if op, err = p.api.InsertInstance(ctx, p.project, zone, wanted, freshID()); err != nil {
			return coded(err)
		}
	}
	return p.await(ctx, p.project, op)
}

// settled waits until the cloud has found room for a machine that is being made.
func (p *Provider) settled(ctx context.Context, i *gcp.Instance) (family.Machine, error) {
	for i.Status == "PROVISIONING" {
		if err := pause(ctx, p.pauses.machine); err != nil {
			return family.Machine{}, err
		}
		next, err := p.instance(ctx, idOf(i))
		if app.CodeOf(err) == app.ENotFound { // the next try returns why
			return family.Machine{}, app.Errorf(app.ETransient, "the cloud gave up creating machine %s", i.Name)
		}
		if err != nil {
			return family.Machine{}, err
		}
		i = next
	}
	return machine(i), nil
}

// wanted is the machine as the cloud is asked for it; EInvalid for what no cloud would take.
func (p *Provider) wanted(spec family.MachineSpec, c choices, zone string) (*gcp.Instance, error) {
	if err := checkZone(zone); err != nil {
		return nil, err
	}
	kind := spec.Flavor.Flavor
	if !nameForm.MatchString(kind) {
		e := app.Errorf(app.EInvalid, "%q isn't a valid machine type", kind)
		e.Hint = "For example, e2-medium, or n2-custom-4-8192 for 4 CPUs and 8192 MB."
		return nil, e
	}
	image, err := p.imagePath(spec.Image.Image)
	if err != nil {
		return nil, err
	}
	user := spec.Image.SSHUser
	if user == "" {
		user = "root"
	}
	script, hostKey, err := startup(spec, user, c.custom, c.dataGB > 0)
	if err != nil {
		return nil, err
	}
	tags, err := json.Marshal(spec.Tags)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "can't encode the tags: %w", err)
	}
	labels := labelsOf(spec.Tags)
	i := &gcp.Instance{
		Name:        machineName(spec),
		Description: "Created by Muster for " + spec.Hostname,
		MachineType: "zones/" + zone + "/machineTypes/" + kind,
		Labels:      labels,
		Metadata: metadata(map[string]string{
			metaTags: string(tags), metaHostname: spec.Hostname, metaUser: user, metaHostKey: hostKey, "startup-script": script,
			"enable-guest-attributes": "TRUE", "block-project-ssh-keys": "TRUE", "enable-oslogin": "FALSE", "serial-port-enable": "FALSE",
		}),
		Disks:             []*gcp.AttachedDisk{disk(image, c.rootGB, diskType(c.rootType, kind), zone, labels)},
		NetworkInterfaces: []*gcp.NetworkInterface{{Network: p.networkPath(c), Subnetwork: p.subnetworkPath(c, zone)}},
		Scheduling:        &gcp.Scheduling{AutomaticRestart: &c.restart},
	}
	if len(spec.Hostname) <= 253 && hostForm.MatchString(spec.Hostname) {
		i.Hostname = spec.Hostname
	}
	if c.dataGB > 0 {
		i.Disks = append(i.Disks, disk("", c.dataGB, diskType(c.dataType, kind), zone, labels))
	}
	if c.external {
		i.NetworkInterfaces[0].AccessConfigs = []*gcp.AccessConfig{{Name: "External NAT", Type: "ONE_TO_ONE_NAT"}}
	}
	if c.serviceAccount != "" {
		scopes := c.scopes
		if len(scopes) == 0 {
			scopes = []string{googleauth.Scope}
		}
		i.ServiceAccounts = []*gcp.ServiceAccount{{Email: c.serviceAccount, Scopes: scopes}}
	}
	if spec.Flavor.GPUs > 0 && series(kind) == attachable {
		if !nameForm.MatchString(spec.Flavor.GPU) {
			return nil, app.Errorf(app.EInvalid, "Machine type %s has no GPUs of its own. Set gpu in the hardware type to the model to attach, such as nvidia-tesla-t4.", kind)
		}
		i.GuestAccelerators = []*gcp.AcceleratorConfig{{AcceleratorType: "zones/" + zone + "/acceleratorTypes/" + spec.Flavor.GPU,
			AcceleratorCount: int64(spec.Flavor.GPUs)}}
		i.Scheduling.OnHostMaintenance = "TERMINATE"
	}
	if slices.Contains(fixed, series(kind)) {
		i.Scheduling.OnHostMaintenance = "TERMINATE"
	}
	if c.spot {
		no := false
		i.Scheduling = &gcp.Scheduling{ProvisioningModel: "SPOT", InstanceTerminationAction: "STOP", OnHostMaintenance: "TERMINATE", AutomaticRestart: &no}
	}
	if spec.Firewall != nil {
		i.Tags = &gcp.Tags{Items: []string{networkTag(spec.Tags)}}
	}
	return i, nil
}

// disk goes away with its machine.
func disk(image string, gb int, kind, zone string, labels map[string]string) *gcp.AttachedDisk {
	return &gcp.AttachedDisk{Boot: image != "", AutoDelete: true, Type: "PERSISTENT", Mode: "READ_WRITE",
		InitializeParams: &gcp.InitializeParams{SourceImage: image, DiskSizeGB: int64(gb), DiskType: "zones/" + zone + "/diskTypes/" + kind, Labels: labels}}
}

func metadata(items map[string]string) *gcp.Metadata {
	m := &gcp.Metadata{}
	for _, k := range sorted(items) {
		v := items[k]
		m.Items = append(m.Items, &gcp.MetadataItem{Key: k, Value: &v})
	}
	return m
}
