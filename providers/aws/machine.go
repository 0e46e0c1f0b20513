package aws

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"muster/app"
	appfamily "muster/app/family"
)

// Tags of our own beside the spec's: what the instance itself doesn't show. They do not show in Machine.Tags.
const (
	tagName     = "Name" // what the console shows
	tagHostname = "muster-hostname"
	tagUser     = "muster-ssh-user"
	tagHostKey  = "muster-host-key"
)

// EC2's limits of tags.
const (
	maxTags      = 50
	longestKey   = 128
	longestValue = 256
)

// tagsOf returns the tags of a machine, ours among them; EInvalid for what EC2 does not take.
func tagsOf(spec appfamily.MachineSpec, user, hostKey string) (map[string]string, error) {
	tags := maps.Clone(spec.Tags)
	for _, k := range []string{tagHostname, tagUser, tagHostKey} {
		if _, ok := tags[k]; ok {
			return nil, app.Errorf(app.EInvalid, "Tag %s is reserved for Muster.", k)
		}
	}
	tags[tagHostname], tags[tagUser] = spec.Hostname, user
	if len([]rune(hostKey)) <= longestValue && hostKey != "" {
		tags[tagHostKey] = hostKey // those of RSA are too long
	}
	if _, ok := tags[tagName]; !ok {
		tags[tagName] = spec.Hostname
	}
	if len(tags) > maxTags {
		return nil, app.Errorf(app.EInvalid, "Machine %s would have %d tags; EC2 allows %d.", spec.Hostname, len(tags), maxTags)
	}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		v := tags[k]
		switch {
		case k == "" || len([]rune(k)) > longestKey:
			return nil, app.Errorf(app.EInvalid, "Tag name %q must have 1 to %d characters.", k, longestKey)
		case strings.HasPrefix(strings.ToLower(k), "aws:"):
			return nil, app.Errorf(app.EInvalid, "Tag name %q starts with aws:, which AWS reserves.", k)
		case len([]rune(v)) > longestValue:
			return nil, app.Errorf(app.EInvalid, "The value of tag %q exceeds %d characters.", k, longestValue)
		}
	}
	return tags, nil
}

// tagged returns tags in EC2's form, sorted so that the same request is made from the same spec.
func tagged(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, types.Tag{Key: ref(k), Value: ref(tags[k])})
	}
	return out
}

func tagsFrom(tags []types.Tag) map[string]string {
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		if k := value(t.Key); !strings.HasPrefix(k, "aws:") {
			out[k] = value(t.Value)
		}
	}
	return out
}

// gone reports whether an instance does not exist any more, though EC2 still shows it for about an hour.
func gone(i types.Instance) bool {
	if i.State == nil {
		return false
	}
	return i.State.Name == types.InstanceStateNameTerminated || i.State.Name == types.InstanceStateNameShuttingDown
}

// reasonOf returns EC2's reason for the state of an instance, for the end of a sentence; "" where there is none.
func reasonOf(i types.Instance) string {
	if i.StateReason == nil || value(i.StateReason.Code) == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(strings.TrimPrefix(value(i.StateReason.Message), value(i.StateReason.Code)+": "), ".") + " (" + value(i.StateReason.Code) + ")"
}

// machine returns an instance in Muster's terms.
func machine(i types.Instance) appfamily.Machine {
	m := appfamily.Machine{ID: value(i.InstanceId), OwnRoot: true, Addresses: map[string]string{}, Tags: tagsFrom(i.Tags), CreatedAt: madeAt(i), State: appfamily.MachineStarting,
		Note: string(i.InstanceType)}
	if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
		m.Note += ", spot"
	}
	if i.Placement != nil {
		m.Zone = value(i.Placement.AvailabilityZone)
	}
	running := false
	if i.State != nil {
		switch i.State.Name {
		case types.InstanceStateNameRunning:
			m.State, running = appfamily.MachineRunning, true
		case types.InstanceStateNameStopping, types.InstanceStateNameStopped:
			m.State = appfamily.MachineStopped
		}
	}
	inside, outside := value(i.PrivateIpAddress), value(i.PublicIpAddress)
	if inside != "" {
		m.Addresses["bind_v4"] = inside
	}
	// A public address comes a little later than the private one, but before the machine runs.
	if outside != "" {
		m.Addresses["access_v4"] = outside
	} else if inside != "" && running {
		m.Addresses["access_v4"] = inside
	}
	m.Hostname, m.SSHUser, m.HostKey = m.Tags[tagHostname], m.Tags[tagUser], m.Tags[tagHostKey]
	if m.Hostname != "" && m.Tags[tagName] == m.Hostname {
		delete(m.Tags, tagName)
	}
	for _, k := range []string{tagHostname, tagUser, tagHostKey} {
		delete(m.Tags, k)
	}
	return m
}

// madeAt is when the machine got its first network interface: EC2's launch time is that of the last start.
func madeAt(i types.Instance) time.Time {
	var at time.Time
	earlier := func(t *time.Time) {
		if t != nil && !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = *t
		}
	}
	earlier(i.LaunchTime)
	for _, n := range i.NetworkInterfaces {
		if a := n.Attachment; a != nil && a.DeviceIndex != nil && *a.DeviceIndex == 0 {
			earlier(a.AttachTime)
		}
	}
	return at.UTC()
}

func ref[T any](v T) *T { return &v }

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
