package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
)

// CheckAccount implements family.AccountChecker. It looks everything up again. What would make something is only asked as a dry run.
func (c *cloud) CheckAccount(ctx context.Context, needs appfamily.AccountNeeds) ([]appfamily.Finding, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.images.forget()
	c.networks.forget()
	c.groupIDsByName.forget()
	c.kinds.forget()
	c.hostedZones.forget()
	s := &survey{cloud: c, region: c.settings.Text("region")}
	var err error
	if s.options, err = optionsOf(c.settings); err != nil {
		s.wrong(appfamily.AboutSettings, "", err)
		return s.found, nil
	}
	if !s.account(ctx) {
		return s.found, ctx.Err() // nothing else can be asked
	}
	s.network(ctx, needs)
	s.groups(ctx, needs)
	s.placements(ctx, needs)
	s.dnsZone(ctx)
	for _, need := range needs.Machines {
		s.machines(ctx, need)
	}
	s.permissions(ctx, needs)
	s.volumes(ctx)
	s.quota(ctx, needs)
	return s.found, ctx.Err()
}

// survey is one check of an account.
type survey struct {
	*cloud
	region  string
	options options
	zones   []types.AvailabilityZone
	subnets []types.Subnet // nil where they are not known
	found   []appfamily.Finding
}

