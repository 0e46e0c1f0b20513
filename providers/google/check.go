package google

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
	"muster/providers/google/internal/gcp"
)

// permissions are what the service account needs in the project. The custom role in docs/providers/google.md holds the same.
var permissions = []string{
	"compute.diskTypes.get", "compute.disks.create", "compute.disks.setLabels", "compute.images.get", "compute.images.getFromFamily", "compute.images.list", "compute.images.useReadOnly",
	"compute.instances.create", "compute.instances.delete", "compute.instances.get", "compute.instances.getGuestAttributes", "compute.instances.list",
	"compute.instances.resume", "compute.instances.setLabels", "compute.instances.setMetadata", "compute.instances.setTags", "compute.instances.start", "compute.instances.stop",
	"compute.machineTypes.get", "compute.machineTypes.list", "compute.networks.get", "compute.projects.get", "compute.regions.get", "compute.subnetworks.get",
	"compute.subnetworks.use", "compute.subnetworks.useExternalIp", "compute.zoneOperations.get", "compute.zones.get", "compute.zones.list",
}

// firewallPermissions are what it needs beside, in the network's project, for clusters that have a firewall.
var firewallPermissions = []string{
	"compute.firewalls.create", "compute.firewalls.delete", "compute.firewalls.get", "compute.firewalls.list", "compute.firewalls.update", "compute.globalOperations.get",
	"compute.networks.updatePolicy",
}

// survey is one look at an account.
type survey struct {
	p     *Provider
	found []family.Finding
	zones map[string]*gcp.Zone        // nil where there is none
	types map[string]*gcp.MachineType // by zone and name
	taken []taken                     // what is needed of quotas

	networks map[string]bool // looked at
}

func (s *survey) good(about, subject, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) bad(about, subject string, code app.Code, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// failed is a question that was not answered as it should; gone is what it means where there is no such thing.
func (s *survey) failed(about, subject string, err error, gone, hint string) {
	err = coded(err)
	e := app.AsError(err)
	switch {
	case e.Code == app.ENotFound, e.Code == app.EInvalid:
		s.bad(about, subject, app.EInvalid, hint, "%s", gone)
	case e.Code == app.ECredentials && about != family.AboutCredentials:
		s.bad(family.AboutPermissions, subject, e.Code, e.Hint, "Can't check: %s", strings.TrimRight(e.Message, "."))
	case e.Code == app.EInternal:
		s.bad(about, subject, app.ETransient, "Check that Google Cloud, or the proxy in front of it, is reachable, and try again.", "Can't connect to Google Cloud: %v", err)
	default:
		s.bad(about, subject, e.Code, cmp.Or(e.Hint, "Try again later."), "%s", e.Message)
	}
}

// CheckAccount looks at the key, the project, its API, permissions, zones, machine types, images, network and quotas, and changes nothing.
func (p *Provider) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &survey{p: p, zones: map[string]*gcp.Zone{}, types: map[string]*gcp.MachineType{}, networks: map[string]bool{}}
	if _, err := p.login.Token(ctx); err != nil {
		s.failed(family.AboutCredentials, "credentials", err, "Google rejected the credentials.", "Use the key of an existing service account.")
		return s.found, nil // nothing else is answered without a token
	}
	s.good(family.AboutCredentials, "credentials", "Google accepts the credentials.")
	project, err := p.api.Project(ctx, p.project)
	if err != nil {
		s.project(err)
		return s.found, nil // and nothing else without the project
	}
	s.good(family.AboutSettings, "project", "Project %s is accessible, and its Compute Engine API is enabled.", p.project)
	s.permissions(ctx)
	s.zone(ctx, p.zone)
	if c, err := read(p.settings); err == nil {
		s.network(ctx, p.zone, c)
	}
	s.dnsZone(ctx)
	for _, need := range needs.Machines {
		s.need(ctx, need)
	}
	s.quotas(ctx, project, needs.Each)
	return s.found, nil
}

