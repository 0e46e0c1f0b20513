package digitalocean

import (
	"slices"
	"time"
)

// simSnapshot is a snapshot of a volume, as /v2/snapshots has it.
type simSnapshot struct {
	id, name, of, region string
	size                 int
	tags                 []string
	made                 time.Time
}

func (x *simSnapshot) json() map[string]any {
	return map[string]any{"id": x.id, "name": x.name, "created_at": x.made.UTC().Format(time.RFC3339), "regions": []string{x.region},
		"resource_id": x.of, "resource_type": "volume", "min_disk_size": x.size, "size_gigabytes": 0.1, "tags": slices.Clone(x.tags)}
}

func (s *sim) listSnapshots(c *call) {
	all := map[string]map[string]any{}
	for id, x := range s.copies {
		if kind := c.r.URL.Query().Get("resource_type"); time.Since(x.made) >= s.lag && (kind == "" || kind == "volume") {
			all[id] = x.json()
		}
	}
	s.listBaked(c, all)
	c.list("snapshots", sorted(all))
}

func (s *sim) createSnapshot(c *call) {
	v := s.volumes[c.id()]
	if v == nil {
		c.notFound()
		return
	}
	if text(c.body["name"]) == "" {
		c.unprocessable("name is required")
		return
	}
	if len(list(c.body["tags"])) > 0 && s.lacks["tag:create"] {
		c.refuse(403, "Forbidden", "You are not authorized to perform this operation")
		return
	}
	x := &simSnapshot{id: s.uuid(), name: text(c.body["name"]), of: v.id, region: v.region, size: v.size, made: time.Now()}
	for _, t := range list(c.body["tags"]) {
		canonical, ok := s.useTag(text(t))
		if !ok {
			c.unprocessable("Tags can only contain letters, numbers, colons, dashes and underscores")
			return
		}
		x.tags = append(x.tags, canonical)
	}
	s.copies[x.id] = x
	c.answer(201, map[string]any{"snapshot": x.json()})
}

func (s *sim) getSnapshot(c *call) {
	if x := s.copies[c.id()]; x != nil {
		c.answer(200, map[string]any{"snapshot": x.json()})
		return
	}
	c.notFound()
}

func (s *sim) deleteSnapshot(c *call) {
	if s.dropBaked(c.id()) {
		c.answer(204, nil)
		return
	}
	if s.copies[c.id()] == nil {
		c.notFound()
		return
	}
	delete(s.copies, c.id())
	c.answer(204, nil)
}

// refuseFrom refuses to make a volume of a snapshot that isn't in its region, or is larger.
func (s *sim) refuseFrom(c *call, snapshot, region string, size int) bool {
	x := s.copies[snapshot]
	switch {
	case snapshot == "":
		return false
	case x == nil:
		c.notFound()
	case x.region != region:
		c.unprocessable("snapshot is not available in the region")
	case size < x.size:
		c.unprocessable("invalid size: must be at least the size of the snapshot")
	default:
		return false
	}
	return true
}