func (s *survey) right(about, subject, format string, args ...any) {
	s.found = append(s.found, appfamily.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

// wrong tells an error. A missing permission is one, whatever was looked for.
func (s *survey) wrong(about, subject string, err error) {
	var e *app.Error
	if !errors.As(err, &e) {
		e = hinted(app.Errorf(app.ETransient, "Can't connect to the EC2 API of region %s: %w", s.region, err), "Check the region, api_url and the network connection.")
	}
	if e.Reason == reasonDenied {
		about = appfamily.AboutPermissions
	}
	f := appfamily.Finding{About: about, Subject: subject, Code: e.Code, Message: e.ForPeople(), Hint: e.Hint}
	if f.Hint == "" {
		f.Hint = "See docs/providers/aws.md for what an account needs."
	}
	s.found = append(s.found, f)
}

func (s *survey) doubt(about, subject, message, hint string) {
	s.found = append(s.found, appfamily.Finding{About: about, Subject: subject, Warning: true, Message: message, Hint: hint})
}

// account looks whether the credentials are good and the region is there; false where nothing else can be asked.
func (s *survey) account(ctx context.Context) bool {
	out, err := s.ec2.describeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
	var dns *net.DNSError
	switch {
	case because(err, reasonDenied):
		s.right(appfamily.AboutCredentials, "", "EC2 accepts the credentials in region %s.", s.region)
		s.wrong(appfamily.AboutPermissions, "ec2:DescribeAvailabilityZones", err)
		return true
	case because(err, "OptInRequired"), err != nil && strings.Contains(err.Error(), "scoped to a valid region"):
		e := app.AsError(err)
		s.wrong(appfamily.AboutRegion, s.region, hinted(app.Errorf(e.Code, "The account can't be used in region %s: %s", s.region, e.Message),
			"Check the region's name, and enable the region for the account if necessary."))
		return false
	case errors.As(err, &dns):
		s.wrong(appfamily.AboutRegion, s.region, hinted(app.Errorf(app.EInvalid, "Region %s doesn't exist: its EC2 API's host name can't be resolved.", s.region), "Check the region's name, such as eu-central-1, or set api_url."))
		return false
	case app.CodeOf(err) == app.ECredentials:
		s.wrong(appfamily.AboutCredentials, "", err)
		return false
	case err != nil:
		s.wrong(appfamily.AboutRegion, s.region, err)
		return false
	}
	s.zones = out.AvailabilityZones
	s.right(appfamily.AboutCredentials, "", "EC2 accepts the credentials in region %s.", s.region)
	if s.options.zone == "" {
		s.right(appfamily.AboutRegion, s.region, "Region %s is available, with zones %s.", s.region, strings.Join(s.zoneNames(), ", "))
	} else {
		s.zone(s.options.zone)
	}
	return true
}

func (s *survey) zoneNames() (out []string) {
	for _, z := range s.zones {
		if z.State == "" || z.State == types.AvailabilityZoneStateAvailable {
			out = append(out, value(z.ZoneName))
		}
	}
	slices.Sort(out)
	return out
}

// zone looks whether a zone is there.
func (s *survey) zone(name string) bool {
	if s.zones == nil || slices.Contains(s.zoneNames(), name) {
		s.right(appfamily.AboutRegion, name, "Zone %s is available.", name)
		return true
	}
	s.wrong(appfamily.AboutRegion, name, hinted(app.Errorf(app.EInvalid, "Zone %s isn't in region %s or isn't available.", name, s.region), "Available zones: "+strings.Join(s.zoneNames(), ", ")+"."))
	return false
}

// place are the subnets that machines may be put into, one after the other where one is full, and how many are wanted there.
type place struct {
	names  []string
	wanted int
}

// network looks at the subnets, and whether they have room for what is needed.
func (s *survey) network(ctx context.Context, needs appfamily.AccountNeeds) {
	known, err := s.known(ctx, s.options)
	if err != nil {
		s.wrong(appfamily.AboutNetwork, "subnets", err)
		return
	}
	s.subnets = known
	free, vpcs := map[string]int{}, map[string]bool{}
	for _, n := range known {
		free[value(n.SubnetId)] = int(value(n.AvailableIpAddressCount))
		vpcs[value(n.VpcId)] = true
	}
	if len(needs.Machines) == 0 {
		needs.Machines = []appfamily.MachineNeed{{}}
	}
	for _, p := range s.placesOf(ctx, needs) {
		left := 0
		for _, id := range p.names {
			left += free[id]
		}
		if p.wanted > left {
			names := strings.Join(p.names, ", ")
			s.wrong(appfamily.AboutQuota, names, hinted(app.Errorf(app.EQuota, "Subnet %s has %d free addresses, but %s needed there.", names, left, machinesAre(p.wanted)), "Use a larger subnet, or add one in another zone."))
			continue
		}
		for _, id := range p.names {
			n := known[slices.IndexFunc(known, func(n types.Subnet) bool { return value(n.SubnetId) == id })]
			s.right(appfamily.AboutNetwork, id, "Subnet %s in zone %s has %d free addresses.", id, value(n.AvailabilityZone), free[id])
		}
	}
	if len(vpcs) > 1 {
		s.doubt(appfamily.AboutNetwork, "subnets", "The subnets are in more than one VPC. Clusters with a firewall are created only in the VPC of the first subnet.", "Set subnet_id to subnets of one VPC.")
	}
}

// placesOf returns where machines are wanted, and how many; of kinds that are looked at for themselves, one.
func (s *survey) placesOf(ctx context.Context, needs appfamily.AccountNeeds) (out []place) {
	seen, zones := map[string]bool{}, map[string]bool{"": true, s.options.zone: true}
	for _, need := range needs.Machines {
		if _, asked := zones[need.Zone]; !asked {
			zones[need.Zone] = s.zone(need.Zone)
		}
		if !zones[need.Zone] {
			continue
		}
		subnets, err := s.cloud.subnets(ctx, s.options, need.Zone)
		if err != nil {
			if !seen[err.Error()] {
				s.wrong(appfamily.AboutNetwork, "subnets", err)
			}
			seen[err.Error()] = true
			continue
		}
		var names []string
		for _, n := range subnets {
			names = append(names, value(n.SubnetId))
		}
		i := slices.IndexFunc(out, func(p place) bool { return slices.Equal(p.names, names) })
		if i < 0 {
			i, out = len(out), append(out, place{names: names})
		}
		if needs.Each {
			out[i].wanted = max(out[i].wanted, need.Count)
		} else {
			out[i].wanted += need.Count
		}
	}
	return out
}

// groups looks whether the security groups are there, and in the subnets' VPC.
func (s *survey) groups(ctx context.Context, needs appfamily.AccountNeeds) {
	for _, id := range s.all(needs, func(o options) []string { return o.groups }) {
		if !groupForm.MatchString(id) {
			continue
		}
		out, err := s.ec2.describeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{id}})
		switch {
		case err != nil:
			s.wrong(appfamily.AboutNetwork, id, err)
		case len(out.SecurityGroups) == 1 && len(s.subnets) > 0 && !slices.ContainsFunc(s.subnets, func(n types.Subnet) bool { return value(n.VpcId) == value(out.SecurityGroups[0].VpcId) }):
			s.wrong(appfamily.AboutNetwork, id, hinted(app.Errorf(app.EInvalid, "Security group %s is in VPC %s, but the subnets aren't.", id, value(out.SecurityGroups[0].VpcId)), "Set security_group_ids to groups of the subnets' VPC."))
		default:
			s.right(appfamily.AboutNetwork, id, "Security group %s exists.", id)
		}
	}
	s.namedGroups(ctx, needs)
}

func (s *survey) placements(ctx context.Context, needs appfamily.AccountNeeds) {
	for _, name := range s.all(needs, func(o options) []string { return []string{o.placement} }) {
		if _, err := s.ec2.describePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{GroupNames: []string{name}}); err != nil {
			s.wrong(appfamily.AboutNetwork, name, err)
			continue
		}
		s.right(appfamily.AboutNetwork, name, "Placement group %s exists.", name)
	}
}

// all returns what the account and the needed hardware types name, each once.
func (s *survey) all(needs appfamily.AccountNeeds, of func(options) []string) (out []string) {
	add := func(names []string) {
		for _, n := range names {
			if n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	add(of(s.options))
	for _, need := range needs.Machines {
		if o, err := s.cloud.options(need.Flavor, need.Image); err == nil {
			add(of(o))
		}
	}
	return out
}

func machinesAre(n int) string {
	if n == 1 {
		return "one is"
	}
	return fmt.Sprintf("%d are", n)
}
