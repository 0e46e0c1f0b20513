package openstack

import (
	"context"
	"regexp"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/records"
	"muster/providers/internal/userdata"
)

// Descriptor describes the member.
var Descriptor = family.Descriptor{
	Name:          "openstack",
	Tested:        "A simulated OpenStack, and a real one (Zed) without hypervisors and volumes.",
	ResourceTypes: userdata.Resources,
	Description:   "Servers in an OpenStack project.",
	Sleeps:        true,
	Firewalls:     true,
	Volumes:       true, VolumeSnapshots: true,
	Bakes: true,
	Fields: []family.Field{
		{Name: "clouds_yaml", SetBy: family.SetByTenant, Label: "clouds.yaml", Type: family.FieldLines, Secret: true, Help: "The text of a clouds.yaml. The fields below add to its entry or override it."},
		{Name: "cloud", SetBy: family.SetByTenant, Label: "clouds.yaml entry", Type: family.FieldText, Help: "Required if clouds.yaml has several entries."},
		{Name: "auth_url", SetBy: family.SetByTenant, Reaches: true, Label: "Identity service", Type: family.FieldText,
			Help: "For example, https://keystone.example.org:5000/v3."},
		{Name: "username", SetBy: family.SetByTenant, Label: "User", Type: family.FieldText, Help: "Name or ID. Not needed with an application credential."},
		{Name: "password", SetBy: family.SetByTenant, Label: "Password", Type: family.FieldText, Secret: true},
		{Name: "user_domain", SetBy: family.SetByTenant, Label: "User domain", Type: family.FieldText, Help: "Name or ID. Leave empty for default."},
		{Name: "project", SetBy: family.SetByTenant, Label: "Project", Type: family.FieldText, Help: "Name or ID. Not needed with an application credential."},
		{Name: "project_domain", SetBy: family.SetByTenant, Label: "Project domain", Type: family.FieldText, Help: "Name or ID. Leave empty for the user's."},
		{Name: "application_credential_id", SetBy: family.SetByTenant, Label: "Application credential", Type: family.FieldText, Help: "Its ID. Recommended: it can be restricted, and revoked on its own."},
		{Name: "application_credential_secret", SetBy: family.SetByTenant, Label: "Application credential secret", Type: family.FieldText, Secret: true},
		{Name: "region", SetBy: family.SetByTenant, Label: "Region", Type: family.FieldText, Help: "Optional if the cloud has a single region."},
		{Name: "interface", SetBy: family.SetByTenant, Reaches: true, Label: "Endpoints", Type: family.FieldChoice, Default: "public",
			Options: []string{"public", "internal"}, Help: "Which of the services' endpoints to use."},
		{Name: "ca_certificate", SetBy: family.SetByTenant, Reaches: true, Label: "CA certificates", Type: family.FieldLines, Help: "Certificate authorities to trust instead of the system's, in PEM format."},
		networksField, floatingField, groupsField,
		{Name: "availability_zone", SetBy: family.SetByTenant, Label: "Zone", Type: family.FieldText, Help: "Default zone. Leave empty to let the cloud choose."},
		bootField, bootTypeField, dataField, driveField, userdata.Field, userdata.ResourceField,
		{Name: "volume_type", SetBy: family.SetByTenant, Label: "Volume type", Type: family.FieldText,
			Help: "Of volumes for data that outlives machines. Leave empty for the cloud's default."},
		{Name: "dns_zone", SetBy: family.SetByTenant, Label: "DNS zone", Type: family.FieldText, Help: "A Designate zone of the project, such as clusters.example.org. Nodes with a name in the zone get A records."},
		{Name: "ssh_from", SetBy: family.SetByTenant, Label: "SSH from", Type: family.FieldList, Default: "0.0.0.0/0, ::/0", Help: "CIDR ranges that can reach SSH in clusters with a firewall. Muster's own address must be included."},
	},
	FlavorFields: []family.Field{networksField, floatingField, groupsField, bootField, bootTypeField, dataField, userdata.Field},
	ImageFields:  []family.Field{bootField, driveField},
}

var (
	networksField = family.Field{Name: "networks", SetBy: family.SetByAccountOwner, Label: "Networks", Type: family.FieldList, Help: "Names or IDs, the network between machines first. Leave empty for the project's only network."}
	floatingField = family.Field{Name: "floating_network", SetBy: family.SetByAccountOwner, Label: "Floating IPs from", Type: family.FieldText, Help: "Name or ID of the external network for machines' floating IPs. none or empty for no floating IPs."}
	groupsField   = family.Field{Name: "security_groups", SetBy: family.SetByAccountOwner, Label: "Security groups", Type: family.FieldList, Help: "Names or IDs of existing groups, in addition to the cluster's own."}
	bootField     = family.Field{Name: "boot_volume_gb", SetBy: family.SetByAccountOwner, Label: "Boot volume (GB)", Type: family.FieldInt, Default: "0", Help: "Boot from a volume of this size. 0 for the flavor's own disk."}
	bootTypeField = family.Field{Name: "boot_volume_type", SetBy: family.SetByAccountOwner, Label: "Boot volume type", Type: family.FieldText, Help: "Leave empty for the cloud's default."}
	dataField     = family.Field{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Default: "0", Help: "A volume, formatted and mounted at /data. 0 for none."}
	driveField    = family.Field{Name: "config_drive", SetBy: family.SetByTenant, Label: "Config drive", Type: family.FieldBool, Default: "true", Help: "Pass user data on a drive, without a metadata service."}
)

