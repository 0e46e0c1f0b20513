package azure

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
	"muster/providers/internal/userdata"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:          "azure",
	Tested:        "A simulated Azure. Not Azure itself.",
	Sleeps:        true,
	Firewalls:     true,
	ResourceTypes: userdata.Resources,
	Description: "Microsoft Azure virtual machines in one resource group. A flavor is a size (Standard_B2s); an image is PUBLISHER:OFFER:SKU:VERSION " +
		"(Debian:debian-12:12-gen2:latest) or the resource ID of an image.",
	Fields: append([]family.Field{
		{Name: "directory_id", SetBy: family.SetByTenant, Identity: true, Reaches: true, Label: "Directory (tenant) ID", Type: family.FieldText,
			Help: "The Microsoft Entra directory of the app registration."},
		{Name: "client_id", SetBy: family.SetByTenant, Identity: true, Label: "Application (client) ID", Type: family.FieldText,
			Help: "The app registration, or a user-assigned managed identity of Muster's host."},
		{Name: "client_secret", SetBy: family.SetByTenant, Identity: true, Label: "Client secret", Type: family.FieldText, Secret: true,
			Help: "A client secret's value, not its ID. Leave empty for the workload identity or managed identity of Muster's host."},
		{Name: "subscription_id", SetBy: family.SetByTenant, Label: "Subscription ID", Type: family.FieldText, Required: true},
		{Name: "resource_group", SetBy: family.SetByTenant, Label: "Resource group", Type: family.FieldText, Required: true,
			Help: "An existing resource group. Everything is created in it."},
		{Name: "location", SetBy: family.SetByTenant, Label: "Location", Type: family.FieldText, Required: true, Help: "For example, westeurope."},
		{Name: "subnet", SetBy: family.SetByTenant, Label: "Subnet", Type: family.FieldText, Required: true,
			Help: "VNET/SUBNET in the resource group, or the subnet's resource ID. Must be in the location."},
		{Name: "ssh_from", SetBy: family.SetByTenant, Label: "SSH from", Type: family.FieldList, Default: "0.0.0.0/0",
			Help: "CIDR ranges that can reach SSH on machines behind a cluster's firewall, separated by commas."},
		{Name: "dns_zone", SetBy: family.SetByTenant, Label: "DNS zone", Type: family.FieldText,
			Help: "A public Azure DNS zone of the resource group, such as clusters.example.org, or its resource ID. Nodes with a name in the zone get A records."},
		{Name: "cloud", SetBy: family.SetByTenant, Reaches: true, Label: "Cloud", Type: family.FieldChoice, Default: "public",
			Options: []string{"public", "usgovernment", "china"}},
		{Name: "api_url", SetBy: family.SetByInstallation, Label: "API address", Type: family.FieldText,
			Help: "Another address of Azure Resource Manager, such as a proxy's."},
		{Name: "login_url", SetBy: family.SetByInstallation, Label: "Sign-in address", Type: family.FieldText, Help: "Another address of Microsoft Entra ID."},
		userdata.ResourceField,
	}, perMachine...),
	FlavorFields: perMachine,
	ImageFields:  []family.Field{rootDisk},
}

// Values of the setting spot.
const (
	spotNo       = "false"
	spotYes      = "true"
	spotFallback = "fallback"
)

var rootDisk = family.Field{Name: "root_disk_gb", SetBy: family.SetByAccountOwner, Label: "Root disk (GB)", Type: family.FieldInt, Default: "0",
	Help: "0 uses the image's size."}

// perMachine are settings that a hardware type may say otherwise.
var perMachine = []family.Field{
	{Name: "public_ip", SetBy: family.SetByAccountOwner, Label: "Public address", Type: family.FieldBool, Default: "true",
		Help: "Whether machines get a public IPv4 address. Without one, Muster must be able to reach their private addresses."},
	rootDisk,
	{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Default: "0",
		Help: "An empty disk, formatted and mounted at /data. 0 for none."},
	{Name: "disk_type", SetBy: family.SetByAccountOwner, Label: "Disk type", Type: family.FieldChoice, Default: "StandardSSD_LRS",
		Options: []string{"StandardSSD_LRS", "Premium_LRS", "Standard_LRS", "StandardSSD_ZRS", "Premium_ZRS"}, Help: "Of root and data disks."},
	{Name: "spot", SetBy: family.SetByTenant, Label: "Spot", Type: family.FieldChoice, Default: spotNo, Options: []string{spotNo, spotYes, spotFallback},
		Help: "Cheaper machines that Azure can stop at any time; they're then shown as stopped. " +
			"fallback requests spot first and a regular machine if there's no capacity."},
	userdata.Field,
}

