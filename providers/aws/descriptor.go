package aws

import (
	"net/url"
	"regexp"

	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
)

// Fields that a hardware type may say as well as the account.
var (
	rootDiskGB   = appfamily.Field{Name: "root_disk_gb", SetBy: appfamily.SetByAccountOwner, Label: "Root disk (GB)", Type: appfamily.FieldInt, Help: "0 means as large as the image."}
	rootDiskType = appfamily.Field{Name: "root_disk_type", SetBy: appfamily.SetByAccountOwner, Label: "Root disk type", Type: appfamily.FieldChoice, Options: rootTypes}
	dataDiskGB   = appfamily.Field{Name: "data_disk_gb", SetBy: appfamily.SetByAccountOwner, Label: "Data disk (GB)", Type: appfamily.FieldInt, Help: "An empty disk that is formatted and mounted at /data; 0 means none."}
	dataDiskType = appfamily.Field{Name: "data_disk_type", SetBy: appfamily.SetByAccountOwner, Label: "Data disk type", Type: appfamily.FieldChoice, Options: dataTypes}
	encrypt      = appfamily.Field{Name: "encrypt_disks", SetBy: appfamily.SetByAccountOwner, Label: "Encrypt disks", Type: appfamily.FieldBool, Help: "false leaves it to the account's own default."}
	public       = appfamily.Field{Name: "public_address", SetBy: appfamily.SetByAccountOwner, Label: "Public address", Type: appfamily.FieldBool, Help: "Whether machines get a public IPv4 address. Without it, Muster must reach their private ones."}
	spot         = appfamily.Field{Name: "spot", SetBy: appfamily.SetByTenant, Label: "Spot", Type: appfamily.FieldChoice, Help: "fallback asks for spot first, and on demand when there is no room for it. Spot machines may be taken away, and cannot sleep.", Options: []string{spotNo, spotYes, spotFallback}}
	groups       = appfamily.Field{Name: "security_group_ids", SetBy: appfamily.SetByAccountOwner, Label: "Security groups", Type: appfamily.FieldList, Help: "sg-…, with commas between, beside the cluster's own firewall. Empty without a firewall: the VPC's default group."}
	profile      = appfamily.Field{Name: "instance_profile", SetBy: appfamily.SetByAccountOwner, Label: "Instance profile", Type: appfamily.FieldText, Help: "Name or ARN of the IAM instance profile that machines get. Empty: none."}
	placement    = appfamily.Field{Name: "placement_group", SetBy: appfamily.SetByAccountOwner, Label: "Placement group", Type: appfamily.FieldText}
	tenancy      = appfamily.Field{Name: "tenancy", SetBy: appfamily.SetByAccountOwner, Label: "Tenancy", Type: appfamily.FieldChoice, Options: []string{"default", "dedicated"}}
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = appfamily.Descriptor{
	Name:        "aws",
	Sleeps:      true,
	Description: "Amazon EC2: instances in one region of an AWS account.",
	Fields: []appfamily.Field{
		{Name: "region", SetBy: appfamily.SetByTenant, Label: "Region", Type: appfamily.FieldText, Help: "Such as eu-central-1.", Required: true},
		{Name: "access_key_id", SetBy: appfamily.SetByTenant, Identity: true, Label: "Access key ID", Type: appfamily.FieldText, Help: "Empty: the default chain of AWS's SDK, such as the instance's role or the environment of the server."},
		{Name: "secret_access_key", SetBy: appfamily.SetByTenant, Identity: true, Label: "Secret access key", Type: appfamily.FieldText, Secret: true},
		{Name: "session_token", SetBy: appfamily.SetByTenant, Label: "Session token", Type: appfamily.FieldText, Help: "For temporary keys only.", Secret: true},
		{Name: "role_arn", SetBy: appfamily.SetByInstallation, Label: "Role to assume", Type: appfamily.FieldText, Help: "arn:aws:iam::…:role/… that is assumed with the credentials above."},
		{Name: "external_id", SetBy: appfamily.SetByInstallation, Label: "External ID", Type: appfamily.FieldText, Help: "What the role wants to be told, if it does."},
		{Name: "zone", SetBy: appfamily.SetByTenant, Label: "Zone", Type: appfamily.FieldText, Help: "Availability zone of machines that name none, such as eu-central-1a. Empty: any zone that has a subnet, in alphabetical order."},
		{Name: "subnet_id", SetBy: appfamily.SetByTenant, Label: "Subnets", Type: appfamily.FieldList, Help: "subnet-…, one for each zone, with commas between. Empty: those of vpc_id or of the default VPC."},
		{Name: "vpc_id", SetBy: appfamily.SetByTenant, Label: "VPC", Type: appfamily.FieldText, Help: "vpc-… whose subnets are used where subnet_id is empty. Empty: the default VPC."},
		groups, profile,
		with(rootDiskGB, "0"), with(rootDiskType, "gp3"), with(dataDiskGB, "0"), with(dataDiskType, "gp3"), with(encrypt, "false"),
		{Name: "kms_key_id", SetBy: appfamily.SetByTenant, Label: "KMS key", Type: appfamily.FieldText, Help: "Key ID or ARN that disks are encrypted with. Empty: the account's key for EBS."},
		with(public, "true"), with(spot, spotNo), placement, with(tenancy, "default"),
		{Name: "ssh_from", SetBy: appfamily.SetByTenant, Label: "SSH from", Type: appfamily.FieldList, Help: "Prefixes that may reach SSH where a cluster has a firewall, with commas between.", Default: "0.0.0.0/0"},
		{Name: "dns_zone", SetBy: appfamily.SetByTenant, Label: "DNS zone", Type: appfamily.FieldText, Help: "The name of a hosted zone of the account in Route 53, such as clusters.example.org. Nodes whose name is in it get A records there."},
		{Name: "dns_zone_id", SetBy: appfamily.SetByTenant, Label: "DNS zone's ID", Type: appfamily.FieldText, Help: "Z…, where the account has several hosted zones by that name, such as a public and a private one."},
		{Name: "api_url", SetBy: appfamily.SetByInstallation, Label: "Endpoint", Type: appfamily.FieldText, Help: "Address of the EC2 API where it is not AWS's own for the region."},
		{Name: "sts_url", SetBy: appfamily.SetByInstallation, Label: "STS endpoint", Type: appfamily.FieldText, Help: "Address of the API that roles are assumed at, where it is not AWS's own."},
		{Name: "route53_url", SetBy: appfamily.SetByInstallation, Label: "Route 53 endpoint", Type: appfamily.FieldText, Help: "Address of the API for DNS records, where it is not AWS's own for the region's partition."},
		{Name: "quotas_url", SetBy: appfamily.SetByInstallation, Label: "Service Quotas endpoint", Type: appfamily.FieldText, Help: "Address of the API that tells quotas, where it is not AWS's own. With an endpoint for EC2 and none here, quotas are not asked for."},
	},
	FlavorFields: []appfamily.Field{rootDiskGB, rootDiskType, dataDiskGB, dataDiskType, encrypt, public, spot, groups, profile, placement, tenancy},
	ImageFields:  []appfamily.Field{rootDiskGB},
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
	instanceForm = regexp.MustCompile(`^i-[0-9a-f]{8,17}$`)
	zoneForm     = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	zoneIDForm   = regexp.MustCompile(`^Z[0-9A-Z]{2,31}$`)
	roleForm     = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$`)
)

// Check validates settings beyond what the descriptor says; the error is EInvalid. Values of secrets never stand in it.
func Check(settings map[string]any) error {
	s := account.Settings(settings)
	if r := s.Text("region"); !regionForm.MatchString(r) {
		return hinted(account.Invalid("region", "%q is not the name of a region.", r), "Write for example eu-central-1.")
	}
	if (s.Text("access_key_id") == "") != (s.Text("secret_access_key") == "") {
		return hinted(account.Invalid("secret_access_key", "An access key needs both its ID and its secret."),
			"Give both, or neither to use the default chain of AWS's SDK.")
	}
	if s.Text("session_token") != "" && s.Text("access_key_id") == "" {
		return account.Invalid("session_token", "A session token goes with an access key.")
	}
	if r := s.Text("role_arn"); r != "" && !roleForm.MatchString(r) {
		return hinted(account.Invalid("role_arn", "%q is not the ARN of a role.", r), "It looks like arn:aws:iam::123456789012:role/muster.")
	}
	if s.Text("external_id") != "" && s.Text("role_arn") == "" {
		return account.Invalid("external_id", "An external ID goes with a role to assume.")
	}
	if z := records.Plain(s.Text("dns_zone")); z != "" && !zoneForm.MatchString(z) {
		return hinted(account.Invalid("dns_zone", "%q is not the name of a hosted zone.", s.Text("dns_zone")), "Write its DNS name, such as clusters.example.org; its ID goes into dns_zone_id.")
	}
	if id := s.Text("dns_zone_id"); id != "" && !zoneIDForm.MatchString(id) {
		return hinted(account.Invalid("dns_zone_id", "%q is not the ID of a hosted zone.", id), "It looks like Z0123456789ABCDEFGHIJ.")
	}
	if s.Text("dns_zone_id") != "" && s.Text("dns_zone") == "" {
		return hinted(account.Invalid("dns_zone", "A hosted zone's ID goes with its name."), "Set dns_zone to the name of the zone as well.")
	}
	for _, field := range []string{"api_url", "sts_url", "route53_url", "quotas_url"} {
		if text := s.Text(field); text != "" {
			u, err := url.Parse(text)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
				return account.Invalid(field, "%s is not the address of an API, such as https://ec2.eu-central-1.amazonaws.com.", field)
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
