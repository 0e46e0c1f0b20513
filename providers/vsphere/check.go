package vsphere

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/providers/internal/account"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/types"
)

// survey is what one look at an account finds.
type survey struct {
	c     *cloud
	needs family.AccountNeeds
	site  *site
	found []family.Finding
}

// CheckAccount implements family.AccountChecker. It changes nothing.
func (c *cloud) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	s := &survey{c: c, needs: needs}
	content, err := c.content(ctx)
	if err != nil {
		s.failed(family.AboutCredentials, "", err)
		return s.found, ctx.Err()
	}
	s.ok(family.AboutCredentials, c.username, "%s accepts user %s.", content.About.FullName, c.username)
	if s.site, err = c.readSite(ctx); err != nil {
		s.failed(family.AboutRegion, c.datacenter, err)
		return s.found, ctx.Err()
	}
	s.ok(family.AboutRegion, s.site.name, "Datacenter %s has %s.", s.site.name, humanize.Count(len(s.site.clusters), "compute cluster"))
	s.places(ctx)
	s.folder(ctx)
	s.machines(ctx)
	return s.found, ctx.Err()
}

func (s *survey) ok(about, subject, format string, args ...any) {
	s.add(family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) add(f family.Finding) {
	if !slices.Contains(s.found, f) {
		s.found = append(s.found, f)
	}
}

// failed notes an error. What vCenter itself says of the session or of permissions is about those, whatever was looked at.
func (s *survey) failed(about, subject string, err error) {
	e := app.AsError(err)
	switch {
	case e.Reason == "permission":
		about = family.AboutPermissions
	case e.Code == app.EInternal:
		e = app.Errorf(app.ETransient, "Can't connect to vCenter: %w.", err)
		e.Hint = "Check the address, and that this host can reach it."
	case e.Field == "settings.url", e.Code == app.ECredentials:
		about = family.AboutCredentials
	}
	message := strings.TrimSuffix(e.ForPeople(), ".") + "."
	if !strings.HasPrefix(message, "vCenter") {
		message = strings.ToUpper(message[:1]) + message[1:]
	}
	s.add(family.Finding{About: about, Subject: subject, Code: e.Code, Message: message, Hint: cmp.Or(e.Hint, "Check again in a while.")})
}

// aboutOf is what the error of a setting is about.
func aboutOf(err error) string {
	switch app.AsError(err).Field {
	case "settings.datastore":
		return family.AboutQuota
	case "settings.network", "settings.folder":
		return family.AboutNetwork
	}
	return family.AboutRegion
}

// zones are the compute clusters that matter: those that machines are meant for, or else the account's own, or all. "" is the account's own.
func (s *survey) zones() []string {
	var out []string
	switch {
	case s.c.cluster != "":
		out = []string{""}
	case len(s.needs.Machines) == 0:
		out = sorted(s.site.clusters)
	}
	for _, n := range s.needs.Machines {
		if n.Zone == s.c.cluster {
			n.Zone = ""
		}
		out = append(out, n.Zone)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// places looks at compute clusters, resource pools, datastores and networks, and at the permissions on them.
func (s *survey) places(ctx context.Context) {
	for _, zone := range s.zones() {
		p, err := s.c.place(ctx, s.site, zone)
		if err != nil {
			s.failed(aboutOf(err), zone, err)
			continue
		}
		cluster := s.site.clusters[p.zone]
		if !hasHosts(cluster) {
			s.add(family.Finding{About: family.AboutRegion, Subject: p.zone, Code: app.ECapacity,
				Message: "Compute cluster " + p.zone + " has no host that machines can run on.",
				Hint:    "Connect its hosts and end their maintenance, or choose another compute cluster."})
			continue
		}
		s.ok(family.AboutRegion, p.zone, "Compute cluster %s exists.", p.zone)
		s.may(ctx, "compute cluster "+p.zone, p.pool, "Resource.AssignVMToPool")
		if p.store != nil {
			s.may(ctx, "datastore "+prop[string](*p.store, "name"), p.store.ref, "Datastore.AllocateSpace")
		}
		if p.network != nil {
			s.ok(family.AboutNetwork, s.c.network, "Network %s is available in compute cluster %s.", s.c.network, p.zone)
			s.may(ctx, "network "+s.c.network, p.network.ref, "Network.Assign")
		}
	}
}

// hasHosts reports whether machines can run in a cluster now, as far as vCenter says.
func hasHosts(cluster object) bool {
	switch v := cluster.props["summary"].(type) {
	case types.ComputeResourceSummary:
		return v.NumEffectiveHosts > 0
	case types.ClusterComputeResourceSummary:
		return v.NumEffectiveHosts > 0
	}
	return true
}

// The privileges on the folder of the machines, where templates may be, too.
var folderPrivileges = []string{"VirtualMachine.Inventory.CreateFromExisting", "VirtualMachine.Inventory.Delete", "VirtualMachine.Interact.PowerOn",
	"VirtualMachine.Interact.PowerOff", "VirtualMachine.Config.AddNewDisk", "VirtualMachine.Config.AdvancedConfig", "VirtualMachine.Config.Annotation",
	"VirtualMachine.Config.CPUCount", "VirtualMachine.Config.DiskExtend", "VirtualMachine.Config.EditDevice", "VirtualMachine.Config.Memory",
	"VirtualMachine.Config.Rename", "VirtualMachine.Config.Settings"}

func (s *survey) folder(ctx context.Context) {
	in, found, err := s.c.folderOf(ctx, s.site)
	name := strings.Join(s.c.folder, "/")
	switch {
	case err != nil:
		s.failed(family.AboutNetwork, name, err)
	case found != nil:
		s.ok(family.AboutNetwork, name, "Folder %s exists.", name)
		s.may(ctx, "folder "+name, *found, folderPrivileges...)
	case in != nil:
		s.ok(family.AboutNetwork, name, "Folder %s doesn't exist yet. It's created with the first machine.", name)
		s.may(ctx, "the folder above "+name, *in, append([]string{"Folder.Create"}, folderPrivileges...)...)
	default:
		s.failed(family.AboutNetwork, name, noFolder(s.c.folder))
	}
}

// may looks whether the user has privileges.
func (s *survey) may(ctx context.Context, what string, on ref, privileges ...string) {
	content, err := s.c.content(ctx)
	if err != nil || content.AuthorizationManager == nil {
		return
	}
	answer, err := methods.HasPrivilegeOnEntities(ctx, s.c, &types.HasPrivilegeOnEntities{This: *content.AuthorizationManager, Entity: []ref{on},
		SessionId: s.c.key(), PrivId: privileges})
	if err != nil {
		s.add(family.Finding{About: family.AboutPermissions, Warning: true, Hint: hintPermission, Message: "The user's permissions can't be looked up."})
		return
	}
	var lacks []string
	for _, of := range answer.Returnval {
		for _, p := range of.PrivAvailability {
			if !p.IsGranted {
				lacks = append(lacks, p.PrivId)
			}
		}
	}
	if len(lacks) > 0 {
		s.add(family.Finding{About: family.AboutPermissions, Subject: what, Code: app.ECredentials, Hint: hintPermission,
			Message: "On " + what + ", the user lacks " + strings.Join(lacks, ", ") + "."})
		return
	}
	s.ok(family.AboutPermissions, what, "The user has the privileges on %s.", what)
}

// machines looks at sizes and templates of what is needed, and whether datastores have room for it.
func (s *survey) machines(ctx context.Context) {
	templates := map[string]*object{}
	room := space{of: map[ref]*demand{}}
	for _, n := range s.needs.Machines {
		if n.Flavor.Flavor != "" {
			s.size(n)
		}
		if n.Image.Image == "" {
			continue
		}
		t, looked := templates[n.Image.Image]
		if !looked {
			t = s.template(ctx, n.Image.Image)
			templates[n.Image.Image] = t
		}
		if t != nil {
			s.disks(ctx, n, *t, &room)
		}
	}
	s.space(room)
}

func (s *survey) size(n family.MachineNeed) {
	name := n.Flavor.Flavor
	z, err := readSize(name)
	if err == nil {
		_, err = read(s.c.raw.With(n.Flavor.Extra))
	}
	if err != nil {
		e := app.AsError(err)
		s.add(family.Finding{About: family.AboutFlavor, Subject: name, Code: e.Code, Message: "Size " + name + ": " + e.ForPeople() + ".",
			Hint: cmp.Or(e.Hint, "Correct the hardware type.")})
		return
	}
	s.ok(family.AboutFlavor, name, "Size %s is %s and %s GiB of memory.", name, humanize.Count(z.cpus, "vCPU"), account.Number(float64(z.memoryMB)/mebibytes))
}

func (s *survey) template(ctx context.Context, name string) *object {
	t, err := s.c.template(ctx, s.site, name)
	if err != nil {
		s.failed(family.AboutImage, name, err)
		return nil
	}
	s.ok(family.AboutImage, name, "Template %s exists (%s).", name, cmp.Or(prop[string](t, "config.guestFullName"), "unknown system"))
	s.may(ctx, "template "+name, t.ref, "VirtualMachine.Provisioning.DeployTemplate")
	return &t
}

// space is what machines take of datastores.
type space struct {
	of    map[ref]*demand
	kinds []account.Kind
}

// demand is what machines take of one datastore, in GB: at least, since a template's blocks are copied, and at most, when thin disks are full.
type demand struct {
	name                        string
	capacity, free, least, most float64
}

// disks looks whether a machine's disks fit its template, and how much of which datastore they take.
func (s *survey) disks(ctx context.Context, n family.MachineNeed, t object, room *space) {
	extra, err := read(s.c.raw.With(n.Flavor.Extra))
	if err != nil {
		return // it was reported with its size
	}
	o := order{spec: family.MachineSpec{Image: n.Image}, rootDisk: extra.rootDisk, dataDisk: extra.dataDisk}
	if _, err := o.devices(t, nil); err != nil {
		s.failed(family.AboutImage, n.Image.Image, err)
		return
	}
	p, err := s.c.place(ctx, s.site, n.Zone)
	if err != nil {
		return // so was this
	}
	store := p.store
	if store == nil {
		for _, d := range s.site.datastores {
			if slices.Contains(prop[types.ArrayOfManagedObjectReference](t, "datastore").ManagedObjectReference, d.ref) {
				store = &d
				break
			}
		}
	}
	if store == nil {
		return // the user may not see it
	}
	d := room.of[store.ref]
	if d == nil {
		summary := prop[types.DatastoreSummary](*store, "summary")
		d = &demand{name: plain(prop[string](*store, "name")), capacity: float64(summary.Capacity) / (1 << 30), free: float64(summary.FreeSpace) / (1 << 30)}
		room.of[store.ref] = d
	}
	least, most := o.takes(t)
	d.least, d.most = d.least+float64(n.Count)*least, d.most+float64(n.Count)*most
	room.kinds = append(room.kinds, account.Kind{Name: "size " + n.Flavor.Flavor, Takes: map[string]float64{d.quota(): least}})
}

func (d *demand) quota() string { return "GB in datastore " + d.name }

// takes returns how much room a machine takes, at least and at most, in GB.
func (o *order) takes(t object) (least, most float64) {
	least = float64(prop[types.VirtualMachineStorageSummary](t, "summary.storage").Committed) / (1 << 30)
	for i, d := range disks(t) {
		gb := float64(d.CapacityInKB) / gib
		if i == 0 {
			gb = max(gb, float64(o.rootDisk))
		}
		most += gb
	}
	return least, most + float64(o.dataDisk)
}

func (s *survey) space(room space) {
	var quotas []account.Quota
	for _, d := range room.of {
		quotas = append(quotas, account.Quota{Name: d.quota(), Limit: d.capacity, Used: d.capacity - d.free})
		left := "Datastore " + d.name + " has " + account.Number(d.free) + " GB free"
		switch {
		case s.needs.Each:
			s.ok(family.AboutQuota, d.name, "%s.", left)
		case d.least > d.free:
			s.add(family.Finding{About: family.AboutQuota, Subject: d.name, Code: app.ECapacity, Hint: hintStorage,
				Message: left + ", but at least " + account.Number(d.least) + " GB are needed."})
		case d.most > d.free:
			s.add(family.Finding{About: family.AboutQuota, Subject: d.name, Warning: true, Hint: hintStorage,
				Message: left + "; the machines' disks take " + account.Number(d.most) + " GB when they're full."})
		default:
			s.ok(family.AboutQuota, d.name, "%s; the machines' disks take at most %s GB.", left, account.Number(d.most))
		}
	}
	if s.needs.Each {
		s.found = append(s.found, account.Apart(room.kinds, quotas, hintStorage)...)
	}
}
