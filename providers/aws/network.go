package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"muster/app"
)

// subnets returns those that a machine may be put into, one for each zone, in the order in which they are tried. With a zone it is one.
// EInvalid where there is none.
func (c *cloud) subnets(ctx context.Context, o options, zone string) ([]types.Subnet, error) {
	found, err := c.known(ctx, o)
	if err != nil {
		return nil, err
	}
	zone = cmp.Or(zone, o.zone)
	var out []types.Subnet
	for _, s := range found {
		at := value(s.AvailabilityZone)
		if zone != "" && at != zone || slices.ContainsFunc(out, func(o types.Subnet) bool { return value(o.AvailabilityZone) == at }) {
			continue
		}
		out = append(out, s)
	}
	if len(out) > 0 {
		return out, nil
	}
	e := app.Errorf(app.EInvalid, "No subnet for machines %s.", cmp.Or(in(zone), "in this account"))
	e.Hint = "Create one, or set subnet_id or vpc_id."
	if len(o.subnets) == 0 && o.vpc == "" {
		e.Hint = "Without subnet_id and vpc_id, the region's default VPC is used: create it, or set subnet_id."
	}
	return nil, e
}

func in(zone string) string {
	if zone == "" {
		return ""
	}
	return "in zone " + zone
}

// known returns all subnets that the settings lead to: in their order where they are named, and otherwise by zone, the zone's default first.
func (c *cloud) known(ctx context.Context, o options) ([]types.Subnet, error) {
	return c.networks.get(fmt.Sprint(o.vpc, o.subnets), func() (found []types.Subnet, err error) {
		ask := &ec2.DescribeSubnetsInput{}
		switch {
		case len(o.subnets) > 0:
			ask.SubnetIds = o.subnets
		case o.vpc != "":
			ask.Filters = []types.Filter{{Name: ref("vpc-id"), Values: []string{o.vpc}}, {Name: ref("state"), Values: []string{"available"}}}
		default:
			ask.Filters = []types.Filter{{Name: ref("default-for-az"), Values: []string{"true"}}}
		}
		err = pages(func(token *string) (*string, error) {
			ask.NextToken = token
			out, err := c.ec2.describeSubnets(ctx, ask)
			if err != nil {
				return nil, err
			}
			found = append(found, out.Subnets...)
			return out.NextToken, nil
		})
		slices.SortFunc(found, func(a, b types.Subnet) int {
			if len(o.subnets) > 0 {
				return slices.Index(o.subnets, value(a.SubnetId)) - slices.Index(o.subnets, value(b.SubnetId))
			}
			return cmp.Or(strings.Compare(value(a.AvailabilityZone), value(b.AvailabilityZone)), order(b.DefaultForAz)-order(a.DefaultForAz),
				strings.Compare(value(a.SubnetId), value(b.SubnetId)))
		})
		return found, err
	})
}

func order(b *bool) int {
	if value(b) {
		return 1
	}
	return 0
}
