package aws

import (
	"net/url"
	"regexp"

	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
	"muster/providers/internal/userdata"
)

// Fields that a hardware type may say as well as the account.
var (
	rootDiskGB   = appfamily.Field{Name: "root_disk_gb", SetBy: appfamily.SetByAccountOwner, Label: "Root disk (GB)", Type: appfamily.FieldInt, Help: "0 uses the image's size."}
	rootDiskType = appfamily.Field{Name: "root_disk_type", SetBy: appfamily.SetByAccountOwner, Label: "Root disk type", Type: appfamily.FieldChoice, Options: rootTypes}
	dataDiskGB   = appfamily.Field{Name: "data_disk_gb", SetBy: appfamily.SetByAccountOwner, Label: "Data disk (GB)", Type: appfamily.FieldInt, Help: "An empty disk, formatted and mounted at /data. 0 for none."}
	dataDiskType = appfamily.Field{Name: "data_disk_type", SetBy: appfamily.SetByAccountOwner, Label: "Data disk type", Type: appfamily.FieldChoice, Options: dataTypes}
	encrypt      = appfamily.Field{Name: "encrypt_disks", SetBy: appfamily.SetByAccountOwner, Label: "Encrypt disks", Type: appfamily.FieldBool, Help: "If false, the account's default applies."}
	public       = appfamily.Field{Name: "public_address", SetBy: appfamily.SetByAccountOwner, Label: "Public address", Type: appfamily.FieldBool, Help: "Whether machines get a public IPv4 address. Without one, Muster must be able to reach their private addresses."}
	spot         = appfamily.Field{Name: "spot", SetBy: appfamily.SetByTenant, Label: "Spot", Type: appfamily.FieldChoice, Help: "fallback requests spot first and on-demand if there's no capacity. AWS can reclaim spot machines, and they can't sleep.", Options: []string{spotNo, spotYes, spotFallback}}
	groups       = appfamily.Field{Name: "security_group_ids", SetBy: appfamily.SetByAccountOwner, Label: "Security groups", Type: appfamily.FieldList, Help: "IDs (sg-…) or names in the subnet's VPC, separated by commas, in addition to the cluster's own firewall. Empty without a firewall: the VPC's default group."}
	profile      = appfamily.Field{Name: "instance_profile", SetBy: appfamily.SetByAccountOwner, Grants: true,
		Label: "Instance profile",
		Type:  appfamily.FieldText, Help: "Name or ARN of the machines' IAM instance profile. Leave empty for none."}
	placement = appfamily.Field{Name: "placement_group", SetBy: appfamily.SetByAccountOwner, Label: "Placement group", Type: appfamily.FieldText}
	keyPair   = appfamily.Field{Name: "key_pair", SetBy: appfamily.SetByAccountOwner, Label: "Key pair", Type: appfamily.FieldText,
		Help: "Name of an EC2 key pair whose owner can sign in as the image's own user, in addition to Muster's key."}
	tenancy = appfamily.Field{Name: "tenancy", SetBy: appfamily.SetByAccountOwner, Label: "Tenancy", Type: appfamily.FieldChoice,
		Options: []string{"default", "dedicated"}}
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = appfamily.Descriptor{
	Name:          "aws",
	Tested:        "A simulated EC2 and Route 53, compared with AWS's models. Not AWS itself.",
	Sleeps:        true,
	Firewalls:     true,
	ResourceTypes: userdata.Resources,
	Volumes:       true, VolumeSnapshots: true,
	Bakes:       true,
	Description: "Amazon EC2: instances in one region of an AWS account.",
	Fields: []appfamily.Field{
		{Name: "region", SetBy: appfamily.SetByTenant, Label: "Region", Type: appfamily.FieldText, Help: "For example, eu-central-1.", Required: true},
		{Name: "access_key_id", SetBy: appfamily.SetByTenant, Identity: true, Label: "Access key ID", Type: appfamily.FieldText, Help: "Leave empty for the AWS SDK's default chain, such as the server's instance role or environment."},
		{Name: "secret_access_key", SetBy: appfamily.SetByTenant, Identity: true, Label: "Secret access key", Type: appfamily.FieldText, Secret: true},
		{Name: "session_token", SetBy: appfamily.SetByTenant, Label: "Session token", Type: appfamily.FieldText, Help: "Only for temporary keys.", Secret: true},
		{Name: "role_arn", SetBy: appfamily.SetByInstallation, Acts: true, Label: "Role to assume", Type: appfamily.FieldText, Help: "arn:aws:iam::…:role/… to assume with the credentials above."},
		{Name: "external_id", SetBy: appfamily.SetByInstallation, Acts: true, Label: "External ID", Type: appfamily.FieldText, Help: "The external ID that the role requires, if any."},
		{Name: "zone", SetBy: appfamily.SetByTenant, Label: "Zone", Type: appfamily.FieldText, Help: "Default availability zone, such as eu-central-1a. Leave empty for any zone with a subnet, in alphabetical order."},
		{Name: "subnet_id", SetBy: appfamily.SetByTenant, Label: "Subnets", Type: appfamily.FieldList, Help: "subnet-…, one per zone, separated by commas. Leave empty for the subnets of vpc_id or the default VPC."},
		{Name: "vpc_id", SetBy: appfamily.SetByTenant, Label: "VPC", Type: appfamily.FieldText, Help: "vpc-… whose subnets are used if subnet_id is empty. Leave empty for the default VPC."},
		groups, profile, keyPair, userdata.Field, userdata.ResourceField,
		with(rootDiskGB, "0"), with(rootDiskType, "gp3"), with(dataDiskGB, "0"), with(dataDiskType, "gp3"), with(encrypt, "false"),
		{Name: "kms_key_id", SetBy: appfamily.SetByTenant, Label: "KMS key", Type: appfamily.FieldText, Help: "ID or ARN of the key that encrypts disks. Leave empty for the account's EBS key."},
		{Name: "volume_type", SetBy: appfamily.SetByTenant, Label: "Volume type", Type: appfamily.FieldChoice,
			Help: "Of volumes for data that outlives machines.", Default: "gp3", Options: dataTypes},
		with(public, "true"), with(spot, spotNo), placement, with(tenancy, "default"),
		{Name: "ssh_from", SetBy: appfamily.SetByTenant, Label: "SSH from", Type: appfamily.FieldList, Help: "CIDR ranges that can reach SSH in clusters with a firewall, separated by commas.", Default: "0.0.0.0/0"},
		{Name: "dns_zone", SetBy: appfamily.SetByTenant, Label: "DNS zone", Type: appfamily.FieldText, Help: "Name of a Route 53 hosted zone of the account, such as clusters.example.org. Nodes with a name in the zone get A records."},
		{Name: "dns_zone_id", SetBy: appfamily.SetByTenant, Label: "DNS zone ID", Type: appfamily.FieldText, Help: "Z…, if the account has several hosted zones of this name, such as a public and a private one."},
		{Name: "api_url", SetBy: appfamily.SetByInstallation, Label: "Endpoint", Type: appfamily.FieldText, Help: "Address of the EC2 API, if it isn't AWS's own for the region."},
		{Name: "sts_url", SetBy: appfamily.SetByInstallation, Label: "STS endpoint", Type: appfamily.FieldText, Help: "Address of the STS API, if it isn't AWS's own."},
		{Name: "route53_url", SetBy: appfamily.SetByInstallation, Label: "Route 53 endpoint", Type: appfamily.FieldText, Help: "Address of the Route 53 API, if it isn't AWS's own for the partition."},
		{Name: "quotas_url", SetBy: appfamily.SetByInstallation, Label: "Service Quotas endpoint", Type: appfamily.FieldText, Help: "Address of the Service Quotas API, if it isn't AWS's own. Quotas aren't checked if only api_url is set."},
	},
	FlavorFields: []appfamily.Field{rootDiskGB, rootDiskType, dataDiskGB, dataDiskType, encrypt, public, spot,
		groups, profile, placement, tenancy,
		keyPair, userdata.Field},
	ImageFields: []appfamily.Field{rootDiskGB},
}

// with returns a field of the account, which has a default.
func with(f appfamily.Field, otherwise string) appfamily.Field {
	f.Default = otherwise
	return f
}

var (
	regionForm   = regexp.MustCompile(`^[a-z0-9-]{2,40}$`)
	subnetForm   = regexp.MustCompile(`^subnet-[0-9a-f]{8,17}$`)
	vpcForm      = regexp.MustCompile(`^vpc-[0-9a-f]{8,17}$`)
	groupForm    = regexp.MustCompile(`^sg-[0-9a-f]{8,17}$`)
	volumeForm   = regexp.MustCompile(`^vol-[0-9a-f]{8,17}$`)
	keyPairForm  = regexp.MustCompile(`^[\x21-\x7e][\x20-\x7e]{0,254}$`)
	instanceForm = regexp.MustCompile(`^i-[0-9a-f]{8,17}$`)
	zoneForm     = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	zoneIDForm   = regexp.MustCompile(`^Z[0-9A-Z]{2,31}$`)
	roleForm     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`)
)

// Check validates settings beyond what the descriptor says; the error is EInvalid. Values of secrets never stand in it.
func Check(settings map[string]any) error {
	s := account.Settings(settings)
	if r := s.Text("region"); !regionForm.MatchString(r) {
		return hinted(account.Invalid("region", "%q isn't a valid region name.", r), "For example, eu-central-1.")
	}
	if (s.Text("access_key_id") == "") != (s.Text("secret_access_key") == "") {
		return hinted(account.Invalid("secret_access_key", "Set both the access key's ID and its secret, or neither."),
			"Without both, Muster uses the AWS SDK's default chain.")
	}
	if s.Text("session_token") != "" && s.Text("access_key_id") == "" {
		return account.Invalid("session_token", "A session token requires an access key.")
	}
	if r := s.Text("role_arn"); r != "" && !roleForm.MatchString(r) {
		return hinted(account.Invalid("role_arn", "%q isn't a valid role ARN.", r), "For example, arn:aws:iam::123456789012:role/muster.")
	}
	if s.Text("external_id") != "" && s.Text("role_arn") == "" {
		return account.Invalid("external_id", "An external ID requires a role to assume.")
	}
	if z := records.Plain(s.Text("dns_zone")); z != "" && !zoneForm.MatchString(z) {
		return hinted(account.Invalid("dns_zone", "%q isn't a valid hosted zone name.", s.Text("dns_zone")), "Use the zone's DNS name, such as clusters.example.org, and put its ID in dns_zone_id.")
	}
	if id := s.Text("dns_zone_id"); id != "" && !zoneIDForm.MatchString(id) {
		return hinted(account.Invalid("dns_zone_id", "%q isn't a valid hosted zone ID.", id), "For example, Z0123456789ABCDEFGHIJ.")
	}
	if s.Text("dns_zone_id") != "" && s.Text("dns_zone") == "" {
		return hinted(account.Invalid("dns_zone", "A hosted zone's ID requires its name."), "Set dns_zone to the zone's name too.")
	}
	for _, field := range []string{"api_url", "sts_url", "route53_url", "quotas_url"} {
		if text := s.Text(field); text != "" {
			u, err := url.Parse(text)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
				return account.Invalid(field, "%s isn't a valid API address. For example, https://ec2.eu-central-1.amazonaws.com.", field)
			}
		}
	}
	_, err := optionsOf(s)
	return err
}

func hinted(e *app.Error, hint string) *app.Error {
	e.Hint = hint
	return e
}