// project tells why it does not answer.
func (s *survey) project(err error) {
	e := app.AsError(coded(err))
	switch {
	case e.Reason == "api_disabled":
		s.bad(family.AboutPermissions, "compute.googleapis.com", e.Code, e.Hint, "The Compute Engine API isn't enabled in project %s.", s.p.project)
	case e.Code == app.ECredentials && e.Reason == "":
		s.bad(family.AboutCredentials, "credentials", e.Code, e.Hint, "Google rejected the service account: %s", e.Message)
	default:
		s.failed(family.AboutSettings, "project", err, "Project "+s.p.project+" doesn't exist, or the service account can't see it.",
			"Use the project's ID, not its name or number, and grant the service account a role in it.")
	}
}

// permissions asks which of those that are needed the service account has. The Resource Manager tells, which is an API of its own.
func (s *survey) permissions(ctx context.Context) {
	wanted := slices.Clone(permissions)
	c, err := read(s.p.settings)
	if err == nil && c.serviceAccount != "" {
		wanted = append(wanted, "iam.serviceAccounts.actAs", "compute.instances.setServiceAccount")
	}
	project, err := s.p.firewallProject()
	if err == nil && project == s.p.project {
		wanted = append(wanted, firewallPermissions...)
	}
	if s.p.NameZone() != "" {
		wanted = append(wanted, dnsPermissions...)
	}
	granted, err := s.p.api.GrantedPermissions(ctx, s.p.project, slices.Concat(wanted, volumePermissions, snapshotPermissions, bakePermissions))
	if err != nil {
		e := app.AsError(coded(err))
		s.found = append(s.found, family.Finding{About: family.AboutPermissions, Subject: "permissions", Warning: true, Code: e.Code,
			Message: "The service account's permissions can't be checked.",
			Hint:    "To check them, enable the Resource Manager: gcloud services enable cloudresourcemanager.googleapis.com"})
		return
	}
	given := func(p string) bool { return slices.Contains(granted, p) }
	missing := slices.DeleteFunc(wanted, given)
	for subject, some := range map[string][]string{"volumes": volumePermissions, "snapshots": snapshotPermissions, "baked images": bakePermissions} {
		if lacks := slices.DeleteFunc(slices.Clone(some), given); len(lacks) > 0 {
			s.found = append(s.found, cannotManage(subject, lacks))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		s.bad(family.AboutPermissions, "permissions", app.ECredentials, "Grant the service account the custom role in docs/providers/google.md, or roles/compute.admin.",
			"The service account lacks %s.", strings.Join(missing, ", "))
		return
	}
	s.good(family.AboutPermissions, "permissions", "The service account has the required permissions.")
}

// zone reports whether there is one and whether it is up; it is asked once.
func (s *survey) zone(ctx context.Context, name string) *gcp.Zone {
	if z, asked := s.zones[name]; asked {
		return z
	}
	s.zones[name] = nil
	z, err := s.p.api.Zone(ctx, s.p.project, name)
	switch {
	case err != nil:
		s.failed(family.AboutRegion, name, err, "Zone "+name+" doesn't exist.", "Run gcloud compute zones list to see all zones.")
		return nil
	case z.Status != "UP":
		s.bad(family.AboutRegion, name, app.ECapacity, "Use another zone until it's up again.", "Zone %s is %s.", name, strings.ToLower(z.Status))
	default:
		s.good(family.AboutRegion, name, "Zone %s is up.", name)
	}
	s.zones[name] = z
	return z
}

// need looks at one kind of machine; at its machine type alone where it names no image, and the other way round.
func (s *survey) need(ctx context.Context, need family.MachineNeed) {
	zone := cmp.Or(need.Zone, s.p.zone)
	c, err := read(s.p.settings.With(need.Flavor.Extra, need.Image.Extra))
	if err != nil {
		s.bad(family.AboutSettings, need.Flavor.Flavor, app.EInvalid, "Correct this provider's part of the hardware type or image type.", "%s", app.AsError(err).Message)
		return
	}
	var kind *gcp.MachineType
	if s.zone(ctx, zone) != nil {
		s.network(ctx, zone, c)
		if need.Flavor.Flavor != "" {
			kind = s.flavor(ctx, zone, need.Flavor.Flavor)
			s.gpus(zone, kind, need.Flavor)
			s.disks(ctx, zone, need.Flavor.Flavor, c)
		}
	}
	if need.Image.Image != "" {
		s.image(ctx, need.Image.Image, c, kind)
	}
	if kind != nil {
		s.count(zone, kind, need.Flavor, c, float64(max(need.Count, 1)))
	}
}

func (s *survey) flavor(ctx context.Context, zone, name string) *gcp.MachineType {
	if kind, asked := s.types[zone+"/"+name]; asked {
		return kind
	}
	s.types[zone+"/"+name] = nil
	hint := "Run gcloud compute machine-types list --zones " + zone + " to see all machine types."
	if !nameForm.MatchString(name) {
		s.bad(family.AboutFlavor, name, app.EInvalid, hint, "%q isn't a valid machine type.", name)
		return nil
	}
	kind, err := s.p.api.MachineType(ctx, s.p.project, zone, name)
	switch {
	case err != nil:
		s.failed(family.AboutFlavor, name, err, "Machine type "+name+" doesn't exist in "+zone+".", hint)
		return nil
	case kind.Deprecated != nil && (kind.Deprecated.State == "OBSOLETE" || kind.Deprecated.State == "DELETED"):
		s.bad(family.AboutFlavor, name, app.EInvalid, hint, "Machine type %s is no longer offered.", name)
		return nil
	}
	s.good(family.AboutFlavor, name, "%s in %s has %d CPUs and %s GB of memory.", name, zone, kind.GuestCPUs, number(float64(kind.MemoryMB)/1024))
	s.types[zone+"/"+name] = kind
	return kind
}

// gpus looks whether machines of a type have the GPUs that the hardware type lists, or can be given them.
func (s *survey) gpus(zone string, kind *gcp.MachineType, f template.Flavor) {
	if kind == nil || f.GPUs == 0 {
		return
	}
	switch has, _ := gpus(kind); {
	case has >= f.GPUs:
	case series(kind.Name) != attachable:
		s.bad(family.AboutFlavor, kind.Name, app.EInvalid, "Correct gpus in the hardware type, or use another machine type.",
			"Machine type %s has %s, but the hardware type lists %d.", kind.Name, humanize.Count(has, "GPU"), f.GPUs)
	case !nameForm.MatchString(f.GPU):
		s.bad(family.AboutFlavor, kind.Name, app.EInvalid, "Run gcloud compute accelerator-types list --filter zone:"+zone+" to see all models.",
			"Machine type %s has no GPUs of its own, so the hardware type must name the model in gpu, such as nvidia-tesla-t4.", kind.Name)
	}
}

// disks looks whether the zone has the types of disk.
func (s *survey) disks(ctx context.Context, zone, kind string, c choices) {
	for _, name := range slices.Compact([]string{diskType(c.rootType, kind), diskType(c.dataType, kind)}) {
		if _, err := s.p.api.DiskType(ctx, s.p.project, zone, name); err != nil {
			s.failed(family.AboutSettings, name, err, "Disk type "+name+" doesn't exist in "+zone+".", "Set root_disk_type and data_disk_type to types that the zone has.")
		}
	}
}

func (s *survey) image(ctx context.Context, name string, c choices, kind *gcp.MachineType) {
	hint := "Use a family such as debian-12, PROJECT/FAMILY, or projects/PROJECT/global/images/NAME. Run gcloud compute images list to see all images."
	path, err := s.p.imagePath(name)
	if err != nil {
		s.bad(family.AboutImage, name, app.EInvalid, hint, "%q isn't a valid image.", name)
		return
	}
	project, _, last := in(path)
	var image *gcp.Image
	if strings.Contains(path, "/images/family/") {
		image, err = s.p.api.ImageFromFamily(ctx, project, last)
	} else {
		image, err = s.p.api.Image(ctx, project, last)
	}
	switch {
	case err != nil:
		s.failed(family.AboutImage, name, err, "Image "+name+" doesn't exist (looked up at "+path+").", hint)
	case image.Status != "" && image.Status != "READY":
		s.bad(family.AboutImage, name, app.EInvalid, "Wait until it's ready, or choose another.", "Image %s is %s.", image.Name, strings.ToLower(image.Status))
	case image.Deprecated != nil && (image.Deprecated.State == "OBSOLETE" || image.Deprecated.State == "DELETED"):
		s.bad(family.AboutImage, name, app.EInvalid, hint, "Image %s is no longer available.", image.Name)
	case image.DiskSizeGB > int64(c.rootGB):
		s.bad(family.AboutImage, name, app.EInvalid, fmt.Sprintf("Set root_disk_gb to at least %d.", image.DiskSizeGB), "Image %s needs a disk of %d GB, but root_disk_gb is %d.",
			image.Name, image.DiskSizeGB, c.rootGB)
	case kind != nil && image.Architecture != "" && kind.Architecture != "" && image.Architecture != kind.Architecture:
		s.bad(family.AboutImage, name, app.EInvalid, "Choose an image for "+kind.Architecture+", or another machine type.", "Image %s is for %s, but %s is %s.",
			image.Name, image.Architecture, kind.Name, kind.Architecture)
	default:
		s.good(family.AboutImage, name, "Image %s exists.", image.Name)
	}
}

// network looks at the network and the subnetwork of a zone's region; once for each.
func (s *survey) network(ctx context.Context, zone string, c choices) {
	network, subnetwork := s.p.networkPath(c), s.p.subnetworkPath(c, zone)
	if s.networks[network+" "+subnetwork] {
		return
	}
	s.networks[network+" "+subnetwork] = true
	if path := network; path != "" {
		project, _, name := in(path)
		n, err := s.p.api.Network(ctx, project, name)
		switch {
		case err != nil:
			s.failed(family.AboutNetwork, name, err, "Network "+name+" doesn't exist in project "+project+".", "Set network to an existing one, or create it.")
			return
		case c.subnetwork == "" && !n.AutoCreateSubnetworks:
			s.bad(family.AboutNetwork, name, app.EInvalid, "Set subnetwork to one of the region "+region(zone)+".", "Network %s doesn't create subnetworks automatically, and no subnetwork is set.", name)
			return
		}
		s.good(family.AboutNetwork, name, "Network %s exists.", name)
	}
	if c.subnetwork == "" {
		return
	}
	project, where, name := in(subnetwork)
	if _, err := s.p.api.Subnetwork(ctx, project, where, name); err != nil {
		s.failed(family.AboutNetwork, name, err, "Subnetwork "+name+" doesn't exist in "+where+".", "Set subnetwork to one of that region.")
		return
	}
	s.good(family.AboutNetwork, name, "Subnetwork %s exists in %s.", name, where)
}

// cannotManage warns of permissions that only some clusters need.
func cannotManage(subject string, lacks []string) family.Finding {
	without := "choose services without volumes"
	switch subject {
	case "snapshots":
		without = "don't create snapshots of volumes"
	case "baked images":
		without = "don't bake images of templates"
	}
	return family.Finding{About: family.AboutPermissions, Subject: subject, Warning: true, Code: app.ECredentials,
		Message: "The service account can't manage " + subject + ": it lacks " + strings.Join(lacks, ", ") + ".",
		Hint:    "Grant the service account the custom role in docs/providers/google.md, or " + without + "."}
}
