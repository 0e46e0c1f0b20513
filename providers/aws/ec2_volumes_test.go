package aws

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// simDisk is a volume that was made by itself; its state follows from what was done to it when.
type simDisk struct {
	id, zone, kind, token, print string
	from                         string // the snapshot that it was made of
	size                         int
	tags                         map[string]string
	made, attached, left, ended  time.Time
	holder                       *simInstance
	device                       string
}

// settle ends what takes a while: volumes leave a machine that was terminated.
func (d *simDisk) settle(s *simulated) {
	if d.holder == nil {
		return
	}
	_, state := d.holder.state(s)
	if state == "terminated" || s.byID(d.holder.id) == nil || !d.left.IsZero() && time.Since(d.left) >= s.stop {
		d.holder, d.device, d.left = nil, "", time.Time{}
	}
}

func (d *simDisk) state(s *simulated) (volume, attachment string) {
	d.settle(s)
	switch {
	case !d.ended.IsZero():
		return "deleting", ""
	case time.Since(d.made) < s.boot+s.lag:
		return "creating", ""
	case d.holder == nil:
		return "available", ""
	case !d.left.IsZero():
		return "in-use", "detaching"
	case time.Since(d.attached) < s.boot:
		return "in-use", "attaching"
	}
	return "in-use", "attached"
}

func (d *simDisk) xml(s *simulated) string {
	state, attachment := d.state(s)
	var attachments []string
	if attachment != "" {
		attachments = []string{el("volumeId", d.id) + el("instanceId", d.holder.id) + el("device", d.device) + el("status", attachment) +
			el("attachTime", stamp(d.attached)) + el("deleteOnTermination", "false")}
	}
	return el("volumeId", d.id) + el("size", strconv.Itoa(d.size)) + el("availabilityZone", d.zone) + el("status", state) + el("createTime", stamp(d.made)) +
		el("volumeType", d.kind) + items("attachmentSet", attachments) + tagSet(d.tags)
}

// disksOf are the volumes of an instance beside its own disks.
func (s *simulated) disksOf(i *simInstance) (out []string) {
	for _, d := range s.disks {
		if d.settle(s); d.holder == i {
			out = append(out, el("deviceName", d.device)+el("ebs", el("volumeId", d.id), el("attachTime", stamp(d.attached)), el("deleteOnTermination", "false")))
		}
	}
	return out
}

