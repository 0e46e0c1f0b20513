package digitalocean

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
)

// anywhere is every address.
const anywhere = "0.0.0.0/0, ::/0"

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:        "digitalocean",
	Sleeps:      true,
	Description: "Droplets with DigitalOcean. A droplet that sleeps is billed like one that runs: only deleting it ends its costs.",
	Fields: []family.Field{
		{Name: "token", SetBy: family.SetByTenant, Label: "API token", Type: family.FieldText, Required: true, Secret: true,
			Help: "A personal access token (API, Tokens, Generate New Token). The scopes that it needs are listed in docs/providers/digitalocean.md."},
		{Name: "region", SetBy: family.SetByTenant, Label: "Region", Type: family.FieldText, Required: true,
			Help: "Where machines go that are given no zone, by its short name such as fra1 or nyc3. Zones of nodes are such names too."},
		{Name: "vpc_uuid", SetBy: family.SetByTenant, Label: "VPC", Type: family.FieldText,
			Help: "The id of the VPC in that region (Networking, VPC; the last part of its address). Empty, and in every other region, means the region's default VPC."},
		{Name: "ssh_from", SetBy: family.SetByTenant, Label: "SSH from", Type: family.FieldList, Default: anywhere,
			Help: "Prefixes that may reach SSH on machines behind a cluster's firewall, with commas between them, such as 203.0.113.0/24. Muster's own address must be in one."},
		{Name: "ssh_keys", SetBy: family.SetByAccountOwner, Label: "More SSH keys", Type: family.FieldList,
			Help: "Fingerprints or ids of SSH keys in the account that are let in as root beside Muster's own key. With one at least, DigitalOcean sends no mail with a root password."},
		{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Default: "0",
			Help: "The size of a volume that each machine gets at /data, unless its hardware type says otherwise. 0 means none; volumes are billed by the GB and month."},
		{Name: "backups", SetBy: family.SetByAccountOwner, Label: "Backups", Type: family.FieldBool, Default: "false",
			Help: "Whether DigitalOcean backs machines up every week, for a fifth of their price more, unless the hardware type says otherwise."},
		{Name: "monitoring", SetBy: family.SetByTenant, Label: "Monitoring", Type: family.FieldBool, Default: "false",
			Help: "Whether DigitalOcean's metrics agent is put on machines. It costs nothing."},
		{Name: "ipv6", SetBy: family.SetByTenant, Label: "IPv6", Type: family.FieldBool, Default: "false",
			Help: "Whether machines get a public IPv6 address as well."},
		{Name: "dns_zone", SetBy: family.SetByTenant, Label: "DNS zone", Type: family.FieldText,
			Help: "A domain of the account at DigitalOcean (Networking, Domains), such as clusters.example.org. Nodes whose name is in it get A and AAAA records there."},
		{Name: "api_url", SetBy: family.SetByInstallation, Label: "API address", Type: family.FieldText,
			Help: "Where the API is reached, such as a proxy of your own. Empty means https://api.digitalocean.com/."},
	},
	FlavorFields: []family.Field{
		{Name: "data_disk_gb", SetBy: family.SetByAccountOwner, Label: "Data disk (GB)", Type: family.FieldInt, Help: "The size of a volume that the machine gets at /data and loses with its deletion. 0 means none."},
		{Name: "backups", SetBy: family.SetByAccountOwner, Label: "Backups", Type: family.FieldBool, Help: "Whether DigitalOcean backs the machine up every week, for a fifth of its price more."},
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
		zone: records.Plain(s.Text("dns_zone"))}
	if strings.ContainsAny(o.token, " \t\r\n") {
		return o, account.Invalid("token", "the token has a space or a line break in it")
	}
	if o.region != "" && !slugForm.MatchString(o.region) {
		e := account.Invalid("region", "%q is not the short name of a region", o.region)
		e.Hint = "Short names are such as fra1, ams3 or nyc3, in small letters."
		return o, e
	}
	if o.vpc != "" && !uuidForm.MatchString(o.vpc) {
		e := account.Invalid("vpc_uuid", "%q is not the id of a VPC", o.vpc)
		e.Hint = "It is the last part of the VPC's address in the control panel, such as 5a4981aa-9653-4bd1-bef5-d6bff52042e4."
		return o, e
	}
	if o.zone != "" && !zoneForm.MatchString(o.zone) {
		e := account.Invalid("dns_zone", "%q is not the name of a domain", s.Text("dns_zone"))
		e.Hint = "Such as clusters.example.org."
		return o, e
	}
	for _, key := range o.sshKeys {
		if !keyForm.MatchString(key) {
			e := account.Invalid("ssh_keys", "%q is neither an id nor a fingerprint of an SSH key", key)
			e.Hint = "The control panel shows fingerprints under Settings, Security; they are of the form 3b:16:e4:...:2f."
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
		return o, account.Invalid("api_url", "%q is not an address such as https://api.digitalocean.com/", o.url)
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
				e := account.Invalid(field, "%q is not a prefix", text)
				e.Hint = "Write for example 203.0.113.0/24, with commas between several."
				return nil, e
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked().String())
	}
	return out, nil
}
