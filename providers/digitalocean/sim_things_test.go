package digitalocean

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type simDroplet struct {
	id       int
	name     string
	status   string
	next     string // the status that an action leads to
	renamed  string // the name that it leads to
	at       time.Time
	region   string
	size     string
	image    map[string]any
	tags     []string
	volumes  []string
	made     time.Time
	userData string
	vpc      string
}

// settle finishes running actions.
func (d *simDroplet) settle() {
	if d.next != "" && time.Now().After(d.at) {
		d.status, d.next = d.next, ""
		if d.renamed != "" {
			d.name, d.renamed = d.renamed, ""
		}
	}
}

func (s *sim) dropletJSON(d *simDroplet) map[string]any {
	d.settle()
	v4 := []map[string]any{}
	if d.status != "new" {
		n := d.id % 250
		v4 = append(v4, map[string]any{"ip_address": fmt.Sprintf("10.128.192.%d", n), "netmask": "255.255.0.0", "gateway": "nil", "type": "private"},
			map[string]any{"ip_address": fmt.Sprintf("192.241.165.%d", n), "netmask": "255.255.255.0", "gateway": "192.241.165.1", "type": "public"})
	}
	volumes := slices.Clone(d.volumes)
	if volumes == nil {
		volumes = []string{}
	}
	return map[string]any{"id": d.id, "name": d.name, "memory": 1024, "vcpus": 1, "disk": 25, "locked": d.next != "", "status": d.status, "kernel": nil,
		"created_at": d.made.UTC().Format(time.RFC3339), "features": []string{"private_networking"}, "backup_ids": []int{}, "next_backup_window": nil, "snapshot_ids": []int{},
		"image": d.image, "volume_ids": volumes, "size": s.sizes[d.size], "size_slug": d.size, "networks": map[string]any{"v4": v4, "v6": []any{}},
		"region": s.regions[d.region], "tags": slices.Clone(d.tags), "vpc_uuid": d.vpc}
}

