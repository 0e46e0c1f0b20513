package google

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"muster/app/family"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
	"muster/providers/internal/userdata"

	"cloud.google.com/go/auth"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:            "google",
	Tested:          "A simulated API, compared with Google's description. Not Google itself.",
	Sleeps:          true,
	Firewalls:       true,
	ResourceTypes:   userdata.Resources,
	VolumeSnapshots: true,
	Bakes:           true,
	Volumes:         true,
	Description: "Google Compute Engine machines. A flavor is a machine type (e2-medium, n2-custom-4-8192); an image is a family (debian-12, ubuntu-2404-lts-amd64), " +
		"PROJECT/FAMILY, or the path of an image.",
	Fields: append([]family.Field{
		userdata.ResourceField,
		{Name: "project", SetBy: family.SetByTenant, Label: "Project", Type: family.FieldText, Help: "The project's ID, not its name or number. Leave empty for the service account key's project."},
		{Name: "credentials", SetBy: family.SetByTenant, Identity: true, Label: "Service account key", Type: family.FieldLines, Secret: true,
			Help: "The service account's whole JSON key file. Leave empty for the application default credentials of Muster's host."},
		{Name: "zone", SetBy: family.SetByTenant, Label: "Zone", Type: family.FieldText, Required: true, Help: "Default zone, such as europe-west3-a."},
		{Name: "network", SetBy: family.SetByTenant, Label: "Network", Type: family.FieldText, Help: "The VPC network: its name, or projects/P/global/networks/N for a shared one. Leave empty for the subnetwork's, or default."},
		{Name: "ssh_from", SetBy: family.SetByTenant, Label: "SSH from", Type: family.FieldList, Default: "0.0.0.0/0",
			Help: "CIDR ranges that can reach SSH on machines behind a cluster's firewall, separated by commas."},
		{Name: "volume_type", SetBy: family.SetByTenant, Label: "Volume type", Type: family.FieldText, Default: "pd-balanced",
			Help: "Of volumes for data that outlives machines. C4, N4 and similar machine types need hyperdisk-balanced."},
		{Name: "dns_zone", SetBy: family.SetByTenant, Label: "DNS zone", Type: family.FieldText, Help: "DNS name of a public managed zone of the project in Cloud DNS, such as clusters.example.org. Nodes with a name in the zone get A records."},
		{Name: "api_url", SetBy: family.SetByInstallation, Label: "API address", Type: family.FieldText, Help: "Another address of the Compute API, with its path, such as https://restricted.googleapis.com/compute/v1/."},
	}, perMachine...),
	FlavorFields: perMachine,
	ImageFields:  []family.Field{rootDisk},
}

var rootDisk = family.Field{Name: "root_disk_gb", SetBy: family.SetByAccountOwner, Label: "Root disk (GB)", Type: family.FieldInt, Default: "20", Help: "At least the image's size."}

// perMachine are settings that a hardware type may say otherwise.
var perMachine = []family.Field{
	{Name: "subnetwork", SetBy: family.SetByAccountOwner, Label: "Subnetwork", Type: family.FieldText, Help: "Its name in the zone's region, or projects/P/regions/R/subnetworks/S. Required if the network has no automatic ones."},
	{Name: "external_ip", SetBy: family.SetByAccountOwner, Label: "External address", Type: family.FieldBool, Default: "true",
		Help: "Whether machines get an internet address. Without one, Muster must be able to reach their internal addresses."},
	{Name: "service_account", SetBy: family.SetByAccountOwner, Grants: true,
		Label: "Machines' service account", Type: family.FieldText,
		Help: "E-mail address of the service account that programs on machines use. Leave empty for none."},
	{Name: "scopes", SetBy: family.SetByAccountOwner, Grants: true,
		Label: "Machines' scopes", Type: family.FieldList,
		Help: "OAuth scopes of that service account, separated by commas. Leave empty for cloud-platform, which leaves access to its roles."},
	rootDisk,
	{Name: "root_disk_type", SetBy: family.SetByAccountOwner, Label: "Root disk type", Type: family.FieldText, Help: "For example, pd-balanced, pd-ssd or hyperdisk-balanced. Leave empty for pd-balanced, or hyperdisk-balanced if the machine type requires it."},
	{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Default: "0", Help: "A second disk, mounted at /data. 0 for none."},
	{Name: "data_disk_type", SetBy: family.SetByAccountOwner, Label: "Data disk type", Type: family.FieldText, Help: "Leave empty for the root disk's type."},
	userdata.ScriptField,
	{Name: "spot", SetBy: family.SetByTenant, Label: "Spot", Type: family.FieldBool, Default: "false", Help: "Cheaper machines that Google can stop at any time; they're then shown as stopped."},
	{Name: "auto_restart", SetBy: family.SetByTenant, Label: "Automatic restart", Type: family.FieldBool, Default: "true", Help: "Whether Google restarts a machine after its host fails. Never for spot machines."},
}

// pauses are how long to wait before looking again.
type pauses struct {
	operation time.Duration // between two looks at an operation, each of which may take minutes by itself
	machine   time.Duration // between two looks at a machine that changes
	late      time.Duration // see ListsLate
}

var usual = pauses{operation: time.Second, machine: 2 * time.Second, late: 3 * time.Second}

// Provider is one project.
type Provider struct {
	name      string
	settings  account.Settings
	project   string
	zone      string
	login     *auth.Credentials
	api       *gcp.Client
	transport *http.Transport
	pauses    pauses

	*disks // for volumes

	mu    sync.Mutex
	ready map[uint64]bool // machines, by their number, that are known to have done their first start
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
)

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(settings map[string]any) error {
	s := account.Settings(settings)
	if err := checkZone(s.Text("zone")); err != nil {
		return err
	}
	if err := checkURL(s.Text("api_url")); err != nil {
		return err
	}
	if z := records.Plain(s.Text("dns_zone")); z != "" && !hostForm.MatchString(z) {
		e := account.Invalid("dns_zone", "%q isn't a valid DNS name of a zone", s.Text("dns_zone"))
		e.Hint = "For example, clusters.example.org; not the managed zone's name in the project."
		return e
	}
	if _, err := read(s); err != nil {
		return err
	}
	k, err := keyOf(s) // last, since a reference to a secret may stand in its place where settings are written
	if err != nil {
		return err
	}
	switch project := projectOf(s, k); {
	case project == "":
		return account.Invalid("project", "the project is required: the service account's key doesn't contain it")
	case !projectForm.MatchString(project):
		return account.Invalid("project", "%q isn't a valid project ID: it must have 6 to 30 lowercase letters, digits and hyphens", project)
	}
	return nil
}

// Open returns the project that the settings name. It asks nothing yet.
func Open(_ context.Context, name string, settings map[string]any, via account.Network) (*Provider, error) {
	return open(name, settings, "", usual, via)
}

// Close lets connections go; machines stay.
func (p *Provider) Close() error {
	p.transport.CloseIdleConnections()
	return nil
}

// ListsLate: a machine whose insert was just accepted, and whose answer was lost, may be missing from lists for a moment.
func (p *Provider) ListsLate() time.Duration { return p.pauses.late }

// base is the last part of a resource's address.
func base(url string) string { return url[strings.LastIndex(url, "/")+1:] }

// region of a zone: europe-west3 of europe-west3-a.
func region(zone string) string {
	if i := strings.LastIndex(zone, "-"); i > 0 {
		return zone[:i]
	}
	return zone
}

// pause waits, but no longer than ctx lasts.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