var (
	guidForm     = regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	domainForm   = regexp.MustCompile(`(?i)^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)
	groupForm    = regexp.MustCompile(`^[-\w._()]{0,89}[-\w_()]$`)
	locationForm = regexp.MustCompile(`^[a-z][a-z0-9]{2,40}$`)
	subnetForm   = regexp.MustCompile(`^([\w][-\w.]{0,62})/([\w][-\w.]{0,78})$`)
	subnetIDForm = regexp.MustCompile(`(?i)^/subscriptions/[0-9a-f-]{36}/resourceGroups/[^/]+/providers/Microsoft\.Network/virtualNetworks/[^/]+/subnets/[^/]+$`)
	zoneIDForm   = regexp.MustCompile(`(?i)^/subscriptions/[0-9a-f-]{36}/resourceGroups/[^/]+/providers/Microsoft\.Network/dnsZones/([^/]+)$`)
)

// Check validates settings beyond what the descriptor says; the error is EInvalid. Values of secrets never stand in it.
func Check(settings map[string]any) error {
	s := account.Settings(settings)
	_, err := read(s)
	return err
}

// settings are an account's.
type settings struct {
	directory, client, secret     string
	subscription, group, location string
	subnet                        string // its resource ID
	zone, zoneID                  string // the DNS zone's name and resource ID
	cloud, api, login             string
	options                       // of a machine whose types say nothing else
}

func read(s account.Settings) (settings, error) {
	out := settings{directory: s.Text("directory_id"), client: s.Text("client_id"), secret: s.Text("client_secret"), subscription: s.Text("subscription_id"),
		group: s.Text("resource_group"), location: s.Text("location"), cloud: s.Or("cloud", "public"), api: s.Text("api_url"), login: s.Text("login_url")}
	switch {
	case !guidForm.MatchString(out.subscription):
		return out, hinted(account.Invalid("subscription_id", "%q isn't a valid subscription ID.", out.subscription), "Run az account show --query id.")
	case !groupForm.MatchString(out.group):
		return out, hinted(account.Invalid("resource_group", "%q isn't a valid name of a resource group.", out.group), "Use its name, not its ID.")
	case !locationForm.MatchString(out.location):
		return out, hinted(account.Invalid("location", "%q isn't a valid location.", out.location), "Use the name without spaces, such as westeurope.")
	case out.client != "" && !guidForm.MatchString(out.client):
		return out, hinted(account.Invalid("client_id", "%q isn't a valid application ID.", out.client), "It's on the app registration's overview page.")
	case out.directory != "" && !guidForm.MatchString(out.directory) && !domainForm.MatchString(out.directory):
		return out, hinted(account.Invalid("directory_id", "%q isn't a valid directory ID.", out.directory), "It's on the app registration's overview page.")
	case out.secret != "" && out.client == "":
		return out, hinted(account.Invalid("client_id", "A client secret requires the application's ID."), "It's on the app registration's overview page.")
	case out.secret != "" && out.directory == "":
		return out, hinted(account.Invalid("directory_id", "A client secret requires the directory's ID."), "It's on the app registration's overview page.")
	}
	group := "/subscriptions/" + out.subscription + "/resourceGroups/" + out.group
	switch subnet := s.Text("subnet"); {
	case subnetIDForm.MatchString(subnet):
		out.subnet = subnet
	case subnetForm.MatchString(subnet):
		m := subnetForm.FindStringSubmatch(subnet)
		out.subnet = group + "/providers/Microsoft.Network/virtualNetworks/" + m[1] + "/subnets/" + m[2]
	default:
		return out, hinted(account.Invalid("subnet", "%q isn't a valid subnet.", subnet), "Use VNET/SUBNET, or the subnet's resource ID.")
	}
	if zone := s.Text("dns_zone"); zoneIDForm.MatchString(zone) {
		out.zone, out.zoneID = records.Plain(zoneIDForm.FindStringSubmatch(zone)[1]), zone
	} else if zone = records.Plain(zone); zone != "" {
		out.zone, out.zoneID = zone, group+"/providers/Microsoft.Network/dnsZones/"+zone
	}
	if out.zone != "" && !domainForm.MatchString(out.zone) {
		return out, hinted(account.Invalid("dns_zone", "%q isn't a valid DNS zone.", s.Text("dns_zone")), "For example, clusters.example.org.")
	}
	for field, text := range map[string]string{"api_url": out.api, "login_url": out.login} {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
			return out, account.Invalid(field, "%s must have the form https://HOST/.", field)
		}
	}
	var err error
	out.options, err = readOptions(s)
	return out, err
}

// options are the settings of one machine.
type options struct {
	rootGB, dataGB int
	diskType       string
	public         bool
	spot           string
	sshFrom        []string
	custom         string // user data
}

func readOptions(s account.Settings) (o options, err error) {
	o = options{diskType: s.Or("disk_type", "StandardSSD_LRS"), spot: s.Or("spot", spotNo), sshFrom: s.List("ssh_from"), custom: s.Text(userdata.Setting)}
	if err := userdata.CheckCustom(o.custom, longestCustom); err != nil {
		return o, err
	}
	if o.rootGB, err = s.Int("root_disk_gb", 0, 0, 4095); err != nil {
		return o, err
	}
	if o.dataGB, err = s.Int("data_disk_gb", 0, 0, 32767); err != nil {
		return o, err
	}
	if o.public, err = s.Bool("public_ip", true); err != nil {
		return o, err
	}
	for _, f := range perMachine {
		if v := s.Text(f.Name); v != "" && f.Type == family.FieldChoice && !slices.Contains(f.Options, v) {
			return o, hinted(account.Invalid(f.Name, "%s can't be %q.", f.Name, v), "One of: "+strings.Join(f.Options, ", ")+".")
		}
	}
	if len(o.sshFrom) == 0 {
		o.sshFrom = []string{"0.0.0.0/0"}
	}
	o.sshFrom, err = prefixes("ssh_from", o.sshFrom)
	return o, err
}

func hinted(e *app.Error, hint string) *app.Error {
	e.Hint = hint
	return e
}