func (s *sim) listDroplets(c *call) {
	name, byTag := c.r.URL.Query().Get("tag_name"), c.r.URL.Query().Has("tag_name")
	var ids []int
	for id, d := range s.droplets {
		if !byTag || slices.Contains(d.tags, name) && time.Since(d.made) >= s.lag {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	var out []map[string]any
	for _, id := range ids {
		out = append(out, s.dropletJSON(s.droplets[id]))
	}
	c.list("droplets", out)
}

var simName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*$`)

func (s *sim) createDroplet(c *call) {
	b := c.body
	s.last = b
	name, _ := b["name"].(string)
	size, region := s.sizes[text(b["size"])], s.regions[text(b["region"])]
	image := s.imageOf(b["image"])
	switch {
	case !simName.MatchString(name):
		c.unprocessable("Only valid hostname characters are allowed. (a-z, A-Z, 0-9, . and -)")
	case region == nil:
		c.unprocessable("You specified an invalid region for Droplet creation.")
	case region["available"] != true:
		c.unprocessable("Region is not available")
	case size == nil:
		c.unprocessable("You specified an invalid size for Droplet creation.")
	case !slices.Contains(size["regions"].([]string), text(b["region"])):
		c.unprocessable("Size is not available in this region.")
	case image == nil:
		c.unprocessable("You specified an invalid image for Droplet creation.")
	case !slices.Contains(image["regions"].([]string), text(b["region"])):
		c.unprocessable("The image you specified is not available in the selected region, you can transfer it from the images page.")
	case len(s.droplets) >= s.account["droplet_limit"].(int):
		c.unprocessable("creating this/these droplet(s) will exceed your droplet limit")
	case len(text(b["user_data"])) > 64<<10:
		c.unprocessable("user data must be less than 64KB")
	case len(list(b["tags"])) > 0 && s.lacks["tag:create"]:
		c.refuse(403, "Forbidden", "You are not authorized to perform this operation")
	case b["vpc_uuid"] != nil && (s.vpcs[text(b["vpc_uuid"])] == nil || s.vpcs[text(b["vpc_uuid"])]["region"] != text(b["region"])):
		c.unprocessable("Failed to resolve VPC")
	default:
		s.makeDroplet(c, b, image)
	}
}

func (s *sim) makeDroplet(c *call, b, image map[string]any) {
	d := &simDroplet{name: text(b["name"]), status: "new", next: "active", at: time.Now().Add(s.takes), region: text(b["region"]), size: text(b["size"]), image: image,
		made: time.Now(), userData: text(b["user_data"]), vpc: text(b["vpc_uuid"])}
	for _, k := range list(b["ssh_keys"]) {
		if n, ok := k.(float64); s.keyOf(text(k)) == nil && (!ok || s.keyOf(strconv.Itoa(int(n))) == nil) {
			c.unprocessable(fmt.Sprintf("%v are invalid key identifiers for Droplet creation.", k))
			return
		}
	}
	for _, v := range list(b["volumes"]) {
		vol := s.volumes[text(v)] // an id: the API's description knows no objects here
		if vol == nil || vol.region != d.region || vol.droplet != 0 {
			c.unprocessable("volume is not available")
			return
		}
		d.volumes = append(d.volumes, vol.id)
	}
	for _, t := range list(b["tags"]) {
		if !simTag.MatchString(text(t)) {
			c.unprocessable("Tags can only contain letters, numbers, colons, dashes and underscores")
			return
		}
	}
	for _, t := range list(b["tags"]) {
		canonical, _ := s.useTag(text(t))
		d.tags = append(d.tags, canonical)
	}
	s.serial++
	d.id = s.serial
	for _, v := range d.volumes {
		s.volumes[v].droplet = d.id
	}
	s.droplets[d.id] = d
	c.answer(202, map[string]any{"droplet": s.dropletJSON(d), "links": map[string]any{"actions": []any{map[string]any{"id": 7515, "rel": "create", "href": "https://api.digitalocean.com/v2/actions/7515"}}}})
}

func (s *sim) dropletOf(c *call) *simDroplet {
	d := s.droplets[atoi(c.id(), 0)]
	if d == nil {
		c.notFound()
		return nil
	}
	d.settle()
	return d
}

func (s *sim) getDroplet(c *call) {
	if d := s.dropletOf(c); d != nil {
		c.answer(200, map[string]any{"droplet": s.dropletJSON(d)})
	}
}

func (s *sim) deleteDroplet(c *call) {
	if d := s.dropletOf(c); d != nil {
		s.lose(d.id)
		c.answer(204, nil)
	}
}

// vanish is lose by someone else's hand.
func (s *sim) vanish(id int) {
	if d := s.droplets[id]; d != nil {
		s.stale = append(s.stale, d.tags...)
	}
	s.lose(id)
}

// lose takes a droplet away; its volumes stay.
func (s *sim) lose(id int) {
	delete(s.droplets, id)
	for _, v := range s.volumes {
		if v.droplet == id {
			v.droplet, v.freeAt = 0, time.Time{}
		}
	}
}

func (s *sim) actDroplet(c *call) {
	d := s.dropletOf(c)
	if d == nil {
		return
	}
	kind := text(c.body["type"])
	to, known := map[string]string{"shutdown": "off", "power_off": "off", "power_on": "active"}[kind]
	if kind == "rename" {
		to, known = "renamed", simName.MatchString(text(c.body["name"]))
	}
	switch {
	case !known && kind != "snapshot":
		c.unprocessable("The image action type is not valid")
		return
	case d.next != "":
		c.unprocessable("Droplet already has a pending event.")
		return
	case kind == "snapshot":
		s.bake(c, d)
		return
	case d.status == to:
		c.unprocessable("Droplet is currently " + d.status + ".")
		return
	}
	if kind == "rename" {
		to, d.renamed = d.status, text(c.body["name"])
	}
	if kind != "shutdown" || !s.stubborn {
		d.next, d.at = to, time.Now().Add(s.takes)
	}
	c.answer(201, map[string]any{"action": s.action(kind, "droplet", d.id)})
}

func (s *sim) action(kind, of string, id int) map[string]any {
	s.serial++
	return map[string]any{"id": s.serial, "status": "in-progress", "type": kind, "started_at": time.Now().UTC().Format(time.RFC3339), "completed_at": nil,
		"resource_id": id, "resource_type": of, "region": nil, "region_slug": "fra1"}
}

type simVolume struct {
	id, name, region, description string
	from                          string // the snapshot that it was made of
	size, droplet                 int
	made                          time.Time
	freeAt                        time.Time // when a detachment ends
	next                          int       // the droplet that it is being attached to
	hasAt                         time.Time // when that ends
}

func (s *sim) volumeJSON(v *simVolume) map[string]any {
	if !v.freeAt.IsZero() && time.Now().After(v.freeAt) {
		v.droplet, v.freeAt = 0, time.Time{}
	}
	if !v.hasAt.IsZero() && time.Now().After(v.hasAt) {
		if d := s.droplets[v.next]; d != nil {
			v.droplet, d.volumes = v.next, append(d.volumes, v.id)
		}
		v.next, v.hasAt = 0, time.Time{}
	}
	ids := []int{}
	if v.droplet != 0 {
		ids = append(ids, v.droplet)
	}
	return map[string]any{"id": v.id, "name": v.name, "region": s.regions[v.region], "size_gigabytes": v.size, "description": v.description, "droplet_ids": ids,
		"created_at": v.made.UTC().Format(time.RFC3339), "filesystem_type": "", "filesystem_label": "", "tags": nil}
}

func (s *sim) listVolumes(c *call) {
	q := c.r.URL.Query()
	all := map[string]map[string]any{}
	for id, v := range s.volumes {
		// Lists lag for those that last. A droplet's own is named again by what is made of it.
		if strings.HasPrefix(v.name, lastingPrefix) && time.Since(v.made) < s.lag {
			continue
		}
		if (q.Get("name") == "" || v.name == q.Get("name")) && (q.Get("region") == "" || v.region == q.Get("region")) {
			all[id] = s.volumeJSON(v)
		}
	}
	c.list("volumes", sorted(all))
}

var simVolumeName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

func (s *sim) createVolume(c *call) {
	name, region, size := text(c.body["name"]), text(c.body["region"]), c.body["size_gigabytes"]
	n, _ := size.(float64)
	for _, v := range s.volumes {
		if v.name == name && v.region == region {
			c.refuse(409, "conflict", "a volume with that name already exists in the region")
			return
		}
	}
	switch {
	case !simVolumeName.MatchString(name):
		c.unprocessable("invalid volume name")
	case s.regions[region] == nil || !slices.Contains(s.regions[region]["features"].([]string), "storage"):
		c.unprocessable("region does not support volumes")
	case n < 1 || n > 16384:
		c.unprocessable("invalid size")
	case len(s.volumes) >= s.account["volume_limit"].(int):
		c.unprocessable("failed to create volume: volume limit exceeded")
	case s.refuseFrom(c, text(c.body["snapshot_id"]), region, int(n)):
	default:
		v := &simVolume{id: s.uuid(), name: name, region: region, size: int(n), description: text(c.body["description"]), made: time.Now(),
			from: text(c.body["snapshot_id"])}
		s.volumes[v.id] = v
		c.answer(201, map[string]any{"volume": s.volumeJSON(v)})
	}
}

func (s *sim) getVolume(c *call) {
	if v := s.volumes[c.id()]; v != nil {
		c.answer(200, map[string]any{"volume": s.volumeJSON(v)})
		return
	}
	c.notFound()
}

func (s *sim) deleteVolume(c *call) {
	v := s.volumes[c.id()]
	if v == nil {
		c.notFound()
		return
	}
	if s.volumeJSON(v); v.droplet != 0 || v.next != 0 {
		c.refuse(409, "conflict", "failed to delete volume: volume is attached to a droplet")
		return
	}
	delete(s.volumes, v.id)
	c.answer(204, nil)
}

func (s *sim) actVolume(c *call) {
	v := s.volumes[c.id()]
	switch {
	case v == nil:
		c.notFound()
	case c.body["type"] == "attach":
		id, _ := c.body["droplet_id"].(float64)
		d := s.droplets[int(id)]
		s.volumeJSON(v)
		switch {
		case d == nil:
			c.notFound()
		case v.droplet != 0:
			c.unprocessable("volume is already attached to a droplet")
		case v.next != 0 || !v.freeAt.IsZero():
			c.unprocessable("Droplet already has a pending event.")
		case d.region != v.region:
			c.unprocessable("Volume must be in the same region as the droplet")
		case d.status == "new":
			c.unprocessable("Droplet already has a pending event.")
		case len(d.volumes) >= 15:
			c.unprocessable("Droplet has reached the limit of attached volumes")
		default:
			v.next, v.hasAt = d.id, time.Now().Add(s.takes)
			c.answer(202, map[string]any{"action": s.action("attach_volume", "backend", 0)})
		}
	case c.body["type"] != "detach":
		c.unprocessable("invalid action")
	case v.droplet == 0 || float64(v.droplet) != c.body["droplet_id"]:
		c.unprocessable("Attachment not found")
	default:
		if d := s.droplets[v.droplet]; d != nil {
			d.volumes = slices.DeleteFunc(d.volumes, func(id string) bool { return id == v.id })
		}
		v.freeAt = time.Now().Add(s.takes)
		c.answer(202, map[string]any{"action": s.action("detach_volume", "backend", 0)})
	}
}

var (
	simFirewallName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]{0,253}[a-zA-Z0-9]$`)
	simPorts        = regexp.MustCompile(`^[0-9]{1,5}(-[0-9]{1,5})?$`)
)

