package joyent

import (
	"context"
	"encoding/json"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/userdata"
	"muster/providers/joyent/internal/cloudapi"
)

// Create makes the machine, or returns the intent's existing one. It returns when it is known that the datacenter has made it.
func (p *Provider) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	if spec.Zone != "" {
		e := app.Errorf(app.EInvalid, "zone %q doesn't exist: a Triton account is one datacenter, without zones", spec.Zone)
		e.Hint = "Create one provider in the catalog per datacenter."
		return family.Machine{}, e
	}
	fields, err := p.fields(spec)
	if err != nil {
		return family.Machine{}, err
	}
	intent := map[string]string{family.TagInstallation: spec.Tags[family.TagInstallation], family.TagIntent: spec.Intent}
	found, err := p.machines(ctx, intent)
	if err != nil {
		return family.Machine{}, err
	}
	if spec.Firewall != nil {
		if err := p.ensureFirewall(ctx, spec); err != nil {
			return family.Machine{}, err
		}
	}
	if len(found) > 0 {
		return p.settled(ctx, found[0])
	}
	if err := p.resolve(ctx, spec, fields); err != nil {
		return family.Machine{}, err
	}
	m, err := p.api.CreateMachine(ctx, fields)
	if err = coded(err); err == nil {
		return p.settled(ctx, m)
	}
	code := app.CodeOf(err)
	if code == app.EConflict || code == app.EInvalid && taken(err) { // names are unique: another call was quicker
		found, listErr := p.machines(ctx, intent)
		if listErr != nil {
			return family.Machine{}, listErr
		}
		if len(found) == 0 {
			return family.Machine{}, app.Errorf(app.ETransient, "machine %s was requested but doesn't exist yet", fields["name"])
		}
		return p.settled(ctx, found[0])
	}
	if code == app.ENotFound { // the package, the image, a network: nothing that was there before
		e := *app.AsError(err)
		e.Code = app.EInvalid
		err = &e
	}
	return family.Machine{}, err
}

func taken(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "already taken") || strings.Contains(text, "already exists") || strings.Contains(text, "duplicate")
}

// settled waits until the datacenter has made the machine. One that it could not make stays in its lists as failed: that is removed, so that it can be
// asked for again.
func (p *Provider) settled(ctx context.Context, m cloudapi.Machine) (family.Machine, error) {
	m, err := p.until(ctx, m, func(m cloudapi.Machine) bool { return m.State != "provisioning" })
	if app.CodeOf(err) == app.ENotFound {
		return family.Machine{}, app.Errorf(app.ETransient, "the datacenter gave up creating machine %s", m.Name)
	}
	if err != nil {
		return family.Machine{}, err
	}
	if m.State == "failed" || m.State == "incomplete" {
		if err := p.Delete(ctx, m.ID); err != nil {
			return family.Machine{}, err
		}
		e := app.Errorf(app.ECapacity, "the datacenter couldn't create machine %s; usually no server has capacity for the package", m.Name)
		e.Hint = "Try another datacenter or package. The machine's audit in the cloud has the details."
		return family.Machine{}, e
	}
	return machine(m), nil
}

// reserved are beginnings of tags that the cloud keeps for itself.
var reserved = []string{"triton.", "docker:", "sdc:"}

// fields is the machine as the cloud is asked for it, but for what has to be looked up.
func (p *Provider) fields(spec family.MachineSpec) (map[string]any, error) {
	if spec.Flavor.Flavor == "" || spec.Image.Image == "" {
		return nil, app.Errorf(app.EInvalid, "a machine requires a package and an image")
	}
	firewall, err := p.settings.Bool("firewall", false)
	if err != nil {
		return nil, err
	}
	user := spec.Image.SSHUser
	if user == "" {
		user = "root"
	}
	custom := p.settings.With(spec.Flavor.Extra).Text(userdata.Setting)
	if err := userdata.CheckScript(custom, userdata.LimitMetadata); err != nil {
		return nil, err
	}
	script, hostKey, err := userdata.StartScript(spec, userdata.StartOptions{User: user, Started: sayStarted, Custom: custom})
	if err != nil {
		return nil, err
	}
	tags, err := json.Marshal(spec.Tags)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "can't encode the tags: %w", err)
	}
	out := map[string]any{
		"name":                 account.Name(spec.Hostname) + "-" + digest(spec.Tags[family.TagInstallation], spec.Intent)[:12],
		"firewall_enabled":     firewall || spec.Firewall != nil,
		"metadata.user-script": script, "metadata." + metaTags: string(tags), "metadata." + metaHostname: spec.Hostname, "metadata." + metaUser: user,
	}
	if hostKey != "" {
		out["metadata."+metaHostKey] = hostKey
	}
	for k, v := range cloudTags(spec) {
		out["tag."+k] = v
	}
	return out, nil
}

