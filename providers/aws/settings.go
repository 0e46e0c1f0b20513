package aws

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	appfamily "muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/internal/userdata"
)

// What the setting spot may be.
const (
	spotNo       = "false"
	spotYes      = "true"
	spotFallback = "fallback"
)

var (
	rootTypes = []string{"gp3", "gp2", "standard"}
	dataTypes = []string{"gp3", "gp2", "st1", "sc1", "standard"}
)

// options are how one machine is to be made.
type options struct {
	zone, vpc          string
	subnets, groups    []string
	profile            string
	rootGB, dataGB     int
	rootType, dataType types.VolumeType
	volumeType         types.VolumeType // of volumes that outlive machines
	encrypt            bool
	kmsKey             string
	public             bool
	spot               string
	placement, tenancy string
	keyPair            string
	custom             string // user data
	sshFrom            []netip.Prefix
}

// leastHDD is the size that disks of types st1 and sc1 have at least.
const leastHDD = 125

// options returns those for a flavor and an image, which override the account's settings.
func (c *cloud) options(flavor template.Flavor, image template.Image) (options, error) {
	return optionsOf(c.settings.With(only(image.Extra, Descriptor.ImageFields), only(flavor.Extra, Descriptor.FlavorFields)))
}

// only leaves out what is not for this cloud, such as what an image says of its operating system.
func only(extra map[string]string, fields []appfamily.Field) map[string]string {
	out := make(map[string]string, len(fields))
	for _, f := range fields {
		if v, ok := extra[f.Name]; ok {
			out[f.Name] = v
		}
	}
	return out
}

func optionsOf(s account.Settings) (o options, err error) {
	o = options{zone: s.Text("zone"), vpc: s.Text("vpc_id"), subnets: s.List("subnet_id"), groups: s.List("security_group_ids"), profile: s.Text("instance_profile"),
		kmsKey: s.Text("kms_key_id"), placement: s.Text("placement_group"), keyPair: s.Text("key_pair"), custom: s.Text(userdata.Setting)}
	if err := userdata.CheckCustom(o.custom, userdata.LimitEC2); err != nil {
		return o, err
	}
	if o.keyPair != "" && !keyPairForm.MatchString(o.keyPair) {
		return o, account.Invalid("key_pair", "%.60q isn't a valid key pair name", o.keyPair)
	}
	if o.vpc != "" && !vpcForm.MatchString(o.vpc) {
		return o, account.Invalid("vpc_id", "%q isn't a valid VPC ID. For example, vpc-0123456789abcdef0.", o.vpc)
	}
	for _, id := range o.subnets {
		if !subnetForm.MatchString(id) {
			return o, account.Invalid("subnet_id", "%q isn't a valid ID. For example, subnet-0123456789abcdef0.", id)
		}
	}
	if err := checkGroups(o.groups); err != nil {
		return o, err
	}
	if o.rootGB, err = s.Int("root_disk_gb", 0, 0, 65536); err != nil {
		return o, err
	}
	if o.dataGB, err = s.Int("data_disk_gb", 0, 0, 65536); err != nil {
		return o, err
	}
	if o.encrypt, err = s.Bool("encrypt_disks", false); err != nil {
		return o, err
	}
	if o.kmsKey != "" && !o.encrypt {
		return o, hinted(account.Invalid("kms_key_id", "A KMS key requires encrypted disks."), "Set encrypt_disks to true.")
	}
	if o.public, err = s.Bool("public_address", true); err != nil {
		return o, err
	}
	var kind string
	for _, c := range []struct {
		field, otherwise string
		known            []string
		into             *string
	}{
		{"root_disk_type", "gp3", rootTypes, (*string)(&o.rootType)},
		{"data_disk_type", "gp3", dataTypes, (*string)(&o.dataType)},
		{"volume_type", "gp3", dataTypes, (*string)(&o.volumeType)},
		{"spot", spotNo, []string{spotNo, spotYes, spotFallback}, &o.spot},
		{"tenancy", "default", []string{"default", "dedicated"}, &o.tenancy},
	} {
		if kind = s.Or(c.field, c.otherwise); !slices.Contains(c.known, kind) {
			return o, hinted(account.Invalid(c.field, "%s can't be %q.", c.field, kind), "Options: "+strings.Join(c.known, ", ")+".")
		}
		*c.into = kind
	}
	if o.dataGB > 0 && (o.dataType == "st1" || o.dataType == "sc1") && o.dataGB < leastHDD {
		return o, account.Invalid("data_disk_gb", "A data disk of type %s must have at least %d GB.", o.dataType, leastHDD)
	}
	from := s.List("ssh_from")
	if len(from) == 0 {
		from = []string{"0.0.0.0/0"}
	}
	for _, text := range from {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return o, account.Invalid("ssh_from", "%q isn't a CIDR range. For example, 203.0.113.0/24.", text)
		}
		o.sshFrom = append(o.sshFrom, p.Masked())
	}
	return o, nil
}
