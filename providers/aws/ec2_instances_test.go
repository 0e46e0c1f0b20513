package aws

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// simInstance is an instance; its state follows from what was done to it when.
type simInstance struct {
	id, kind, image, arch, root, shutdown string
	subnet                                *simSubnet
	groups                                []string
	tags                                  map[string]string
	spot, public                          bool
	marked                                string // the status code of its spot request; "": fulfilled
	markedAt                              time.Time
	token                                 string
	form                                  url.Values // as requested
	made, started, stopped, ended         time.Time
	number                                int
	reason                                string
}

func (i *simInstance) state(s *simulated) (int, string) {
	now := time.Now()
	switch {
	case !i.ended.IsZero() && now.Sub(i.ended) < s.down:
		return 32, "shutting-down"
	case !i.ended.IsZero():
		return 48, "terminated"
	case !i.stopped.IsZero() && now.Sub(i.stopped) < s.stop:
		return 64, "stopping"
	case !i.stopped.IsZero():
		return 80, "stopped"
	case now.Sub(i.started) < s.boot:
		return 0, "pending"
	}
	return 16, "running"
}

func (i *simInstance) xml(s *simulated) string {
	code, name := i.state(s)
	out := el("instanceId", i.id) + el("imageId", i.image) + el("instanceState", el("code", strconv.Itoa(code)), el("name", name)) + el("instanceType", i.kind) +
		el("launchTime", stamp(i.started)) + el("placement", el("availabilityZone", i.subnet.zone)) + el("architecture", i.arch) +
		el("rootDeviceType", "ebs") + el("rootDeviceName", i.root) + el("clientToken", i.token) + tagSet(i.tags)
	if i.spot {
		out += el("instanceLifecycle", "spot")
	}
	if i.reason != "" {
		out += el("stateReason", el("code", i.reason), el("message", i.reason+": Because it is so."))
	}
	if name == "terminated" || name == "shutting-down" {
		return out + el("networkInterfaceSet", "")
	}
	inside := fmt.Sprintf("172.31.%d.%d", i.number/250, i.number%250+4)
	out += el("privateIpAddress", inside) + el("subnetId", i.subnet.id) + el("vpcId", i.subnet.vpc) +
		items("networkInterfaceSet", []string{el("networkInterfaceId", "eni-"+i.id[2:]) + items("groupSet", s.groupItems(i)) + el("attachment", el("deviceIndex", "0"), el("attachTime", stamp(i.made)))}) +
		items("blockDeviceMapping", append([]string{el("deviceName", i.root) +
			el("ebs", el("volumeId", "vol-"+i.id[2:]), el("attachTime", stamp(i.made)), el("deleteOnTermination", "true"))}, s.disksOf(i)...))
	if i.public && name == "running" {
		out += el("ipAddress", fmt.Sprintf("198.51.100.%d", i.number%250+1))
	}
	return out
}

// groupItems are the groups of an instance; with none of its own it has the default one of its VPC.
func (s *simulated) groupItems(i *simInstance) (out []string) {
	for _, id := range i.groups {
		if g := s.groupByID(id); g != nil {
			out = append(out, el("groupId", id)+el("groupName", g.name))
		}
	}
	return out
}