func (s *sim) createFirewall(c *call) {
	name := text(c.body["name"])
	for _, f := range s.firewalls {
		if f["name"] == name {
			c.refuse(409, "conflict", "duplicate name")
			return
		}
	}
	in, out := list(c.body["inbound_rules"]), list(c.body["outbound_rules"])
	if !simFirewallName.MatchString(name) || len(in)+len(out) == 0 || len(in)+len(out) > 50 {
		c.unprocessable("invalid firewall")
		return
	}
	tags := []string{}
	for _, t := range list(c.body["tags"]) {
		if s.tags[strings.ToLower(text(t))] != t {
			c.unprocessable("tag not found: " + text(t))
			return
		}
		tags = append(tags, text(t))
	}
	for _, r := range slices.Concat(in, out) {
		if why := s.badRule(r.(map[string]any)); why != "" {
			c.unprocessable(why)
			return
		}
	}
	f := map[string]any{"id": s.uuid(), "name": name, "status": "waiting", "inbound_rules": in, "outbound_rules": out, "droplet_ids": []int{}, "tags": tags,
		"created_at": time.Now().UTC().Format(time.RFC3339), "pending_changes": []any{}}
	s.firewalls[f["id"].(string)] = f
	c.answer(202, map[string]any{"firewall": f})
}

