package aws

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// machines looks at the flavor and the image of one need, of which one may be missing.
func (s *survey) machines(ctx context.Context, need appfamily.MachineNeed) {
	o, err := s.cloud.options(need.Flavor, need.Image)
	if err != nil {
		s.wrong(appfamily.AboutSettings, need.Flavor.Flavor, err)
		return
	}
	var kind types.InstanceTypeInfo
	if need.Flavor.Flavor != "" {
		if kind, err = s.kind(ctx, types.InstanceType(need.Flavor.Flavor)); err != nil {
			s.wrong(appfamily.AboutFlavor, need.Flavor.Flavor, err)
		} else {
			s.flavor(ctx, need, o, kind)
		}
	}
	if need.Image.Image == "" {
		return
	}
	image, err := s.image(ctx, need.Image.Image)
	if err != nil {
		s.wrong(appfamily.AboutImage, need.Image.Image, err)
		return
	}
	name, arch := value(image.ImageId), string(image.Architecture)
	switch {
	case image.Platform == types.PlatformValuesWindows:
		s.wrong(appfamily.AboutImage, name, hinted(app.Errorf(app.EInvalid, "Image %s is a Windows image, which Muster doesn't support.", name), "Choose a Linux image with cloud-init."))
	case kind.ProcessorInfo != nil && !slices.Contains(kind.ProcessorInfo.SupportedArchitectures, types.ArchitectureType(arch)):
		s.wrong(appfamily.AboutImage, name, hinted(app.Errorf(app.EInvalid, "Image %s is for %s, but instance type %s isn't.", name, arch, need.Flavor.Flavor), "Choose an image or instance type of the other architecture."))
	case o.rootGB > 0 && o.rootGB < rootSize(image):
		s.wrong(appfamily.AboutImage, name, hinted(app.Errorf(app.EInvalid, "Image %s needs %d GB, but the root disk has %d GB.", name, rootSize(image), o.rootGB), "Set root_disk_gb to at least the image's size, or to 0."))
	default:
		s.right(appfamily.AboutImage, name, "Image %s (%s) is available for %s.", name, value(image.Name), arch)
	}
}

// flavor looks where an instance type can be had.
func (s *survey) flavor(ctx context.Context, need appfamily.MachineNeed, o options, kind types.InstanceTypeInfo) {
	name := need.Flavor.Flavor
	if o.spot != spotNo && len(kind.SupportedUsageClasses) > 0 && !slices.Contains(kind.SupportedUsageClasses, types.UsageClassTypeSpot) {
		s.wrong(appfamily.AboutFlavor, name, hinted(app.Errorf(app.EInvalid, "Instance type %s isn't available as spot.", name), "Set spot to false for this hardware type."))
		return
	}
	zones, err := s.ec2.offered(ctx, name)
	if err != nil {
		s.wrong(appfamily.AboutFlavor, name, err)
		return
	}
	var wants []string
	if zone := cmp.Or(need.Zone, o.zone); zone != "" {
		wants = []string{zone}
	} else {
		for _, n := range s.subnets {
			wants = append(wants, value(n.AvailabilityZone))
		}
	}
	if len(wants) > 0 && !slices.ContainsFunc(wants, func(z string) bool { return slices.Contains(zones, z) }) {
		s.wrong(appfamily.AboutFlavor, name, hinted(app.Errorf(app.ECapacity, "Instance type %s isn't available in zone %s.", name, strings.Join(wants, ", ")), "Available in: "+cmp.Or(strings.Join(zones, ", "), "no zone of the region")+"."))
		return
	}
	if has, _ := gpus(kind); has < need.Flavor.GPUs {
		s.wrong(appfamily.AboutFlavor, name, hinted(app.Errorf(app.EInvalid, "Instance type %s has %s, but the hardware type lists %d.", name,
			humanize.Count(has, "GPU"), need.Flavor.GPUs),
			"Correct gpus in the hardware type, or use another instance type."))
		return
	}
	s.right(appfamily.AboutFlavor, name, "Instance type %s is available in %s, with %d vCPUs and %.4g GB of memory.", name, strings.Join(zones, ", "), vcpus(kind), memoryGB(kind))
}