// cloudTags are the tags that the cloud holds: those that it takes, and what a cluster's firewall rules hold for.
func cloudTags(spec family.MachineSpec) map[string]string {
	out := map[string]string{}
	for k, v := range spec.Tags {
		if v != "" && !hasPrefix(k, reserved) {
			out[k] = v
		}
	}
	if spec.Firewall != nil {
		out[tagFirewall] = firewallTag(spec.Tags)
	}
	return out
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// sayStarted puts a word into the machine's own metadata, which the cloud shows. Zones keep the program elsewhere than virtual machines.
const sayStarted = `	local put try
	for try in 1 2 3 4 5; do
		for put in mdata-put /native/usr/sbin/mdata-put /usr/sbin/mdata-put /lib/smartdc/mdata-put; do
			command -v "$put" >/dev/null && "$put" ` + metaStarted + ` yes && return 0
		done
		sleep "$try"
	done
	return 1`

// resolve looks up the package, the image and the networks, where they are named otherwise than by their UUIDs.
func (p *Provider) resolve(ctx context.Context, spec family.MachineSpec, fields map[string]any) error {
	fields["package"], fields["image"] = spec.Flavor.Flavor, spec.Image.Image
	if !uuidForm.MatchString(spec.Flavor.Flavor) {
		all, err := p.api.ListPackages(ctx)
		if err != nil {
			return coded(err)
		}
		found, ok := packageOf(all, spec.Flavor.Flavor)
		if !ok {
			return app.Errorf(app.EInvalid, "package %q doesn't exist", spec.Flavor.Flavor)
		}
		fields["package"] = found.ID
	}
	if !uuidForm.MatchString(spec.Image.Image) {
		all, err := p.api.ListImages(ctx)
		if err != nil {
			return coded(err)
		}
		found, ok := imageOf(all, spec.Image.Image)
		if !ok || found.State != "active" {
			return app.Errorf(app.EInvalid, "image %q doesn't exist or can't be used", spec.Image.Image)
		}
		fields["image"] = found.ID
	}
	names := p.settings.With(spec.Flavor.Extra).List("networks")
	if len(names) == 0 {
		return nil
	}
	all, err := p.api.ListNetworks(ctx)
	if err != nil {
		return coded(err)
	}
	var ids []string
	for _, name := range names {
		id, err := networkOf(all, name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	fields["networks"] = ids
	return nil
}

func packageOf(all []cloudapi.Package, name string) (cloudapi.Package, bool) {
	for _, one := range all {
		if one.ID == name || one.Name == name {
			return one, true
		}
	}
	return cloudapi.Package{}, false
}

// imageOf finds an image by UUID, NAME@VERSION, or NAME, which is the newest version that can be used.
func imageOf(all []cloudapi.Image, name string) (found cloudapi.Image, ok bool) {
	for _, one := range all {
		switch {
		case one.ID == name, one.Name+"@"+one.Version == name:
			return one, true
		case one.Name == name && (!ok || better(one, found)):
			found, ok = one, true
		}
	}
	return found, ok
}

func better(a, b cloudapi.Image) bool {
	if (a.State == "active") != (b.State == "active") {
		return a.State == "active"
	}
	return a.Published.After(b.Published)
}

func networkOf(all []cloudapi.Network, name string) (string, error) {
	var ids []string
	for _, one := range all {
		if one.ID == name {
			return one.ID, nil
		}
		if one.Name == name {
			ids = append(ids, one.ID)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], nil
	case 0:
		return "", app.Errorf(app.EInvalid, "network %q doesn't exist", name)
	}
	return "", app.Errorf(app.EInvalid, "%d networks are named %q: use a UUID", len(ids), name)
}