// modifyInterface puts an instance's interface into other groups, in place of those that it was in.
func (s *simulated) modifyInterface(f url.Values) (string, error) {
	at := slices.IndexFunc(s.machines, func(i *simInstance) bool { return "eni-"+i.id[2:] == f.Get("NetworkInterfaceId") })
	if at < 0 {
		return "", no("InvalidNetworkInterfaceID.NotFound", "The networkInterface ID '%s' does not exist", f.Get("NetworkInterfaceId"))
	}
	i, groups := s.machines[at], list(f, "SecurityGroupId")
	if len(groups) == 0 || len(groups) > 5 {
		return "", no("SecurityGroupsPerInterfaceLimitExceeded", "You must specify at least one security group, and no more than 5")
	}
	for _, id := range groups {
		if g := s.groupByID(id); g == nil || time.Since(g.made) < s.lag/3 {
			return "", no("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		} else if g.vpc != i.subnet.vpc {
			return "", no("InvalidParameter", "Security group %s and interface %s belong to different networks.", id, f.Get("NetworkInterfaceId"))
		}
	}
	i.groups = groups
	return el("return", "true"), nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s *simulated) runInstances(f url.Values) (string, error) {
	if f.Get("MinCount") != "1" || f.Get("MaxCount") != "1" {
		return "", no("MissingParameter", "The request must contain the parameter MinCount")
	}
	i, err := s.wanted(f)
	if err != nil {
		return "", err
	}
	if err := dry(f); err != nil {
		return "", err
	}
	if i.token == "" || len(i.token) > 64 {
		return "", no("InvalidParameterValue", "Value (%s) for parameter clientToken is invalid.", i.token)
	}
	form := url.Values{}
	for k, v := range f {
		if k != "ClientToken" {
			form[k] = v
		}
	}
	print := hash([]byte(form.Encode()))
	if use, ok := s.tokens[i.token]; ok {
		had := s.byID(use.id)
		switch {
		case use.print != print:
			return "", no("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
		case !had.ended.IsZero():
			return "", no("IdempotentInstanceTerminated", "The request to launch an instance uses the same client token as a previous request for which the instance has been terminated.")
		}
		return s.reservation(had, "instancesSet"), nil
	}
	kind := s.kindNamed(i.kind)
	switch {
	case !slices.Contains(kind.zones, i.subnet.zone):
		return "", no("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s). Please retry your request by not specifying an Availability Zone or choosing %s.", i.kind, i.subnet.zone, strings.Join(kind.zones, ", "))
	case i.spot && s.noSpot:
		return "", no("InsufficientInstanceCapacity", "There is no Spot capacity available that matches your request.")
	case i.subnet.free == 0:
		return "", no("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", i.subnet.id)
	}
	i.subnet.free--
	i.id = s.id("i")
	i.number = s.next
	i.made = time.Now()
	i.started = i.made
	i.form = form
	answer := s.reservation(i, "instancesSet")
	if s.failedAtStart != "" {
		i.ended, i.reason = time.Now(), s.failedAtStart
		i.subnet.free++
	}
	s.machines = append(s.machines, i)
	s.tokens[i.token] = tokenUse{print, i.id}
	return answer, nil
}

func (s *simulated) reservation(i *simInstance, set string) string {
	return el("reservationId", "r-"+i.id[2:]) + el("ownerId", "111111111111") + items(set, []string{i.xml(s)})
}

// wanted checks what RunInstances is asked.
func (s *simulated) wanted(f url.Values) (*simInstance, error) {
	i := &simInstance{kind: f.Get("InstanceType"), image: f.Get("ImageId"), token: f.Get("ClientToken"), spot: f.Get("InstanceMarketOptions.MarketType") == "spot", shutdown: f.Get("InstanceInitiatedShutdownBehavior")}
	kind := s.kindNamed(i.kind)
	if kind == nil {
		return nil, no("InvalidParameterValue", "Invalid value '%s' for InstanceType.", i.kind)
	}
	image := s.imageNamed(i.image)
	if image == nil {
		return nil, no("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", i.image)
	}
	i.root, i.arch = image.root, image.arch
	if image.arch != kind.arch {
		return nil, no("InvalidParameterValue", "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.", kind.arch, image.arch)
	}
	subnet := f.Get("NetworkInterface.1.SubnetId")
	at := slices.IndexFunc(s.subnets, func(n *simSubnet) bool { return n.id == subnet })
	if at < 0 {
		return nil, no("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", subnet)
	}
	i.subnet = s.subnets[at]
	i.public = f.Get("NetworkInterface.1.AssociatePublicIpAddress") == "true"
	i.groups = list(f, "NetworkInterface.1.SecurityGroupId")
	if len(i.groups) == 0 {
		i.groups = []string{s.groups[slices.IndexFunc(s.groups, func(g *simGroup) bool { return g.name == "default" && g.vpc == i.subnet.vpc })].id}
	}
	for _, g := range i.groups {
		if found := s.groupByID(g); found == nil || time.Since(found.made) < s.lag/3 {
			return nil, no("InvalidGroup.NotFound", "The security group '%s' does not exist", g)
		} else if found.vpc != i.subnet.vpc {
			return nil, no("InvalidParameter", "Security group %s and subnet %s belong to different networks.", g, subnet)
		}
	}
	if len(list(f, "SecurityGroupId")) > 0 || f.Get("SubnetId") != "" {
		return nil, no("InvalidParameterCombination", "Network interfaces and an instance-level security groups may not be specified on the same request")
	}
	if p := f.Get("Placement.GroupName"); p != "" && !slices.Contains(s.placed, p) {
		return nil, no("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", p)
	}
	if p := f.Get("IamInstanceProfile.Name"); p != "" && !slices.Contains(s.profiles, p) {
		return nil, no("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", p)
	}
	if i.spot && (i.shutdown != "terminate" || kind.noSpot) {
		return nil, no("InvalidParameterCombination", "Invalid request for a spot instance.")
	}
	data, err := base64.StdEncoding.DecodeString(f.Get("UserData"))
	if err != nil || len(data) > 16384 || !strings.Contains(string(data), "#cloud-config\n") {
		return nil, no("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	}
	err = nil
	each(f, "BlockDeviceMapping", func(get func(string) string, _ url.Values) {
		n, _ := strconv.Atoi(get("Ebs.VolumeSize"))
		switch {
		case get("DeviceName") == image.root && n > 0 && n < image.size:
			err = no("InvalidBlockDeviceMapping", "Volume of size %dGB is smaller than snapshot 'snap-1', expect size>= %dGB", n, image.size)
		case n == 0 && get("Ebs.SnapshotId") == "": // also for disks of the image
			err = no("MissingParameter", "The request must contain the parameter size or snapshotId")
		}
	})
	each(f, "TagSpecification", func(get func(string) string, sub url.Values) {
		tags := tagsIn(sub)
		for k, v := range tags {
			if len(k) > 128 || len(v) > 256 || len(tags) > 50 || strings.HasPrefix(k, "aws:") {
				err = no("InvalidParameterValue", "Tag %s is invalid.", k)
			}
		}
		switch get("ResourceType") {
		case "instance":
			i.tags = tags
		case "volume", "network-interface":
		case "spot-instances-request":
			if !i.spot {
				err = no("InvalidParameterValue", "'spot-instances-request' is not a valid taggable resource type for this operation.")
			}
		default:
			err = no("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", get("ResourceType"))
		}
	})
	return i, err
}

func (s *simulated) kindNamed(name string) *simKind {
	for i := range s.kinds {
		if s.kinds[i].name == name {
			return &s.kinds[i]
		}
	}
	return nil
}

func (s *simulated) imageNamed(id string) *simImage {
	for i := range s.images {
		if s.images[i].id == id {
			return &s.images[i]
		}
	}
	return nil
}

func (s *simulated) byID(id string) *simInstance {
	for _, i := range s.machines {
		if i.id == id {
			return i
		}
	}
	return nil
}

// known returns instances that a call names, as far as EC2 knows of them.
func (s *simulated) known(f url.Values) (out []*simInstance, err error) {
	for _, id := range list(f, "InstanceId") {
		if !instanceForm.MatchString(id) {
			return nil, no("InvalidInstanceID.Malformed", "Invalid id: \"%s\"", id)
		}
		i := s.byID(id)
		if i == nil || time.Since(i.made) < s.lag {
			return nil, no("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", id)
		}
		out = append(out, i)
	}
	return out, nil
}

// describeSpotRequests answers for those requests only that the one filter lets through.
func (s *simulated) describeSpotRequests(f url.Values) (string, error) {
	if f.Get("Filter.1.Name") != "status-code" || f.Get("Filter.2.Name") != "" {
		return "", no("InvalidParameterValue", "The filter '%s' is invalid", f.Get("Filter.1.Name"))
	}
	var out []string
	for _, i := range s.machines {
		if i.marked != "" && slices.Contains(list(f, "Filter.1.Value"), i.marked) {
			out = append(out, el("spotInstanceRequestId", "sir-"+i.id[2:])+el("instanceId", i.id)+
				el("status", el("code", i.marked), el("updateTime", stamp(i.markedAt)), el("message", "It is so.")))
		}
	}
	return items("spotInstanceRequestSet", out), nil
}

func (s *simulated) describeInstances(f url.Values) (string, error) {
	named, err := s.known(f)
	if err != nil {
		return "", err
	}
	if len(named) > 0 && f.Get("MaxResults") != "" {
		return "", no("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
	}
	if len(named) == 0 {
		named = s.machines
	}
	var out []string
	for _, i := range named {
		ok, err := filtered(f, i.tags, func(name string) (string, bool) {
			_, state := i.state(s)
			return state, name == "instance-state-name"
		})
		if err != nil {
			return "", err
		}
		if ok && time.Since(i.made) >= s.lag {
			out = append(out, s.reservation(i, "instancesSet"))
		}
	}
	return paged(f, "reservationSet", out, 5, 1000)
}

func (s *simulated) changed(f url.Values, change func(i *simInstance, state string) error) (string, error) {
	named, err := s.known(f)
	if err != nil {
		return "", err
	}
	var out []string
	for _, i := range named {
		code, state := i.state(s)
		if err := change(i, state); err != nil {
			return "", err
		}
		now, after := i.state(s)
		out = append(out, el("instanceId", i.id)+el("previousState", el("code", strconv.Itoa(code)), el("name", state))+el("currentState", el("code", strconv.Itoa(now)), el("name", after)))
	}
	return items("instancesSet", out), nil
}

func (s *simulated) terminateInstances(f url.Values) (string, error) {
	return s.changed(f, func(i *simInstance, _ string) error {
		if i.ended.IsZero() {
			i.ended, i.reason = time.Now(), "Client.UserInitiatedShutdown"
			i.subnet.free++
		}
		return nil
	})
}

func (s *simulated) stopInstances(f url.Values) (string, error) {
	return s.changed(f, func(i *simInstance, state string) error {
		switch {
		case i.spot:
			return no("UnsupportedOperation", "You can't stop the Spot Instance '%s' because it is associated with a one-time Spot Instance request.", i.id)
		case state == "pending" || !i.ended.IsZero():
			return no("IncorrectInstanceState", "This instance '%s' is not in a state from which it can be stopped.", i.id)
		case i.stopped.IsZero():
			i.stopped = time.Now()
		}
		return nil
	})
}

func (s *simulated) startInstances(f url.Values) (string, error) {
	return s.changed(f, func(i *simInstance, state string) error {
		if state == "stopping" || !i.ended.IsZero() {
			return no("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be started.", i.id)
		}
		if state == "stopped" {
			i.started, i.stopped = time.Now(), time.Time{}
		}
		return nil
	})
}

// retagged finds the instance of a call about tags, which names its disk and its network interface as well.
func (s *simulated) retagged(f url.Values) (*simInstance, error) {
	ids := list(f, "ResourceId")
	if len(ids) == 0 || len(tagsIn(f)) == 0 {
		return nil, no("MissingParameter", "The request must contain the parameter resourceIdSet")
	}
	i := s.byID(ids[0])
	if i == nil {
		return nil, no("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", ids[0])
	}
	if !slices.Equal(ids[1:], []string{"vol-" + i.id[2:], "eni-" + i.id[2:]}) {
		return nil, no("InvalidID", "The ID '%s' is not valid", ids)
	}
	return i, nil
}

func (s *simulated) createTags(f url.Values) (string, error) {
	i, err := s.retagged(f)
	if err != nil {
		return "", err
	}
	for k, v := range tagsIn(f) {
		i.tags[k] = v
	}
	if len(i.tags) > 50 {
		return "", no("TagLimitExceeded", "More than 50 tags")
	}
	return el("return", "true"), nil
}

func (s *simulated) deleteTags(f url.Values) (string, error) {
	i, err := s.retagged(f)
	if err != nil {
		return "", err
	}
	for k := range tagsIn(f) {
		delete(i.tags, k)
	}
	return el("return", "true"), nil
}
