package digitalocean

import (
	"slices"
	"strconv"
	"time"
)

// simBaked is a snapshot of a droplet, and the action that makes it, which has the same number. It isn't shown before it's done.
type simBaked struct {
	action, droplet, disk int
	name, region          string
	begun, done           time.Time
}

func (b *simBaked) json() map[string]any {
	return map[string]any{"id": strconv.Itoa(b.action), "name": b.name, "created_at": b.done.UTC().Format(time.RFC3339), "regions": []string{b.region},
		"resource_id": strconv.Itoa(b.droplet), "resource_type": "droplet", "min_disk_size": b.disk, "size_gigabytes": 1.2, "tags": []string{}}
}

func (b *simBaked) image() map[string]any {
	return map[string]any{"id": b.action, "name": b.name, "distribution": "Debian", "slug": nil, "public": false, "regions": []string{b.region},
		"created_at": b.done.UTC().Format(time.RFC3339), "type": "snapshot", "min_disk_size": b.disk, "size_gigabytes": 1.2, "status": "available"}
}

// bake begins to make a snapshot of a droplet, which is locked meanwhile.
func (s *sim) bake(c *call, d *simDroplet) {
	name := text(c.body["name"])
	if name == "" || len(name) > 255 {
		c.unprocessable("Name is invalid")
		return
	}
	a := s.action("snapshot", "droplet", d.id)
	d.next, d.at = d.status, time.Now().Add(s.takes)
	b := &simBaked{action: a["id"].(int), droplet: d.id, disk: 25, name: name, region: d.region, begun: time.Now(), done: d.at}
	s.baked, s.acted = append(s.baked, b), append(s.acted, b)
	c.answer(201, map[string]any{"action": a})
}

// act is the action that makes or made it.
func (b *simBaked) act() map[string]any {
	out := map[string]any{"id": b.action, "status": "in-progress", "type": "snapshot", "started_at": b.begun.UTC().Format(time.RFC3339), "completed_at": nil,
		"resource_id": b.droplet, "resource_type": "droplet", "region_slug": b.region}
	if time.Now().After(b.done) {
		out["status"], out["completed_at"] = "completed", b.done.UTC().Format(time.RFC3339Nano)
	}
	return out
}

func (s *sim) listActions(c *call) {
	d := s.dropletOf(c)
	if d == nil {
		return
	}
	var out []map[string]any
	for _, b := range slices.Backward(s.acted) {
		if b.droplet == d.id {
			out = append(out, b.act())
		}
	}
	c.list("actions", out)
}

func (s *sim) getAction(c *call) {
	for _, b := range s.acted {
		if strconv.Itoa(b.action) == c.r.PathValue("action") && strconv.Itoa(b.droplet) == c.id() {
			c.answer(200, map[string]any{"action": b.act()})
			return
		}
	}
	c.notFound()
}

// listBaked adds what is done to a list of snapshots.
func (s *sim) listBaked(c *call, to map[string]map[string]any) {
	for _, b := range s.baked {
		if kind := c.r.URL.Query().Get("resource_type"); time.Since(b.done) >= s.lag && (kind == "" || kind == "droplet") {
			to[strconv.Itoa(b.action)] = b.json()
		}
	}
}

// dropBaked deletes a snapshot of a droplet; false where there is none with the id.
func (s *sim) dropBaked(id string) bool {
	had := len(s.baked)
	s.baked = slices.DeleteFunc(s.baked, func(b *simBaked) bool { return strconv.Itoa(b.action) == id && time.Now().After(b.done) })
	return len(s.baked) < had
}