// disk finds a volume that EC2 knows. Deleted ones are known until they are forgotten.
func (s *simulated) disk(id string) (*simDisk, error) {
	if !volumeForm.MatchString(id) {
		return nil, no("InvalidVolumeID.Malformed", "Value (%s) for parameter volumeId is invalid. Expected: 'vol-...'.", id)
	}
	i := slices.IndexFunc(s.disks, func(d *simDisk) bool { return d.id == id })
	if i < 0 || time.Since(s.disks[i].made) < s.lag || !s.disks[i].ended.IsZero() && time.Since(s.disks[i].ended) > s.down {
		return nil, no("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
	}
	return s.disks[i], nil
}

func (s *simulated) createVolume(f url.Values) (string, error) {
	d := &simDisk{zone: f.Get("AvailabilityZone"), kind: f.Get("VolumeType"), token: f.Get("ClientToken"),
		from: f.Get("SnapshotId")}
	d.size, _ = strconv.Atoi(f.Get("Size"))
	if err := s.copiesTo(d); err != nil {
		return "", err
	}
	least := map[string]int{"gp3": 1, "gp2": 1, "standard": 1, "st1": 125, "sc1": 125}[d.kind]
	switch {
	case !slices.ContainsFunc(s.subnets, func(n *simSubnet) bool { return n.zone == d.zone }):
		return "", no("InvalidZone.NotFound", "The zone '%s' does not exist.", d.zone)
	case least == 0:
		return "", no("InvalidParameterValue", "Invalid volume type: %s", d.kind)
	case d.size < least || d.size > 16384:
		return "", no("InvalidParameterValue", "Volume of %dGiB is too small for volume type %s; minimum is %dGiB.", d.size, d.kind, least)
	case len(d.token) > 64:
		return "", no("InvalidParameterValue", "Value (%s) for parameter clientToken is invalid.", d.token)
	case f.Get("KmsKeyId") != "" && f.Get("Encrypted") != "true":
		return "", no("InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set.")
	}
	var err error
	each(f, "TagSpecification", func(get func(string) string, sub url.Values) {
		if get("ResourceType") != "volume" {
			err = no("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", get("ResourceType"))
		}
		d.tags = tagsIn(sub)
	})
	if err != nil {
		return "", err
	}
	if err := dry(f); err != nil {
		return "", err
	}
	form := url.Values{}
	for k, v := range f {
		if k != "ClientToken" {
			form[k] = v
		}
	}
	d.print = hash([]byte(form.Encode()))
	for _, had := range s.disks {
		if had.token == d.token && d.token != "" {
			if had.print != d.print {
				return "", no("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent with arguments used in previous request(s).")
			}
			return had.xml(s), nil
		}
	}
	d.id, d.made = s.id("vol"), time.Now()
	s.disks = append(s.disks, d)
	return d.xml(s), nil
}

func (s *simulated) describeVolumes(f url.Values) (string, error) {
	named := s.disks
	if ids := list(f, "VolumeId"); len(ids) > 0 {
		if f.Get("MaxResults") != "" {
			return "", no("InvalidParameterCombination", "The parameter volumeSet cannot be used with the parameter maxResults")
		}
		named = nil
		for _, id := range ids {
			d, err := s.disk(id)
			if err != nil {
				return "", err
			}
			named = append(named, d)
		}
	}
	var out []string
	for _, d := range named {
		ok, err := filtered(f, d.tags, func(string) (string, bool) { return "", false })
		if err != nil {
			return "", err
		}
		if _, unknown := s.disk(d.id); ok && unknown == nil {
			out = append(out, d.xml(s))
		}
	}
	// The disks that were made with machines carry the machines' tags.
	for _, i := range s.machines {
		_, state := i.state(s)
		if ok, err := filtered(f, i.tags, func(string) (string, bool) { return "", false }); len(list(f, "VolumeId")) == 0 && ok && err == nil && state == "running" {
			out = append(out, el("volumeId", "vol-"+i.id[2:])+el("size", "8")+el("availabilityZone", i.subnet.zone)+el("status", "in-use")+tagSet(i.tags))
		}
	}
	return paged(f, "volumeSet", out, 5, 1000)
}

func (s *simulated) attachVolume(f url.Values) (string, error) {
	d, err := s.disk(f.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	i := s.byID(f.Get("InstanceId"))
	if i == nil {
		return "", no("InvalidInstanceID.NotFound", "The instance ID '%s' does not exist", f.Get("InstanceId"))
	}
	state, _ := d.state(s)
	_, runs := i.state(s)
	device := f.Get("Device")
	switch {
	case state == "in-use":
		return "", no("VolumeInUse", "%s is already attached to an instance", d.id)
	case state != "available":
		return "", no("IncorrectState", "Invalid volume state '%s'", state)
	case runs != "running" && runs != "stopped":
		return "", no("IncorrectState", "Instance '%s' is not 'running'.", i.id)
	case d.zone != i.subnet.zone:
		return "", no("InvalidVolume.ZoneMismatch", "The volume '%s' is not in the same availability zone as instance '%s'", d.id, i.id)
	case !strings.HasPrefix(device, "/dev/sd") && !strings.HasPrefix(device, "/dev/xvd"):
		return "", no("InvalidParameterValue", "Value (%s) for parameter device is invalid. %s is not a valid EBS device name.", device, device)
	case device == i.root || slices.ContainsFunc(s.disks, func(o *simDisk) bool { return o.holder == i && o.device == device }):
		return "", no("InvalidParameterValue", "Invalid value '%s' for unixDevice. Attachment point %s is already in use", device, device)
	}
	d.holder, d.device, d.attached, d.left = i, device, time.Now(), time.Time{}
	return el("volumeId", d.id) + el("instanceId", i.id) + el("device", device) + el("status", "attaching"), nil
}

func (s *simulated) detachVolume(f url.Values) (string, error) {
	d, err := s.disk(f.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	d.settle(s)
	switch {
	case d.holder == nil:
		return "", no("IncorrectState", "Volume '%s' is in the 'available' state.", d.id)
	case f.Get("InstanceId") != "" && d.holder.id != f.Get("InstanceId"):
		return "", no("InvalidAttachment.NotFound", "The volume '%s' is not attached to instance '%s'", d.id, f.Get("InstanceId"))
	case !d.holder.ended.IsZero():
		return "", no("IncorrectState", "The instance '%s' is not in a state from which a volume can be detached.", d.holder.id)
	}
	if d.left.IsZero() {
		d.left = time.Now()
	}
	return el("volumeId", d.id) + el("status", "detaching"), nil
}

func (s *simulated) deleteVolume(f url.Values) (string, error) {
	d, err := s.disk(f.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	switch state, _ := d.state(s); {
	case state == "in-use":
		return "", no("VolumeInUse", "Volume %s is currently attached to %s", d.id, d.holder.id)
	case state == "creating":
		return "", no("IncorrectState", "Volume %s is in state creating", d.id)
	case d.ended.IsZero():
		d.ended = time.Now()
	}
	return el("return", "true"), nil
}
