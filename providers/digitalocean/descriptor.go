package digitalocean

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
	"muster/providers/internal/userdata"
)

// anywhere is every address.
const anywhere = "0.0.0.0/0, ::/0"

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:          "digitalocean",
	Tested:        "A simulated API. Not DigitalOcean itself.",
	Sleeps:        true,
	Firewalls:     true,
	ResourceTypes: userdata.Resources,
	Volumes:       true, VolumeSnapshots: true, Bakes: true,
	Description: "DigitalOcean droplets. A sleeping droplet costs as much as a running one.",
	Fields: []family.Field{
		{Name: "token", SetBy: family.SetByTenant, Label: "API token", Type: family.FieldText, Required: true, Secret: true,
			Help: "A personal access token (API, Tokens, Generate New Token). See docs/providers/digitalocean.md for its scopes."},
		{Name: "region", SetBy: family.SetByTenant, Label: "Region", Type: family.FieldText, Required: true,
			Help: "Default region, such as fra1 or nyc3. Regions also serve as nodes' zones."},
		{Name: "vpc_uuid", SetBy: family.SetByTenant, Label: "VPC", Type: family.FieldText,
			Help: "ID of a VPC in that region (Networking, VPC; the last part of its address). Leave empty for the default VPC, which other regions always use."},
		{Name: "ssh_from", SetBy: family.SetByTenant, Label: "SSH from", Type: family.FieldList, Default: anywhere,
			Help: "CIDR ranges that can reach SSH behind a cluster's firewall, separated by commas, such as 203.0.113.0/24. Muster's own address must be included."},
		{Name: "ssh_keys", SetBy: family.SetByAccountOwner, Label: "Additional SSH keys", Type: family.FieldList,
			Help: "Fingerprints or IDs of SSH keys in the account that can sign in as root, in addition to Muster's key. With at least one, DigitalOcean doesn't e-mail a root password."},
		{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Default: "0",
			Help: "Size of each machine's volume at /data, unless its hardware type sets one. 0 for none. Volumes are billed per GB and month."},
		{Name: "backups", SetBy: family.SetByAccountOwner, Label: "Backups", Type: family.FieldBool, Default: "false",
			Help: "Whether DigitalOcean backs up machines weekly, for 20% of their price, unless the hardware type says otherwise."},
		userdata.Field, userdata.ResourceField,
		{Name: "monitoring", SetBy: family.SetByTenant, Label: "Monitoring", Type: family.FieldBool, Default: "false",
			Help: "Whether to install DigitalOcean's free metrics agent on machines."},
		{Name: "ipv6", SetBy: family.SetByTenant, Label: "IPv6", Type: family.FieldBool, Default: "false",
			Help: "Whether machines also get a public IPv6 address."},
		{Name: "dns_zone", SetBy: family.SetByTenant, Label: "DNS zone", Type: family.FieldText,
			Help: "A domain of the account at DigitalOcean (Networking, Domains), such as clusters.example.org. Nodes with a name in the domain get A and AAAA records."},
		{Name: "api_url", SetBy: family.SetByInstallation, Label: "API address", Type: family.FieldText,
			Help: "Address of the API, such as your own proxy. Leave empty for https://api.digitalocean.com/."},
	},
	FlavorFields: []family.Field{
		{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Help: "Size of the machine's volume at /data, which is deleted with the machine. 0 for none."},
		{Name: "backups", SetBy: family.SetByAccountOwner, Label: "Backups", Type: family.FieldBool, Help: "Whether DigitalOcean backs up the machine weekly, for 20% of its price."},
		userdata.Field,
	},
}

// largestVolume is the largest volume that there is, in GB: 16 TiB.
const largestVolume = 16384

// settings are an account's, read.
type settings struct {
	token, region, vpc, url  string
	zone                     string
	sshFrom, sshKeys         []string
	monitoring, ipv6, backup bool
	custom                   string // user data
	dataDisk                 int
}

var (
	zoneForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	slugForm = regexp.MustCompile(`^[a-z]{2,10}[0-9]{1,3}$`)
	uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	keyForm  = regexp.MustCompile(`^([0-9]+|[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){15})$`)
)

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(settings map[string]any) error {
	_, err := read(account.Settings(settings))
	return err
}

func read(s account.Settings) (settings, error) {
	o := settings{token: s.Text("token"), region: s.Text("region"), vpc: s.Text("vpc_uuid"), sshKeys: s.List("ssh_keys"), url: s.Text("api_url"),
		zone: records.Plain(s.Text("dns_zone")), custom: s.Text(userdata.Setting)}
	if err := userdata.CheckCustom(o.custom, userdata.LimitDroplet); err != nil {
		return o, err
	}
	if strings.ContainsAny(o.token, " \t\r\n") {
		return o, account.Invalid("token", "the token contains a space or a line break")
	}
	if o.region != "" && !slugForm.MatchString(o.region) {
		e := account.Invalid("region", "%q isn't a valid region", o.region)
		e.Hint = "Use a region's slug in lowercase, such as fra1, ams3 or nyc3."
		return o, e
	}
	if o.vpc != "" && !uuidForm.MatchString(o.vpc) {
		e := account.Invalid("vpc_uuid", "%q isn't a valid VPC ID", o.vpc)
		e.Hint = "Use the last part of the VPC's address in the control panel, such as 5a4981aa-9653-4bd1-bef5-d6bff52042e4."
		return o, e
	}
	if o.zone != "" && !zoneForm.MatchString(o.zone) {
		e := account.Invalid("dns_zone", "%q isn't a valid domain name", s.Text("dns_zone"))
		e.Hint = "For example, clusters.example.org."
		return o, e
	}
	for _, key := range o.sshKeys {
		if !keyForm.MatchString(key) {
			e := account.Invalid("ssh_keys", "%q isn't an ID or fingerprint of an SSH key", key)
			e.Hint = "Find fingerprints in the control panel under Settings, Security; they look like 3b:16:e4:...:2f."
			return o, e
		}
	}
	var err error
	if o.sshFrom, err = prefixes("ssh_from", account.Settings{"ssh_from": s.Or("ssh_from", anywhere)}.List("ssh_from")); err != nil {
		return o, err
	}
	if o.monitoring, err = s.Bool("monitoring", false); err != nil {
		return o, err
	}
	if o.ipv6, err = s.Bool("ipv6", false); err != nil {
		return o, err
	}
	if o.backup, err = s.Bool("backups", false); err != nil {
		return o, err
	}
	if o.dataDisk, err = s.Int("data_disk_gb", 0, 0, largestVolume); err != nil {
		return o, err
	}
	if u, err := url.Parse(o.url); o.url != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil) {
		return o, account.Invalid("api_url", "%q isn't a valid address. For example, https://api.digitalocean.com/", o.url)
	}
	return o, nil
}

// prefixes reads prefixes and single addresses.
func prefixes(field string, list []string) ([]string, error) {
	out := make([]string, 0, len(list))
	for _, text := range list {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, err := netip.ParseAddr(text)
			if err != nil {
				e := account.Invalid(field, "%q isn't a CIDR range", text)
				e.Hint = "For example, 203.0.113.0/24. Separate several with commas."
				return nil, e
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked().String())
	}
	return out, nil
}
