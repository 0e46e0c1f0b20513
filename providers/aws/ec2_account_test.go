package aws

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *simulated) describeZones(url.Values) (string, error) {
	var out []string
	for _, z := range []string{"a", "b", "c"} {
		out = append(out, el("zoneName", s.region+z)+el("zoneState", "available")+el("regionName", s.region)+el("optInStatus", "opt-in-not-required"))
	}
	return items("availabilityZoneInfo", out), nil
}

func (s *simulated) describePlacements(f url.Values) (string, error) {
	var out []string
	for _, name := range list(f, "GroupName") {
		if !slices.Contains(s.placed, name) {
			return "", no("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", name)
		}
		out = append(out, el("groupName", name)+el("state", "available")+el("strategy", "cluster"))
	}
	return items("placementGroupSet", out), nil
}

func (s *simulated) describeSubnets(f url.Values) (string, error) {
	var out []string
	named := list(f, "SubnetId")
	for _, id := range named {
		if !slices.ContainsFunc(s.subnets, func(n *simSubnet) bool { return n.id == id }) {
			return "", no("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
		}
	}
	for _, n := range s.subnets {
		ok, err := filtered(f, nil, func(name string) (string, bool) {
			v, known := map[string]string{"vpc-id": n.vpc, "state": "available", "default-for-az": strconv.FormatBool(n.byDefault), "availability-zone": n.zone}[name]
			return v, known
		})
		if err != nil {
			return "", err
		}
		if ok && (len(named) == 0 || slices.Contains(named, n.id)) {
			out = append(out, el("subnetId", n.id)+el("vpcId", n.vpc)+el("availabilityZone", n.zone)+el("state", "available")+
				el("defaultForAz", strconv.FormatBool(n.byDefault))+el("availableIpAddressCount", strconv.Itoa(n.free)))
		}
	}
	return paged(f, "subnetSet", out, 5, 1000)
}

func (s *simulated) describeImages(f url.Values) (string, error) {
	named, owners := list(f, "ImageId"), list(f, "Owner")
	for _, id := range named {
		if !imageForm.MatchString(id) {
			return "", no("InvalidAMIID.Malformed", "Invalid id: \"%s\" (expecting \"ami-...\")", id)
		}
		if i := s.imageNamed(id); i == nil || time.Since(i.at) < s.lag {
			return "", no("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
		}
	}
	var out []string
	for _, i := range s.images {
		ok, err := filtered(f, i.tags, func(name string) (string, bool) {
			v, known := map[string]string{"name": i.name, "state": i.stateIn(s)}[name]
			return v, known
		})
		if err != nil {
			return "", err
		}
		owned := len(owners) == 0 || slices.Contains(owners, i.owner) || slices.Contains(owners, "self") && i.owner == "111111111111"
		if !ok || !owned || time.Since(i.at) < s.lag || len(named) > 0 && !slices.Contains(named, i.id) {
			continue
		}
		disks := []string{el("deviceName", i.root) + el("ebs", el("volumeSize", strconv.Itoa(i.size)), el("deleteOnTermination", "true"),
			el("snapshotId", cmp.Or(i.copy, "snap-1")))}
		for _, d := range i.more {
			disks = append(disks, el("deviceName", d)+el("ebs", el("volumeSize", "1"), el("deleteOnTermination", "false"), el("snapshotId", "snap-2")))
		}
		out = append(out, el("imageId", i.id)+el("name", i.name)+el("imageOwnerId", i.owner)+el("architecture", i.arch)+el("imageState", i.stateIn(s))+tagSet(i.tags)+
			el("rootDeviceName", i.root)+el("rootDeviceType", "ebs")+el("creationDate", i.made)+items("blockDeviceMapping", disks))
	}
	return paged(f, "imagesSet", out, 1, 1000)
}

func (s *simulated) describeInstanceTypes(f url.Values) (string, error) {
	named := list(f, "InstanceType")
	var out, unknown []string
	for _, name := range named {
		if s.kindNamed(name) == nil {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return "", no("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(unknown, ", "))
	}
	for _, k := range s.kinds {
		if len(named) > 0 && !slices.Contains(named, k.name) {
			continue
		}
		usage := []string{"on-demand", "spot"}
		if k.noSpot {
			usage = usage[:1]
		}
		gpu := ""
		if k.gpus > 0 {
			gpu = el("gpuInfo", el("gpus", el("item", el("count", strconv.Itoa(k.gpus))+el("manufacturer", "NVIDIA")+el("name", "L4"))))
		}
		out = append(out, gpu+el("instanceType", k.name)+el("vCpuInfo", el("defaultVCpus", strconv.Itoa(k.cpu)))+el("memoryInfo",
			el("sizeInMiB", strconv.Itoa(k.mib)))+
			el("instanceStorageSupported", strconv.FormatBool(k.stored))+el("processorInfo", items("supportedArchitectures", []string{k.arch}))+items("supportedUsageClasses", usage)+
			el("ebsInfo", el("nvmeSupport", map[bool]string{true: "unsupported", false: "required"}[k.xen])))
	}
	return paged(f, "instanceTypeSet", out, 5, 100)
}

func (s *simulated) describeOfferings(f url.Values) (string, error) {
	if f.Get("LocationType") != "availability-zone" {
		return "", no("InvalidParameterValue", "only zones are asked for")
	}
	var out []string
	for _, k := range s.kinds {
		for _, z := range k.zones {
			ok, err := filtered(f, nil, func(name string) (string, bool) {
				v, known := map[string]string{"instance-type": k.name, "location": z}[name]
				return v, known
			})
			if err != nil {
				return "", err
			}
			if ok {
				out = append(out, el("instanceType", k.name)+el("location", z)+el("locationType", "availability-zone"))
			}
		}
	}
	return paged(f, "instanceTypeOfferingSet", out, 5, 1000)
}

// simGroup is a security group; one of its own was there from the beginning.
type simGroup struct {
	id, name, vpc string
	own           bool
	made          time.Time
	tags          map[string]string
	rules         []simRule
}

type simRule struct{ protocol, from, to, source, note string }

func (s *simulated) groupByID(id string) *simGroup {
	for _, g := range s.groups {
		if g.id == id {
			return g
		}
	}
	return nil
}

func (s *simulated) groupKnown(f url.Values) (*simGroup, error) {
	id := f.Get("GroupId")
	if !groupForm.MatchString(id) {
		return nil, no("InvalidGroupId.Malformed", "Invalid id: \"%s\" (expecting \"sg-...\")", id)
	}
	g := s.groupByID(id)
	if g == nil || time.Since(g.made) < s.lag/3 {
		return nil, no("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
	}
	return g, nil
}

func (s *simulated) describeGroups(f url.Values) (string, error) {
	var out []string
	named := list(f, "GroupId")
	for _, id := range named {
		if s.groupByID(id) == nil {
			return "", no("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
	}
	for _, g := range s.groups {
		ok, err := filtered(f, g.tags, func(name string) (string, bool) {
			v, known := map[string]string{"vpc-id": g.vpc, "group-name": g.name}[name]
			return v, known
		})
		if err != nil {
			return "", err
		}
		if !ok || time.Since(g.made) < s.lag/3 || len(named) > 0 && !slices.Contains(named, g.id) {
			continue
		}
		var rules []string
		for _, r := range g.rules {
			x := el("ipProtocol", r.protocol)
			if r.protocol != "-1" {
				x += el("fromPort", r.from) + el("toPort", r.to)
			}
			note := el("description", r.note)
			switch {
			case strings.HasPrefix(r.source, "sg-"):
				x += items("groups", []string{el("groupId", r.source) + note})
			case strings.Contains(r.source, ":"):
				x += items("ipv6Ranges", []string{el("cidrIpv6", r.source) + note})
			default:
				x += items("ipRanges", []string{el("cidrIp", r.source) + note})
			}
			rules = append(rules, x)
		}
		out = append(out, el("groupId", g.id)+el("groupName", g.name)+el("vpcId", g.vpc)+tagSet(g.tags)+items("ipPermissions", rules))
	}
	return paged(f, "securityGroupInfo", out, 5, 1000)
}

func (s *simulated) createGroup(f url.Values) (string, error) {
	name, vpc := f.Get("GroupName"), f.Get("VpcId")
	switch {
	case name == "" || len(name) > 255 || strings.HasPrefix(name, "sg-") || f.Get("GroupDescription") == "":
		return "", no("InvalidParameterValue", "Invalid security group name or description.")
	case !slices.ContainsFunc(s.subnets, func(n *simSubnet) bool { return n.vpc == vpc }):
		return "", no("InvalidVpcID.NotFound", "The vpc ID '%s' does not exist", vpc)
	}
	if err := dry(f); err != nil {
		return "", err
	}
	if slices.ContainsFunc(s.groups, func(g *simGroup) bool { return g.vpc == vpc && g.name == name }) {
		return "", no("InvalidGroup.Duplicate", "The security group '%s' already exists for VPC '%s'", name, vpc)
	}
	g := &simGroup{id: s.id("sg"), name: name, vpc: vpc, made: time.Now()}
	each(f, "TagSpecification", func(get func(string) string, sub url.Values) {
		if get("ResourceType") == "security-group" {
			g.tags = tagsIn(sub)
		}
	})
	s.groups = append(s.groups, g)
	return el("return", "true") + el("groupId", g.id), nil
}

func (s *simulated) deleteGroup(f url.Values) (string, error) {
	g, err := s.groupKnown(f)
	if err != nil {
		return "", err
	}
	for _, i := range s.machines {
		if _, state := i.state(s); state != "terminated" && slices.Contains(i.groups, g.id) {
			return "", no("DependencyViolation", "resource %s has a dependent object", g.id)
		}
	}
	s.groups = slices.DeleteFunc(s.groups, func(o *simGroup) bool { return o == g })
	return el("return", "true") + el("groupId", g.id), nil
}

// rulesIn reads the permissions of a call, one rule for each source.
func rulesIn(f url.Values) (out []simRule, err error) {
	each(f, "IpPermissions", func(get func(string) string, sub url.Values) {
		r := simRule{protocol: get("IpProtocol"), from: get("FromPort"), to: get("ToPort")}
		n := len(out)
		add := func(list, field string) {
			each(sub, list, func(get func(string) string, _ url.Values) {
				r.source, r.note = get(field), get("Description")
				if p, bad := netip.ParsePrefix(r.source); field != "GroupId" && (bad != nil || p != p.Masked()) {
					err = no("InvalidParameterValue", "CIDR block %s is malformed", r.source)
				}
				out = append(out, r)
			})
		}
		add("IpRanges", "CidrIp")
		add("Ipv6Ranges", "CidrIpv6")
		add("Groups", "GroupId")
		if len(out) == n {
			err = no("MissingParameter", "Source group or range missing.")
		}
	})
	return out, err
}

func (r simRule) same(o simRule) bool { r.note, o.note = "", ""; return r == o }

func (s *simulated) authorize(f url.Values) (string, error) {
	g, err := s.groupKnown(f)
	if err != nil {
		return "", err
	}
	rules, err := rulesIn(f)
	if err != nil {
		return "", err
	}
	for _, r := range rules {
		if slices.ContainsFunc(g.rules, r.same) {
			return "", no("InvalidPermission.Duplicate", "the specified rule \"peer: %s, %s, from port: %s, to port: %s, ALLOW\" already exists", r.source, r.protocol, r.from, r.to)
		}
	}
	if len(g.rules)+len(rules) > 60 {
		return "", no("RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached.")
	}
	g.rules = append(g.rules, rules...)
	return el("return", "true"), nil
}

func (s *simulated) revoke(f url.Values) (string, error) {
	g, err := s.groupKnown(f)
	if err != nil {
		return "", err
	}
	rules, err := rulesIn(f)
	if err != nil {
		return "", err
	}
	for _, r := range rules {
		if !slices.ContainsFunc(g.rules, r.same) {
			return "", no("InvalidPermission.NotFound", "The specified rule does not exist in this security group.")
		}
		g.rules = slices.DeleteFunc(g.rules, r.same)
	}
	return el("return", "true"), nil
}
