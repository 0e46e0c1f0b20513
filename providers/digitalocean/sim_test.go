package digitalocean

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sim is an account of DigitalOcean over HTTP: paths, statuses and JSON as in its API reference. It holds what it is asked to the rules that are written
// there: who asks, what for, which fields, and what they name.
type sim struct {
	mu        sync.Mutex
	token     string
	lacks     map[string]bool // scopes that the token has not
	account   map[string]any
	regions   map[string]map[string]any
	sizes     map[string]map[string]any
	images    []map[string]any
	baked     []*simBaked
	acted     []*simBaked // also those whose snapshots are deleted
	vpcs      map[string]map[string]any
	keys      map[string]map[string]any // by fingerprint
	droplets  map[int]*simDroplet
	volumes   map[string]*simVolume
	copies    map[string]*simSnapshot
	firewalls map[string]map[string]any
	tags      map[string]string // canonical form by small letters
	stale     []string          // tags of droplets that others deleted: they look like those of a droplet that is being made, and cost nothing
	domain    string
	records   []map[string]any
	serial    int
	lag       time.Duration // of lists by tag
	takes     time.Duration // how long actions and starts take
	stubborn  bool          // systems do not shut themselves down
	requests  []string
	last      map[string]any // the body of the last order of a droplet
}

const simToken = "dop_v1_4fd1f0c2"

func newSim() *sim {
	s := &sim{
		token: simToken, lacks: map[string]bool{}, takes: 3 * time.Millisecond,
		account: map[string]any{"droplet_limit": 25, "volume_limit": 100, "email": "ops@example.org", "name": "Ops", "uuid": "b6fr89dbf6d9156cace5f3c78dc9851d957381ef",
			"email_verified": true, "status": "active", "status_message": "", "team": map[string]any{"uuid": "5df3e3004a17e242b7c20ca6c9fc25b701a47ece", "name": "Example Team"}},
		regions: map[string]map[string]any{}, sizes: map[string]map[string]any{}, vpcs: map[string]map[string]any{}, keys: map[string]map[string]any{},
		droplets: map[int]*simDroplet{}, volumes: map[string]*simVolume{}, copies: map[string]*simSnapshot{},
		firewalls: map[string]map[string]any{}, tags: map[string]string{}, serial: 3164493,
	}
	for slug, name := range map[string]string{"fra1": "Frankfurt 1", "nyc3": "New York 3", "sfo1": "San Francisco 1"} {
		s.regions[slug] = map[string]any{"slug": slug, "name": name, "available": slug != "sfo1", "features": []string{"backups", "ipv6", "metadata", "storage"}, "sizes": []string{}}
	}
	for i, slug := range []string{"s-1vcpu-1gb", "s-2vcpu-2gb", "s-4vcpu-8gb"} {
		s.sizes[slug] = map[string]any{"slug": slug, "memory": 1024 << i, "vcpus": 1 << i, "disk": 25 << i, "transfer": 1.0, "price_monthly": 6.0, "price_hourly": 0.00893 * float64(int(1)<<i),
			"regions": []string{"fra1", "nyc3"}, "available": true, "description": "Basic"}
	}
	s.domain = "suite.test"
	s.records = []map[string]any{{"id": 11, "type": "NS", "name": "@", "data": "ns1.digitalocean.com", "ttl": 1800}, {"id": 12, "type": "TXT", "name": "@", "data": "v=spf1 -all", "ttl": 1800}}
	for i, slug := range []string{"debian-12-x64", "ubuntu-24-04-x64"} {
		s.images = append(s.images, map[string]any{"id": 7555620 + i, "name": "12 x64", "distribution": "Debian", "slug": slug, "public": true, "regions": []string{"fra1", "nyc3"},
			"created_at": "2026-05-04T22:23:02Z", "type": "base", "min_disk_size": 7, "size_gigabytes": 2.34, "status": "available"})
	}
	s.images = append(s.images, map[string]any{"id": 9000001, "name": "ours", "distribution": "Debian", "slug": nil, "public": false, "regions": []string{"fra1"},
		"created_at": "2026-06-04T22:23:02Z", "type": "custom", "min_disk_size": 40, "size_gigabytes": 9.1, "status": "available"})
	s.vpcs[simVPC] = map[string]any{"id": simVPC, "urn": "do:vpc:" + simVPC, "name": "apps", "region": "fra1", "ip_range": "10.10.10.0/24", "default": false, "created_at": "2026-03-13T19:20:47Z"}
	s.keys[simKey] = map[string]any{"id": 512189, "fingerprint": simKey, "public_key": "ssh-rsa AAAA", "name": "desk"}
	return s
}