// Provider is one account.
type Provider struct {
	name     string
	settings account.Settings
	sessions *stack.Sessions
	pace     stack.Pace
	turns    *stack.Turns
	asked    account.Asked

	askedVolumes account.Asked

	catalog  *stack.Catalog
	networks stack.Names[network]

	*copies // for snapshots of volumes
}

var (
	_ family.Provider       = (*Provider)(nil)
	_ family.ProviderCloser = (*Provider)(nil)
	_ family.LateLister     = (*Provider)(nil)
	_ family.Sleeper        = (*Provider)(nil)
	_ family.Adopter        = (*Provider)(nil)
	_ family.AccountChecker = (*Provider)(nil)
	_ family.Offerer        = (*Provider)(nil)
	_ family.Sharer         = (*Provider)(nil)
	_ family.Namer          = (*Provider)(nil)
	_ family.Volumes        = (*Provider)(nil)
	_ family.Baker          = (*Provider)(nil)
)

var zoneForm = regexp.MustCompile(`^([a-z0-9_]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// microversion of Nova's interface: the first one that says which volumes go with a server. Every cloud since 2015 has it.
const microversion = "2.3"

// Open opens an account, without asking the cloud anything yet.
func Open(name string, settings map[string]any, via account.Network) (*Provider, error) {
	s := account.Settings(settings)
	in, err := authMethodOf(s)
	if err != nil {
		return nil, err
	}
	if _, err := machineOptionsOf(s); err != nil {
		return nil, err
	}
	if z := records.Plain(s.Text("dns_zone")); z != "" && !zoneForm.MatchString(z) {
		e := account.Invalid("dns_zone", "%q isn't a valid DNS zone", s.Text("dns_zone"))
		e.Hint = "For example, clusters.example.org."
		return nil, e
	}
	client, err := stack.NewClient(via, in.certificates)
	if err != nil {
		e := *app.AsError(err)
		e.Field = "settings.ca_certificate"
		return nil, &e
	}
	p := &Provider{
		name: name, settings: s, pace: stack.Usual, turns: stack.NewTurns(),
		sessions: stack.NewSessions(stack.Options{Auth: in.auth(client), Region: in.region, Microversion: microversion, Client: client}),
		catalog:  stack.NewCatalog(),
		networks: stack.Names[network]{For: 10 * time.Minute},
	}
	p.copies = &copies{p}
	return p, nil
}

// Check looks at settings more closely than the descriptor can.
func Check(settings map[string]any) error {
	p, err := Open("", settings, account.Network{})
	if err != nil {
		return err
	}
	return p.Close()
}

// Close lets go of connections.
func (p *Provider) Close() error { p.sessions.Close(); return nil }

func (p *Provider) ListsLate() time.Duration { return p.pace.Late }

// Describe returns a server as it is now.
func (p *Provider) Describe(ctx context.Context, id string) (family.Machine, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Machine, error) {
		one, err := stack.Get(ctx, s, id)
		if err != nil {
			return family.Machine{}, err
		}
		return one.Machine(p.order(ctx, s, one)), nil
	})
}

// List returns the servers that carry all of the tags.
func (p *Provider) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) ([]family.Machine, error) {
		all, err := stack.All(ctx, s, tags)
		out := make([]family.Machine, 0, len(all))
		var order []string
		for _, one := range all {
			if order == nil { // once for all, also where it cannot be had
				order = p.order(ctx, s, one)
			}
			out = append(out, one.Machine(order))
		}
		return out, err
	})
}

// Delete removes a server with its names, floating IP and volumes.
func (p *Provider) Delete(ctx context.Context, id string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) { return nil, p.remove(ctx, s, id) })
	return err
}

func (p *Provider) remove(ctx context.Context, s *stack.Session, id string) error {
	if err := p.dropNames(ctx, s, id); err != nil {
		return err
	}
	return stack.Remove(ctx, s, p.pace, id, func() error { return release(ctx, s, id) })
}

// Sleep stops a server.
func (p *Provider) Sleep(ctx context.Context, id string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) { return nil, stack.Sleep(ctx, s, id) })
	return err
}

// Wake starts it again.
func (p *Provider) Wake(ctx context.Context, id string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) { return nil, stack.Wake(ctx, s, p.pace, id) })
	return err
}

// Offers returns flavors, images and zones.
func (p *Provider) Offers(ctx context.Context) (family.Offers, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Offers, error) { return stack.Offers(ctx, s, false) })
}