// offered returns the zones that have an instance type.
func (c *calls) offered(ctx context.Context, name string) (zones []string, err error) {
	byZone, err := c.offerings(ctx, types.Filter{Name: ref("instance-type"), Values: []string{name}})
	return byZone[name], err
}

// offerings returns the zones of instance types, sorted.
func (c *calls) offerings(ctx context.Context, filters ...types.Filter) (map[string][]string, error) {
	out := map[string][]string{}
	err := pages(func(token *string) (*string, error) {
		page, err := c.describeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone, Filters: filters,
			MaxResults: ref[int32](1000), NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, o := range page.InstanceTypeOfferings {
			out[string(o.InstanceType)] = append(out[string(o.InstanceType)], value(o.Location))
		}
		return page.NextToken, nil
	})
	for _, zones := range out {
		slices.Sort(zones)
	}
	return out, err
}

// permissions has EC2 try what a create does, without doing it.
func (s *survey) permissions(ctx context.Context, needs appfamily.AccountNeeds) {
	whole := slices.DeleteFunc(slices.Clone(needs.Machines), func(n appfamily.MachineNeed) bool { return n.Flavor.Flavor == "" || n.Image.Image == "" })
	if len(whole) == 0 {
		if one, ok := s.pair(ctx, needs); ok {
			whole = append(whole, one)
		} else {
			s.doubt(appfamily.AboutPermissions, "ec2:RunInstances", "Permission to create machines can't be checked without an instance type and a matching image.",
				"Add both to the catalog for this account and check again, or compare the account's policy with the one in docs/providers/aws.md.")
		}
	}
	var tried []string
	for _, need := range whole {
		what := need.Flavor.Flavor + " " + need.Image.Image + " " + need.Zone
		if slices.Contains(tried, what) {
			continue
		}
		tried = append(tried, what)
		s.tryRun(ctx, need, needs.Each)
	}
	s.interruptions(ctx, needs)
	if len(s.subnets) == 0 {
		return
	}
	_, err := s.ec2.createSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{DryRun: ref(true), GroupName: ref(groupName("check", "check")), VpcId: s.subnets[0].VpcId,
		Description: ref("Machines of one Muster cluster"), TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeSecurityGroup,
			Tags: tagged(map[string]string{appfamily.TagInstallation: "check", appfamily.TagCluster: "check"})}}})
	switch {
	case because(err, "DryRunOperation"):
		s.right(appfamily.AboutPermissions, "ec2:CreateSecurityGroup", "Muster can create security groups for clusters with a firewall.")
	case err != nil:
		s.doubt(appfamily.AboutPermissions, "ec2:CreateSecurityGroup", "Can't create clusters with a firewall: "+app.AsError(err).Message, "Add the missing action from the policy in docs/providers/aws.md, or don't use firewalls.")
	}
}

// pair returns the first instance type and image, of those that are named each by itself, that can be used together.
func (s *survey) pair(ctx context.Context, needs appfamily.AccountNeeds) (appfamily.MachineNeed, bool) {
	var usable []template.Image
	found := map[string]types.Image{}
	for _, n := range needs.Machines {
		if n.Image.Image == "" || n.Flavor.Flavor != "" {
			continue
		}
		if image, err := s.image(ctx, n.Image.Image); err == nil && image.Platform != types.PlatformValuesWindows {
			usable, found[n.Image.Image] = append(usable, n.Image), image
		}
	}
	for _, n := range needs.Machines {
		if n.Flavor.Flavor == "" || n.Image.Image != "" {
			continue
		}
		kind, err := s.kind(ctx, types.InstanceType(n.Flavor.Flavor))
		if err != nil || kind.ProcessorInfo == nil {
			continue
		}
		for _, i := range usable {
			o, err := s.cloud.options(n.Flavor, i)
			image := found[i.Image]
			if err == nil && (o.rootGB == 0 || o.rootGB >= rootSize(image)) && slices.Contains(kind.ProcessorInfo.SupportedArchitectures, types.ArchitectureType(image.Architecture)) {
				return appfamily.MachineNeed{Count: 1, Flavor: n.Flavor, Image: i, Zone: n.Zone}, true
			}
		}
	}
	return appfamily.MachineNeed{}, false
}