const (
	simVPC = "5a4981aa-9653-4bd1-bef5-d6bff52042e4"
	simKey = "3b:16:bf:e4:8b:00:8b:b8:59:8c:a9:d3:f0:19:45:fa"
)

// routes says which scope each call needs.
func (s *sim) routes() http.Handler {
	m := http.NewServeMux()
	for _, r := range []struct {
		pattern, scope string
		do             func(*sim, *call)
	}{
		{"GET /v2/account", "account:read", func(s *sim, c *call) { c.answer(200, map[string]any{"account": s.account}) }},
		{"GET /v2/regions", "regions:read", func(s *sim, c *call) { c.list("regions", sorted(s.regions)) }},
		{"GET /v2/sizes", "sizes:read", func(s *sim, c *call) { c.list("sizes", sorted(s.sizes)) }},
		{"GET /v2/images", "image:read", (*sim).listImages},
		{"GET /v2/images/{id}", "image:read", (*sim).getImage},
		{"GET /v2/vpcs/{id}", "vpc:read", func(s *sim, c *call) { c.one("vpc", s.vpcs[c.id()]) }},
		{"GET /v2/account/keys/{id}", "ssh_key:read", (*sim).getKey},
		{"GET /v2/droplets", "droplet:read", (*sim).listDroplets},
		{"POST /v2/droplets", "droplet:create", (*sim).createDroplet},
		{"GET /v2/droplets/{id}", "droplet:read", (*sim).getDroplet},
		{"DELETE /v2/droplets/{id}", "droplet:delete", (*sim).deleteDroplet},
		{"GET /v2/droplets/{id}/actions", "droplet:read", (*sim).listActions},
		{"GET /v2/droplets/{id}/actions/{action}", "droplet:read", (*sim).getAction},
		{"POST /v2/droplets/{id}/actions", "droplet:update", (*sim).actDroplet},
		{"GET /v2/volumes", "block_storage:read", (*sim).listVolumes},
		{"POST /v2/volumes", "block_storage:create", (*sim).createVolume},
		{"GET /v2/volumes/{id}", "block_storage:read", (*sim).getVolume},
		{"DELETE /v2/volumes/{id}", "block_storage:delete", (*sim).deleteVolume},
		{"GET /v2/snapshots", scopeSnapshot, (*sim).listSnapshots},
		{"POST /v2/volumes/{id}/snapshots", scopeMakeSnapshot, (*sim).createSnapshot},
		{"GET /v2/snapshots/{id}", scopeSnapshot, (*sim).getSnapshot},
		{"DELETE /v2/snapshots/{id}", scopeDeleteSnapshot, (*sim).deleteSnapshot},
		{"POST /v2/volumes/{id}/actions", "block_storage_action:create", (*sim).actVolume},
		{"GET /v2/firewalls", "firewall:read", func(s *sim, c *call) { c.list("firewalls", sorted(s.firewalls)) }},
		{"POST /v2/firewalls", "firewall:create", (*sim).createFirewall},
		{"GET /v2/firewalls/{id}", "firewall:read", func(s *sim, c *call) { c.one("firewall", s.firewalls[c.id()]) }},
		{"DELETE /v2/firewalls/{id}", "firewall:delete", (*sim).deleteFirewall},
		{"GET /v2/domains/{id}", "domain:read", func(s *sim, c *call) {
			if s.domain != c.id() {
				c.notFound()
				return
			}
			c.answer(200, map[string]any{"domain": map[string]any{"name": s.domain, "ttl": 1800, "zone_file": ""}})
		}},
		{"GET /v2/domains/{id}/records", "domain:read", (*sim).listRecords},
		{"POST /v2/domains/{id}/records", "domain:create", (*sim).writeRecord},
		{"PUT /v2/domains/{id}/records/{record}", "domain:update", (*sim).writeRecord},
		{"DELETE /v2/domains/{id}/records/{record}", "domain:delete", (*sim).deleteRecord},
		{"GET /v2/tags", "tag:read", (*sim).listTags},
		{"POST /v2/tags", "tag:create", (*sim).createTag},
		{"GET /v2/tags/{id}", "tag:read", (*sim).getTag},
		{"DELETE /v2/tags/{id}", "tag:delete", (*sim).deleteTag},
		{"POST /v2/tags/{id}/resources", "tag:create", (*sim).tagResources},
		{"DELETE /v2/tags/{id}/resources", "tag:delete", (*sim).tagResources},
	} {
		m.HandleFunc(r.pattern, func(w http.ResponseWriter, req *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			c := &call{w: w, r: req}
			s.requests = append(s.requests, req.Method+" "+req.URL.Path)
			switch {
			case req.Header.Get("Authorization") != "Bearer "+s.token:
				c.refuse(401, "Unauthorized", "Unable to authenticate you")
			case s.lacks[r.scope]:
				c.refuse(403, "Forbidden", "You are not authorized to perform this operation")
			case (req.Method == http.MethodPost || req.ContentLength > 0) && json.NewDecoder(req.Body).Decode(&c.body) != nil:
				c.refuse(400, "bad_request", "error parsing request body")
			default:
				r.do(s, c)
			}
		})
	}
	return m
}

