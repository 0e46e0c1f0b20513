package aws

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
)

// mostGroups is how many groups a network interface may have at most, with the highest quota.
const mostGroups = 16

// groupNameForm is for names that fit into a list and that a filter takes as they are: not with spaces, commas or asterisks.
var groupNameForm = regexp.MustCompile(`^[a-zA-Z0-9._:/()#@\[\]+=&;{}!$-]{1,255}$`)

// checkGroups returns EInvalid for what is neither a group's ID nor a name.
func checkGroups(groups []string) error {
	const field = "security_group_ids"
	if len(groups) > mostGroups {
		return account.Invalid(field, "%d security groups, but a machine can have at most %d.", len(groups), mostGroups)
	}
	for _, g := range groups {
		if groupForm.MatchString(g) || groupNameForm.MatchString(g) && !strings.HasPrefix(g, "sg-") {
			continue
		}
		return hinted(account.Invalid(field, "%.60q isn't a valid ID or name of a security group.", g),
			"For example, sg-0123456789abcdef0 or office. Use the ID if the name contains *, a space or a comma.")
	}
	return nil
}

// groupIDs returns the IDs of groups that may be named: names are those of the VPC that the machine will be in.
func (c *cloud) groupIDs(ctx context.Context, groups []string, vpc string) ([]string, error) {
	out := slices.Clone(groups)
	for i, g := range groups {
		if groupForm.MatchString(g) {
			continue
		}
		id, err := c.groupIDsByName.get(vpc+" "+g, func() (string, error) { return c.groupByName(ctx, vpc, g) })
		if err != nil {
			return nil, err
		}
		out[i] = id
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// groupByName asks for the one group of a name in a VPC. There may be more where another account shares its own.
func (c *cloud) groupByName(ctx context.Context, vpc, name string) (string, error) {
	out, err := c.ec2.describeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: []types.Filter{
		{Name: ref("vpc-id"), Values: []string{vpc}}, {Name: ref("group-name"), Values: []string{name}}}})
	const field = "security_group_ids"
	switch {
	case err != nil:
		return "", err
	case len(out.SecurityGroups) == 0:
		return "", hinted(account.Invalid(field, "VPC %s has no security group named %s.", vpc, name),
			"Create it there, or set security_group_ids to groups of the subnet's VPC.")
	case len(out.SecurityGroups) > 1:
		return "", hinted(account.Invalid(field, "VPC %s has %d security groups named %s.", vpc, len(out.SecurityGroups), name),
			"Use the group's ID, sg-…, in security_group_ids.")
	}
	return value(out.SecurityGroups[0].GroupId), nil
}

// someNamed reports whether any of the groups is given by its name.
func someNamed(groups []string) bool {
	return slices.ContainsFunc(groups, func(g string) bool { return !groupForm.MatchString(g) })
}

// blames reports whether an error is about a group that the settings give by its ID. One that they name is looked up again.
func blames(err error, groups []string) bool {
	return err != nil && slices.ContainsFunc(groups, func(g string) bool {
		return groupForm.MatchString(g) && strings.Contains(err.Error(), g)
	})
}

// namedGroups looks whether the groups that are given by name are in the VPC of the machines that want them.
func (s *survey) namedGroups(ctx context.Context, needs appfamily.AccountNeeds) {
	seen := map[string]bool{}
	look := func(o options, zone string) {
		if !someNamed(o.groups) {
			return
		}
		subnets, err := s.cloud.subnets(ctx, o, zone)
		if err != nil {
			return // reported with the subnets
		}
		vpc := value(subnets[0].VpcId)
		for _, g := range o.groups {
			if seen[vpc+" "+g] || groupForm.MatchString(g) {
				continue
			}
			seen[vpc+" "+g] = true
			if ids, err := s.groupIDs(ctx, []string{g}, vpc); err != nil {
				s.wrong(appfamily.AboutNetwork, g, err)
			} else {
				s.right(appfamily.AboutNetwork, g, "Security group %s exists in VPC %s: %s.", g, vpc, ids[0])
			}
		}
	}
	if len(needs.Machines) == 0 {
		look(s.options, "")
	}
	for _, need := range needs.Machines {
		if o, err := s.cloud.options(need.Flavor, need.Image); err == nil {
			look(o, need.Zone)
		}
	}
}

// inFirst leaves out the subnets of other VPCs than the first one's.
func inFirst(subnets []types.Subnet) []types.Subnet {
	vpc := value(subnets[0].VpcId)
	return slices.DeleteFunc(slices.Clone(subnets), func(s types.Subnet) bool { return value(s.VpcId) != vpc })
}