// tryRun tries to make one machine of a need. What was found about its flavor and image isn't reported again. That a quota leaves no room for this one
// is a warning where
// others might be made.
func (s *survey) tryRun(ctx context.Context, need appfamily.MachineNeed, each bool) {
	spec := appfamily.MachineSpec{Intent: "check", Hostname: "check.muster.internal", Flavor: need.Flavor, Image: need.Image, Zone: need.Zone,
		Tags: map[string]string{appfamily.TagInstallation: "check", appfamily.TagTenant: "check", appfamily.TagCluster: "check", appfamily.TagNode: "check", appfamily.TagIntent: "check"}}
	w, err := s.want(spec)
	if err != nil {
		return
	}
	in, subnets, err := s.prepare(ctx, w)
	if err != nil {
		return
	}
	ask := bought(*in, w.options.markets()[0], w.tags)
	ask.NetworkInterfaces = slices.Clone(in.NetworkInterfaces)
	ask.NetworkInterfaces[0].SubnetId = subnets[0].SubnetId
	ask.DryRun = ref(true)
	_, err = s.ec2.runInstances(ctx, &ask)
	e := app.AsError(err)
	switch {
	case because(err, "DryRunOperation"):
		s.right(appfamily.AboutPermissions, "ec2:RunInstances", "Muster can create and tag machines of type %s.", need.Flavor.Flavor)
	case err == nil:
		s.doubt(appfamily.AboutPermissions, "ec2:RunInstances", "EC2 didn't respond whether Muster can create machines.", "Check the endpoint in api_url.")
	case strings.Contains(strings.ToLower(e.Message), "iaminstanceprofile"), strings.Contains(strings.ToLower(e.Message), "instance profile"):
		s.wrong(appfamily.AboutPermissions, w.options.profile, hinted(app.Errorf(app.EInvalid, "Can't use instance profile %s: %s", w.options.profile, e.Message), "Set instance_profile to an instance profile of this account, not a role."))
	case e.Code == app.EQuota && each:
		s.doubt(appfamily.AboutQuota, need.Flavor.Flavor, e.ForPeople(), e.Hint)
	case e.Code == app.EQuota:
		s.wrong(appfamily.AboutQuota, need.Flavor.Flavor, err)
	case e.Code == app.ECapacity, because(err, "InvalidInstanceType"):
		s.wrong(appfamily.AboutFlavor, need.Flavor.Flavor, err)
	case strings.HasPrefix(e.Reason, "InvalidAMIID"), because(err, "OptInRequired"):
		s.wrong(appfamily.AboutImage, need.Image.Image, err)
	case e.Code == app.ECredentials:
		s.wrong(appfamily.AboutPermissions, "ec2:RunInstances", err)
	default:
		s.wrong(appfamily.AboutSettings, need.Flavor.Flavor, err)
	}
}

func vcpus(k types.InstanceTypeInfo) int {
	if k.VCpuInfo == nil {
		return 0
	}
	return int(value(k.VCpuInfo.DefaultVCpus))
}

func memoryGB(k types.InstanceTypeInfo) float64 {
	if k.MemoryInfo == nil {
		return 0
	}
	return float64(value(k.MemoryInfo.SizeInMiB)) / 1024
}