// call is one call with its answer.
type call struct {
	w    http.ResponseWriter
	r    *http.Request
	body map[string]any
}

func (c *call) id() string { return c.r.PathValue("id") }

func (c *call) answer(status int, v any) {
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.Header().Set("ratelimit-limit", "5000")
	c.w.Header().Set("ratelimit-remaining", "4816")
	c.w.Header().Set("ratelimit-reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
	c.w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(c.w).Encode(v)
	}
}

func (c *call) refuse(status int, id, message string) {
	c.answer(status, map[string]any{"id": id, "message": message, "request_id": "4d9d8375-3c56-4925-a3e7-eb137fed17e9"})
}

func (c *call) notFound() {
	c.refuse(404, "not_found", "The resource you were accessing could not be found.")
}
func (c *call) unprocessable(message string) { c.refuse(422, "unprocessable_entity", message) }
func (c *call) one(name string, v map[string]any) {
	if v == nil {
		c.notFound()
		return
	}
	c.answer(200, map[string]any{name: v})
}

// list returns one page, with links to the others.
func (c *call) list(name string, all []map[string]any) {
	q := c.r.URL.Query()
	page, size := atoi(q.Get("page"), 1), atoi(q.Get("per_page"), 20)
	if page < 1 || size < 1 || size > 200 {
		c.refuse(400, "bad_request", "per_page must be between 1 and 200")
		return
	}
	from, to := min((page-1)*size, len(all)), min(page*size, len(all))
	links := map[string]any{}
	if last := max((len(all)+size-1)/size, 1); last > 1 {
		at := func(n int) string {
			q.Set("page", strconv.Itoa(n))
			return "https://api.digitalocean.com" + c.r.URL.Path + "?" + q.Encode()
		}
		p := map[string]any{}
		if page < last {
			p["next"], p["last"] = at(page+1), at(last)
		}
		if page > 1 {
			p["first"], p["prev"] = at(1), at(page-1)
		}
		links["pages"] = p
	}
	part := all[from:to]
	if part == nil {
		part = []map[string]any{}
	}
	c.answer(200, map[string]any{name: part, "links": links, "meta": map[string]any{"total": len(all)}})
}

func atoi(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}

