package aws

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
)

// Adopt implements family.Adopter: the instance, its disks and its network interfaces get the spec's tags, and its own interface the security groups
// that Create would have given it, the cluster's firewall among them. Its user and its host key stay. The firewall comes first: what carries the
// cluster's tags is behind it.
func (c *cloud) Adopt(ctx context.Context, id string, spec appfamily.MachineSpec) error {
	i, err := c.instance(ctx, id)
	if err != nil {
		return err
	}
	m := machine(i)
	wants, err := tagsOf(spec, m.SSHUser, m.HostKey)
	if err != nil {
		return err
	}
	if spec.Firewall != nil {
		if err := c.enclose(ctx, i, spec); err != nil {
			return err
		}
	} else if err := c.release(ctx, i, spec); err != nil {
		return err
	}
	has := tagsFrom(i.Tags)
	resources := []string{id}
	for _, d := range i.BlockDeviceMappings {
		if d.Ebs != nil && d.Ebs.VolumeId != nil && (d.Ebs.DeleteOnTermination == nil || *d.Ebs.DeleteOnTermination) { // volumes of services have tags of their own
			resources = append(resources, *d.Ebs.VolumeId)
		}
	}
	for _, n := range i.NetworkInterfaces {
		if n.NetworkInterfaceId != nil {
			resources = append(resources, *n.NetworkInterfaceId)
		}
	}
	// What goes first makes room: an instance has no more than so many tags.
	var spare []types.Tag
	for _, k := range slices.Sorted(maps.Keys(has)) {
		if _, ok := wants[k]; !ok && !strings.HasPrefix(k, "aws:") {
			spare = append(spare, types.Tag{Key: &k})
		}
	}
	if len(spare) > 0 {
		if _, err := c.ec2.deleteTags(ctx, &ec2.DeleteTagsInput{Resources: resources, Tags: spare}); err != nil {
			return err
		}
	}
	if maps.Equal(has, wants) {
		return nil
	}
	_, err = c.ec2.createTags(ctx, &ec2.CreateTagsInput{Resources: resources, Tags: tagged(wants)})
	return err
}

// enclose puts an instance behind its cluster's firewall: into the account's groups and the cluster's, and no others, as if it had been made so.
func (c *cloud) enclose(ctx context.Context, i types.Instance, spec appfamily.MachineSpec) error {
	o, err := c.options(spec.Flavor, spec.Image)
	if err != nil {
		return err
	}
	group, err := c.firewalls.ensure(ctx, wanted{spec: spec, options: o}, value(i.VpcId))
	if err != nil {
		return err
	}
	ids, err := c.groupIDs(ctx, o.groups, value(i.VpcId))
	if err != nil {
		return err
	}
	wants := slices.Compact(slices.Sorted(slices.Values(append(ids, group))))
	return c.putInto(ctx, i, wants, o.groups)
}

// release takes an instance out of the firewall of the cluster that its tags name: into the account's groups, or the VPC's default group where there are none.
func (c *cloud) release(ctx context.Context, i types.Instance, spec appfamily.MachineSpec) error {
	has := tagsFrom(i.Tags)
	name := groupName(has[appfamily.TagInstallation], has[appfamily.TagCluster])
	at := primary(i)
	if at < 0 || !slices.ContainsFunc(i.NetworkInterfaces[at].Groups, func(g types.GroupIdentifier) bool { return value(g.GroupName) == name }) {
		return nil
	}
	o, err := c.options(spec.Flavor, spec.Image)
	if err != nil {
		return err
	}
	ids, err := c.groupIDs(ctx, o.groups, value(i.VpcId))
	if err != nil {
		return err
	}
	wants := slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(wants) == 0 {
		group, err := c.firewalls.find(ctx, value(i.VpcId), "default")
		if err != nil {
			return err
		}
		if group == nil {
			return hinted(app.Errorf(app.EInvalid, "VPC %s has no default security group.", value(i.VpcId)), "Set security_group_ids.")
		}
		wants = []string{value(group.GroupId)}
	}
	return c.putInto(ctx, i, wants, o.groups)
}

// primary returns which of an instance's interfaces is its own, from 0; -1 where EC2 doesn't list it yet.
func primary(i types.Instance) int {
	return slices.IndexFunc(i.NetworkInterfaces, func(n types.InstanceNetworkInterface) bool {
		return n.NetworkInterfaceId != nil && n.Attachment != nil && value(n.Attachment.DeviceIndex) == 0
	})
}

// putInto puts the own interface of an instance into groups, and no others. Set are those that the account's settings name.
func (c *cloud) putInto(ctx context.Context, i types.Instance, wants, set []string) error {
	at := primary(i)
	if at < 0 {
		return app.Errorf(app.ETransient, "EC2 doesn't list the network interface of instance %s yet, so its firewall can't be attached.", value(i.InstanceId))
	}
	var has []string
	for _, g := range i.NetworkInterfaces[at].Groups {
		has = append(has, value(g.GroupId))
	}
	slices.Sort(has)
	if slices.Equal(has, wants) {
		return nil
	}
	err := c.tuning.patiently(ctx, func() error { // the group may be so new that EC2 does not know it yet
		_, err := c.ec2.modifyNetworkInterfaceAttribute(ctx, &ec2.ModifyNetworkInterfaceAttributeInput{NetworkInterfaceId: i.NetworkInterfaces[at].NetworkInterfaceId, Groups: wants})
		return err
	}, "InvalidGroup.NotFound")
	if err != nil && !blames(err, set) {
		c.groupIDsByName.forget()
		err = unknownYet(err)
	}
	return err
}
