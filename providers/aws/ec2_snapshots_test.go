package aws

import (
	"net/url"
	"slices"
	"strconv"
	"time"
)

// simCopy is a snapshot, which takes as long as an instance's start.
type simCopy struct {
	id, of  string
	size    int
	spoiled bool
	tags    map[string]string
	made    time.Time
}

func (x *simCopy) state(s *simulated) string {
	switch {
	case time.Since(x.made) < s.boot+s.lag:
		return "pending"
	case x.spoiled:
		return "error"
	}
	return "completed"
}

func (x *simCopy) xml(s *simulated) string {
	return el("snapshotId", x.id) + el("volumeId", x.of) + el("status", x.state(s)) + el("startTime", stamp(x.made)) + el("progress", "") +
		el("ownerId", "111111111111") + el("volumeSize", strconv.Itoa(x.size)) + el("description", "") + tagSet(x.tags)
}

// copyBy finds a snapshot that EC2 knows.
func (s *simulated) copyBy(id string) (*simCopy, error) {
	if !snapshotForm.MatchString(id) {
		return nil, no("InvalidSnapshotID.Malformed", "Invalid id: \"%s\" (expecting \"snap-...\")", id)
	}
	i := slices.IndexFunc(s.copies, func(x *simCopy) bool { return x.id == id && time.Since(x.made) >= s.lag })
	if i < 0 {
		return nil, no("InvalidSnapshot.NotFound", "The snapshot '%s' does not exist.", id)
	}
	return s.copies[i], nil
}

func (s *simulated) createSnapshot(f url.Values) (string, error) {
	d, err := s.disk(f.Get("VolumeId"))
	if err != nil {
		return "", err
	}
	x := &simCopy{id: s.id("snap"), of: d.id, size: d.size, made: time.Now(), spoiled: s.spoil > 0}
	each(f, "TagSpecification", func(get func(string) string, sub url.Values) {
		if get("ResourceType") != "snapshot" {
			err = no("InvalidParameterValue", "'%s' is not a valid taggable resource type for this operation.", get("ResourceType"))
		}
		x.tags = tagsIn(sub)
	})
	switch state, _ := d.state(s); {
	case err != nil:
		return "", err
	case f.Has("ClientToken"):
		return "", no("UnknownParameter", "The parameter ClientToken is not recognized")
	case state != "available" && state != "in-use":
		return "", no("IncorrectState", "Volume %s is in state %s", d.id, state)
	}
	s.spoil = max(s.spoil-1, 0)
	s.copies = append(s.copies, x)
	return x.xml(s), nil
}

func (s *simulated) describeSnapshots(f url.Values) (string, error) {
	named := s.copies
	if ids := list(f, "SnapshotId"); len(ids) > 0 {
		if f.Get("MaxResults") != "" {
			return "", no("InvalidParameterCombination", "The parameter snapshotSet cannot be used with the parameter maxResults")
		}
		named = nil
		for _, id := range ids {
			x, err := s.copyBy(id)
			if err != nil {
				return "", err
			}
			named = append(named, x)
		}
	} else if !slices.Equal(list(f, "Owner"), []string{"self"}) {
		return "", no("InvalidParameterValue", "Every public snapshot would be listed.")
	}
	var out []string
	for _, x := range named {
		ok, err := filtered(f, x.tags, func(string) (string, bool) { return "", false })
		if err != nil {
			return "", err
		}
		if _, unknown := s.copyBy(x.id); ok && unknown == nil {
			out = append(out, x.xml(s))
		}
	}
	return paged(f, "snapshotSet", out, 5, 1000)
}

func (s *simulated) deleteSnapshot(f url.Values) (string, error) {
	x, err := s.copyBy(f.Get("SnapshotId"))
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(s.images, func(i simImage) bool { return i.copy == x.id }); i >= 0 {
		return "", no("InvalidSnapshot.InUse", "The snapshot %s is currently in use by %s", x.id, s.images[i].id)
	}
	s.copies = slices.DeleteFunc(s.copies, func(o *simCopy) bool { return o == x })
	return el("return", "true"), nil
}

// copiesTo refuses to make a disk of a snapshot that isn't whole, or is larger.
func (s *simulated) copiesTo(d *simDisk) error {
	if d.from == "" {
		return nil
	}
	x, err := s.copyBy(d.from)
	switch {
	case err != nil:
		return err
	case x.state(s) != "completed":
		return no("IncorrectState", "Snapshot is in invalid state - %s", x.state(s))
	case d.size < x.size:
		return no("InvalidParameterValue", "Volume of %dGiB is smaller than snapshot '%s', expect size >= %dGiB", d.size, x.id, x.size)
	}
	return nil
}

func (r *testRegion) snapshotOf(volume string) string {
	r.sim.mu.Lock()
	defer r.sim.mu.Unlock()
	for _, d := range r.sim.disks {
		if d.id == volume {
			return d.from
		}
	}
	return ""
}