func sorted(m map[string]map[string]any) []map[string]any {
	out := make([]map[string]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

func (s *sim) uuid() string {
	s.serial++
	return fmt.Sprintf("bb253a28-0a9c-4d3a-9a4c-%012d", s.serial)
}

func (s *sim) listImages(c *call) {
	q := c.r.URL.Query()
	var out []map[string]any
	for _, i := range s.images {
		if q.Get("type") == "distribution" && i["type"] != "base" || q.Get("private") == "true" && i["public"] != false {
			continue
		}
		out = append(out, i)
	}
	c.list("images", out)
}

// imageOf finds an image by its slug or its number.
func (s *sim) imageOf(id any) map[string]any {
	for _, b := range s.baked {
		if n, ok := id.(float64); (ok && int(n) == b.action || id == strconv.Itoa(b.action)) && time.Now().After(b.done) {
			return b.image()
		}
	}
	for _, i := range s.images {
		if n, ok := id.(float64); ok && int(n) == i["id"] || id == i["slug"] && id != nil || id == strconv.Itoa(i["id"].(int)) {
			return i
		}
	}
	return nil
}

func (s *sim) getImage(c *call) { c.one("image", s.imageOf(c.id())) }

func (s *sim) keyOf(id string) map[string]any {
	for fingerprint, k := range s.keys {
		if id == fingerprint || id == strconv.Itoa(k["id"].(int)) {
			return k
		}
	}
	return nil
}

func (s *sim) getKey(c *call) { c.one("ssh_key", s.keyOf(c.id())) }

var simTag = regexp.MustCompile(`^[a-zA-Z0-9:_-]{1,255}$`)

// useTag makes a tag where there is none, and returns its canonical form: the case in which it came first stays.
func (s *sim) useTag(name string) (string, bool) {
	if !simTag.MatchString(name) {
		return "", false
	}
	low := strings.ToLower(name)
	if _, ok := s.tags[low]; !ok {
		s.tags[low] = name
	}
	return s.tags[low], true
}

func (s *sim) tagJSON(name string) map[string]any {
	n := 0
	for _, d := range s.droplets {
		if slices.Contains(d.tags, name) {
			n++
		}
	}
	return map[string]any{"name": name, "resources": map[string]any{"count": n, "droplets": map[string]any{"count": n}, "volumes": map[string]any{"count": 0}}}
}

func (s *sim) listTags(c *call) {
	var out []map[string]any
	for _, low := range slices.Sorted(maps.Keys(s.tags)) {
		out = append(out, s.tagJSON(s.tags[low]))
	}
	c.list("tags", out)
}

func (s *sim) createTag(c *call) {
	name, _ := c.body["name"].(string)
	if _, ok := s.tags[strings.ToLower(name)]; ok {
		c.unprocessable("Tag name is already taken")
		return
	}
	t, ok := s.useTag(name)
	if !ok {
		c.unprocessable("Tag name is invalid")
		return
	}
	c.answer(201, map[string]any{"tag": s.tagJSON(t)})
}

func (s *sim) getTag(c *call) {
	if s.tags[strings.ToLower(c.id())] != c.id() {
		c.notFound()
		return
	}
	c.answer(200, map[string]any{"tag": s.tagJSON(c.id())})
}

// deleteTag takes a tag off everything that carries it.
func (s *sim) deleteTag(c *call) {
	if s.tags[strings.ToLower(c.id())] != c.id() {
		c.notFound()
		return
	}
	delete(s.tags, strings.ToLower(c.id()))
	for _, d := range s.droplets {
		d.tags = slices.DeleteFunc(d.tags, func(t string) bool { return t == c.id() })
	}
	for _, f := range s.firewalls {
		f["tags"] = slices.DeleteFunc(f["tags"].([]string), func(t string) bool { return t == c.id() })
	}
	c.answer(204, nil)
}

// tagResources puts a tag on droplets, or takes it off them.
func (s *sim) tagResources(c *call) {
	if s.tags[strings.ToLower(c.id())] != c.id() {
		c.notFound()
		return
	}
	if s.lacks["droplet:update"] {
		c.refuse(403, "Forbidden", "You are not authorized to perform this operation")
		return
	}
	for _, one := range list(c.body["resources"]) {
		r, _ := one.(map[string]any)
		d := s.droplets[atoi(text(r["resource_id"]), 0)]
		if d == nil || r["resource_type"] != "droplet" {
			c.unprocessable("invalid resource")
			return
		}
		d.tags = slices.DeleteFunc(d.tags, func(t string) bool { return t == c.id() })
		if c.r.Method == http.MethodPost {
			d.tags = append(d.tags, c.id())
		}
	}
	c.answer(204, nil)
}

// behind names the firewalls that are on a droplet, by their tags.
func (s *sim) behind(id string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.firewalls {
		if d := s.droplets[atoi(id, 0)]; d != nil && slices.ContainsFunc(f["tags"].([]string), func(t string) bool { return slices.Contains(d.tags, t) }) {
			out = append(out, text(f["name"]))
		}
	}
	return out
}

// left names all that is in the account; the tag of an installation stays there, one for all its machines.
func (s *sim) left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for id := range s.droplets {
		out = append(out, fmt.Sprint("droplet ", id))
	}
	for id := range s.volumes {
		out = append(out, "volume "+id)
	}
	for _, b := range s.baked {
		out = append(out, fmt.Sprint("image ", b.action))
	}
	for id := range s.copies {
		out = append(out, "snapshot "+id)
	}
	for id := range s.firewalls {
		out = append(out, "firewall "+id)
	}
	for _, r := range s.records {
		if r["id"].(int) > 100 {
			out = append(out, fmt.Sprint("record ", r["type"], " ", r["name"]))
		}
	}
	for _, t := range s.tags {
		if !strings.HasPrefix(t, "muster-installation:") && !slices.Contains(s.stale, t) {
			out = append(out, "tag "+t)
		}
	}
	return out
}

// serve returns the address of a simulated account, which is exchanged by what it is handed.
func serve(t *testing.T, wrap func(http.Handler) http.Handler, now func() *sim) string {
	t.Helper()
	h := wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now().routes().ServeHTTP(w, r) }))
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}
