package rackspace

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"time"

	"muster/app/family"
	"muster/providers/internal/account"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/records"
	"muster/providers/internal/userdata"
)

const identity = "https://identity.api.rackspacecloud.com/v2.0"

// Descriptor describes the member.
var Descriptor = family.Descriptor{
	Name:          "rackspace",
	Tested:        "A simulated API. Not Rackspace itself.",
	ResourceTypes: userdata.Resources,
	Description:   "Rackspace Cloud Servers.",
	Sleeps:        true,
	Fields: []family.Field{
		{Name: "username", SetBy: family.SetByTenant, Label: "User", Type: family.FieldText, Required: true},
		{Name: "api_key", SetBy: family.SetByTenant, Label: "API key", Type: family.FieldText, Secret: true, Help: "In the control panel under Account, My Profile."},
		{Name: "password", SetBy: family.SetByTenant, Label: "Password", Type: family.FieldText, Secret: true, Help: "Instead of the API key; not for users with multi-factor authentication."},
		{Name: "tenant", SetBy: family.SetByTenant, Label: "Account number", Type: family.FieldText, Help: "Required if the user belongs to several accounts."},
		{Name: "region", SetBy: family.SetByTenant, Label: "Region", Type: family.FieldChoice, Required: true, Options: []string{"DFW", "ORD", "IAD", "LON", "HKG", "SYD"}},
		networksField, bootField, dataField, userdata.Field, userdata.ResourceField,
		{Name: "dns_zone", SetBy: family.SetByTenant, Label: "DNS zone", Type: family.FieldText, Help: "A Cloud DNS domain of the account, such as clusters.example.org. Nodes with a name in the domain get A records."},
		{Name: "rackconnect_wait", SetBy: family.SetByTenant, Label: "Wait for RackConnect", Type: family.FieldBool, Default: "false", Help: "Whether a machine counts as started only when RackConnect's automation has finished."},
		{Name: "auth_url", SetBy: family.SetByInstallation, Label: "Identity service", Type: family.FieldText, Default: identity, Help: "Another address of the identity service, such as a proxy."},
	},
	FlavorFields: []family.Field{networksField, bootField, dataField, userdata.Field},
	ImageFields:  []family.Field{bootField},
}

var (
	networksField = family.Field{Name: "networks", SetBy: family.SetByAccountOwner, Label: "Networks", Type: family.FieldList, Default: "public, servicenet", Help: "public, servicenet, and IDs of isolated networks."}
	bootField     = family.Field{Name: "boot_volume_gb", SetBy: family.SetByAccountOwner, Label: "Boot volume (GB)", Type: family.FieldInt, Default: "0", Help: "Boot from a volume of this size. 0 for the flavor's own disk, or 50 if it has none."}
	dataField     = family.Field{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Default: "0", Help: "A volume of 75 to 1024 GB, formatted and mounted at /data. 0 for none."}
)

// Provider is one account in one region.
type Provider struct {
	settings account.Settings
	region   string
	waits    bool // for RackConnect
	sessions *stack.Sessions
	pace     stack.Pace
	turns    *stack.Turns
	asked    account.Asked
	catalog  *stack.Catalog
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
)

// zoneForm is the form of a domain's name.
var zoneForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Open opens an account, without asking Rackspace anything yet.
func Open(settings map[string]any, via account.Network) (*Provider, error) {
	s := account.Settings(settings)
	in := authMethod{url: strings.TrimRight(s.Or("auth_url", identity), "/"), username: s.Text("username"), key: s.Text("api_key"), password: s.Text("password"), tenant: s.Text("tenant")}
	at, err := url.Parse(in.url)
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.Scheme != "https" && at.Scheme != "http":
		return nil, account.Invalid("auth_url", "the identity service's address must be an http or https URL without a user")
	case in.username == "":
		return nil, account.Invalid("username", "the user is required")
	case in.key == "" && in.password == "":
		e := account.Invalid("api_key", "an API key or a password is required")
		e.Hint = "Set api_key, from the control panel under Account, My Profile."
		return nil, e
	case in.key != "" && in.password != "":
		return nil, account.Invalid("password", "set either an API key or a password, not both")
	case s.Text("region") == "":
		return nil, account.Invalid("region", "the region is required")
	}
	if z := records.Plain(s.Text("dns_zone")); z != "" && !zoneForm.MatchString(z) {
		e := account.Invalid("dns_zone", "%q isn't a valid DNS zone", s.Text("dns_zone"))
		e.Hint = "For example, clusters.example.org."
		return nil, e
	}
	waits, err := s.Bool("rackconnect_wait", false)
	if err != nil {
		return nil, err
	}
	if _, err := machineOptionsOf(s); err != nil {
		return nil, err
	}
	client, err := stack.NewClient(via, "")
	if err != nil {
		return nil, err
	}
	region := s.Text("region")
	return &Provider{settings: s, region: region, waits: waits, pace: stack.Usual, turns: stack.NewTurns(), catalog: stack.NewCatalog(),
		sessions: stack.NewSessions(stack.Options{Auth: in.auth(client), Region: region, Client: client})}, nil
}

// Check looks at settings more closely than the descriptor can.
func Check(settings map[string]any) error {
	p, err := Open(settings, account.Network{})
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
		return p.machine(one), nil
	})
}

// List returns the servers of the region that carry all of the tags.
func (p *Provider) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) ([]family.Machine, error) {
		all, err := stack.All(ctx, s, tags)
		out := make([]family.Machine, 0, len(all))
		for _, one := range all {
			out = append(out, p.machine(one))
		}
		return out, err
	})
}

// Delete removes a server with its names. Its volumes go with it.
func (p *Provider) Delete(ctx context.Context, id string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) { return nil, p.remove(ctx, s, id) })
	return err
}

func (p *Provider) remove(ctx context.Context, s *stack.Session, id string) error {
	if err := p.dropNames(ctx, s, id); err != nil {
		return err
	}
	return stack.Remove(ctx, s, p.pace, id, func() error { return nil })
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

// Adopt returns a server other tags and another name.
func (p *Provider) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	if err := p.makeable(spec); err != nil {
		return err
	}
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) {
		one, err := stack.Get(ctx, s, id)
		if err != nil {
			return nil, err
		}
		return nil, stack.Retag(ctx, s, one, spec)
	})
	return err
}

// Offers returns flavors and images; flavors go by their ids, such as general1-4.
func (p *Provider) Offers(ctx context.Context) (family.Offers, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Offers, error) {
		offers, err := stack.Offers(ctx, s, true)
		offers.Zones = []string{p.region}
		return offers, err
	})
}