func (s *sim) badRule(r map[string]any) string {
	peers, _ := r["sources"].(map[string]any)
	if peers == nil {
		peers, _ = r["destinations"].(map[string]any)
	}
	// By the API's description every rule has ports, and those of ICMP are "0".
	if p := text(r["protocol"]); p != "tcp" && p != "udp" && p != "icmp" || !simPorts.MatchString(text(r["ports"])) || (p == "icmp") != (text(r["ports"]) == "0") {
		return "invalid protocol or ports"
	}
	if len(list(peers["addresses"]))+len(list(peers["tags"])) == 0 {
		return "a rule needs sources or destinations"
	}
	for _, a := range list(peers["addresses"]) {
		if _, err := netip.ParsePrefix(text(a)); err != nil {
			return "invalid address"
		}
	}
	for _, t := range list(peers["tags"]) {
		if s.tags[strings.ToLower(text(t))] != t {
			return "tag not found: " + text(t)
		}
	}
	return ""
}

func (s *sim) deleteFirewall(c *call) {
	if s.firewalls[c.id()] == nil {
		c.notFound()
		return
	}
	delete(s.firewalls, c.id())
	c.answer(204, nil)
}

func text(v any) string { s, _ := v.(string); return s }
func list(v any) []any  { l, _ := v.([]any); return l }
