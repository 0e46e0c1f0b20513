package aws

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"muster/app"
	appfamily "muster/app/family"
)

// kindFirewall is what comes before a group's ID in the ID of a shared thing.
const kindFirewall = "firewall"

// Shared implements family.Sharer: the security groups that Muster made, and the names in the account's DNS zone.
func (c *cloud) Shared(ctx context.Context, tags map[string]string) (out []appfamily.SharedThing, err error) {
	err = pages(func(token *string) (*string, error) {
		page, err := c.ec2.describeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: tagFilters(tags), MaxResults: &c.tuning.page, NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, g := range page.SecurityGroups {
			has := tagsFrom(g.Tags)
			made, ok := has[tagMade]
			if !ok || !carries(has, tags) {
				continue // one that someone made by hand
			}
			delete(has, tagMade)
			at, _ := time.Parse(time.RFC3339, made)
			out = append(out, appfamily.SharedThing{ID: kindFirewall + "/" + value(g.GroupId), Kind: kindFirewall, Name: value(g.GroupName), Tags: has, CreatedAt: at})
		}
		return page.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	named, err := c.sharedNames(ctx, tags)
	return append(out, named...), err
}

// DeleteShared implements family.Sharer. A machine that was just deleted holds on to its group for a little while.
func (c *cloud) DeleteShared(ctx context.Context, id string) error {
	group, ok := strings.CutPrefix(id, kindFirewall+"/")
	if !ok {
		return c.dropShared(ctx, id)
	}
	if !groupForm.MatchString(group) {
		return nil
	}
	err := c.tuning.patiently(ctx, func() error {
		_, err := c.ec2.deleteSecurityGroup(ctx, &ec2.DeleteSecurityGroupInput{GroupId: &group})
		return err
	}, "DependencyViolation")
	switch {
	case because(err, "InvalidGroup.NotFound", "InvalidGroupId.Malformed"):
		return nil
	case because(err, "DependencyViolation", "InvalidGroup.InUse"):
		return app.Errorf(app.ETransient, "Security group %s is still in use: %s", group, app.AsError(err).Message)
	}
	return err
}
