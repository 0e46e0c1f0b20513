package openstacktest

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What every cloud has from its beginning.
const (
	User, Password     = "muster", "correct horse"
	Project, ProjectID = "acme", "3f1c5c2e8c8d4f6f9a3de3c2b0a1f4e5"
	Credential, Secret = "0d5f8c1ab0c94e15a3c7b1f2d3e4f5a6", "battery staple"
	Region             = "RegionOne"
	defaultGroup       = "default"
)

// Cloud is one OpenStack cloud with one project: what there is, and what tests see of it and do to it. Its services answer for it over HTTP.
type Cloud struct {
	mu    sync.Mutex
	next  int
	build time.Duration

	tokens  map[string]time.Time
	servers map[string]*server
	ports   map[string]*port
	ips     map[string]*floating
	groups  map[string]*group
	volumes map[string]*volume
	sets    []*recordset
	jobs    map[string]*dnsJob

	// How it behaves; see With.
	TokenLife time.Duration
	Revoked   bool        // the next call with a token is refused, once
	Revokes   func() bool // asked at each call with a token whether to refuse it, and all tokens with it
	Roles     []string
	Services  []string // in the catalog
	Overtaken int      // so many deletions are forgotten, since the server's build fails just then
	PageSize  int
	Limits    Limits
	Used      Limits // by others of the project
	Fault     string // what happens to servers that are built
	Forbidden string // a call that policy does not allow, such as "POST /servers"
	Keeps     bool   // Nova fails to delete volumes with their servers
	Routed    bool   // the private networks have a router to the external one
	Images    []Image
	Flavors   []Flavor
	Networks  []Network
	Zones     map[string]bool // whether they are available
	NoQuotas  bool            // Neutron does not tell details of quotas
	// RackConnect is what its automation comes to, such as DEPLOYED; "" where the account has none.
	RackConnect string
	rackspace   bool
	DiskZones   []string // Cinder's zones, which are one's own besides the one that all zones share
	Bus         string   // how Nova names devices: vd, sd or xvd
	NoDisks     bool     // volumes can't be created
	SpoilCopies int      // so many copies of volumes end in error
	// SpoilDeletes is how many deletions of volumes end in error.
	SpoilDeletes int
	Lag          time.Duration // of lists of servers; one server by its id is known at once
	Tells        time.Duration // how long after Neutron has given a floating IP Nova tells of it
	Secondary    bool          // the DNS zone is a copy of another's
	Records      int           // that the DNS domain may have, with Rackspace; 0 for 500
	Twice        func()        // called, once, before a group is made
}

// Limits of a project; below 0 there is none.
type Limits struct {
	Servers, Cores, MemoryMB, Volumes, VolumeGB, Floating, Groups, Ports int
}

// Flavor is one of Nova's.
type Flavor struct {
	ID, Name       string
	CPU, RAM, Disk int
	Ephemeral      int
}

// Image is one of Glance's.
type Image struct {
	ID, Name, Status string
	MinDisk, MinRAM  int
	Size             int64
	Made             time.Time

	properties map[string]string // of an image that was made of a server
	ready      time.Time         // when it can be used
}

// Network is one of Neutron's.
type Network struct {
	ID, Name, Prefix string // such as 10.1.0.
	External, Open   bool   // Open: its ports are not secured
	Subnets          []string
}

// New returns a cloud without servers.
func New() *Cloud {
	c := &Cloud{build: 2 * time.Millisecond, Tells: 30 * time.Millisecond, tokens: map[string]time.Time{}, servers: map[string]*server{}, ports: map[string]*port{}, ips: map[string]*floating{},
		groups: map[string]*group{}, volumes: map[string]*volume{}, jobs: map[string]*dnsJob{},
		TokenLife: time.Hour, Roles: []string{"member", "reader"}, Services: []string{"compute", "network", "image", "volumev3", "dns"}, PageSize: 3, Routed: true,
		Limits:    Limits{Servers: 20, Cores: 40, MemoryMB: 51200, Volumes: 20, VolumeGB: 1000, Floating: 20, Groups: 10, Ports: 100},
		DiskZones: []string{"az1", "az2"}, Bus: "vd",
		Zones: map[string]bool{"az1": true, "az2": true, "az3": false},
		Flavors: []Flavor{{"1", "m1.small", 2, 2048, 20, 0}, {"2", "m1.large", 4, 8192, 80, 0}, {"3", "v1.small", 2, 2048, 0, 0}, {"4", "m1.tiny", 1, 512, 1, 0},
			{"5", "m1.huge", 64, 262144, 400, 0}},
	}
	for i, n := range []string{"private", "second", "twin", "twin", "bare", "open"} {
		c.Networks = append(c.Networks, Network{ID: newID(), Name: n, Prefix: fmt.Sprintf("10.%d.0.", i), Subnets: []string{newID()}, Open: n == "open"})
	}
	c.Networks[4].Subnets = nil
	c.Networks = append(c.Networks, Network{ID: newID(), Name: "public", Prefix: "203.0.113.", External: true, Subnets: []string{newID()}})
	c.groups[newID()] = &group{name: defaultGroup, description: "Default security group", rules: map[string]object{}, made: time.Now()}
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, n := range []string{"debian-12", "ubuntu-24.04", "rocky-9", "debian-12", "big", "hungry", "half"} {
		image := Image{ID: newID(), Name: n, Status: "active", Size: 700 << 20, MinDisk: 3, Made: made.AddDate(0, 0, i)}
		switch n {
		case "big":
			image.MinDisk = 100
		case "hungry":
			image.MinRAM = 65536
		case "half":
			image.Status = "queued"
		}
		c.Images = append(c.Images, image)
	}
	return c
}

// With changes how the cloud behaves.
func (c *Cloud) With(change func(*Cloud)) { c.mu.Lock(); defer c.mu.Unlock(); change(c) }

// Left names all that was made and is still there.
func (c *Cloud) Left() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	var out []string
	for id, s := range c.servers {
		out = append(out, "server "+id+" "+s.name)
	}
	for id := range c.ports {
		out = append(out, "port "+id)
	}
	for id := range c.ips {
		out = append(out, "floating IP "+id)
	}
	for id, g := range c.groups {
		if g.name != defaultGroup {
			out = append(out, "security group "+id+" "+g.name)
		}
	}
	for id := range c.volumes {
		out = append(out, "volume "+id)
	}
	for _, i := range c.Images {
		if i.properties != nil {
			out = append(out, "image "+i.ID+" "+i.Name)
		}
	}
	for _, r := range c.sets {
		if !r.foreign && r.going == 0 {
			out = append(out, "records "+r.kind+" "+r.name)
		}
	}
	slices.Sort(out)
	return out
}

// Handler answers for all services, each below a path of its own.
func (c *Cloud) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /identity/v3/auth/tokens", c.authenticate)
	nova{c}.routes(mux, "/compute/v2.1")
	neutron{c}.routes(mux)
	glance{c}.routes(mux)
	cinder{c}.routes(mux)
	designate{c}.routes(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 Not Found", http.StatusNotFound) })
	return mux
}

// guarded lets calls in whose token is good, one at a time.
func (c *Cloud) guarded(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		until, ok := c.tokens[r.Header.Get("X-Auth-Token")]
		refused := c.Revoked || c.Revokes != nil && c.Revokes()
		if !ok || time.Now().After(until) || refused {
			if refused {
				clear(c.tokens)
			}
			c.Revoked = false
			w.Header().Set("WWW-Authenticate", "Keystone uri=\"http://"+r.Host+"/identity\"")
			keystoneError(w, http.StatusUnauthorized, "The request you have made requires authentication.")
			return
		}
		if method, path, _ := strings.Cut(c.Forbidden, " "); c.Forbidden != "" && r.Method == method && strings.Contains(r.URL.Path, path) {
			novaError(w, http.StatusForbidden, "Policy doesn't allow os_compute_api:servers:create to be performed.")
			return
		}
		if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
			novaError(w, http.StatusUnsupportedMediaType, "Unsupported content type.")
			return
		}
		c.tick()
		do(w, r)
	}
}

// hasVolumes reports whether there is a volume service.
func (c *Cloud) hasVolumes() bool {
	return slices.Contains(c.Services, "volumev3") || slices.Contains(c.Services, "volume")
}

// authenticate is Keystone's.
func (c *Cloud) authenticate(w http.ResponseWriter, r *http.Request) {
	type named struct{ ID, Name string }
	type domained struct {
		ID, Name string
		Domain   named
	}
	var in struct {
		Auth struct {
			Identity struct {
				Methods  []string
				Password struct {
					User struct {
						domained
						Password string
					}
				}
				Credential struct {
					ID, Name, Secret string
					User             domained
				} `json:"application_credential"`
			}
			Scope struct{ Project *domained }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Auth.Identity.Methods) != 1 {
		keystoneError(w, http.StatusBadRequest, "Expecting to find auth in request body. The server could not comply with the request since it is either malformed or otherwise incorrect.")
		return
	}
	home := func(d named) bool { return d.ID == "default" || d.Name == "Default" }
	ok := false
	switch in.Auth.Identity.Methods[0] {
	case "password":
		u, p := in.Auth.Identity.Password.User, in.Auth.Scope.Project
		ok = u.Name == User && home(u.Domain) && u.Password == Password && p != nil && (p.ID == ProjectID || p.Name == Project && home(p.Domain))
	case "application_credential":
		k := in.Auth.Identity.Credential
		if k.ID != "" && k.ID != Credential {
			keystoneError(w, http.StatusNotFound, "Could not find Application Credential: "+k.ID+".")
			return
		}
		ok = k.Secret == Secret && in.Auth.Scope.Project == nil && (k.ID == Credential || k.Name == "deploy" && k.User.Name == User && home(k.User.Domain))
	}
	if !ok {
		keystoneError(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	token := "gAAAAA" + strings.ReplaceAll(newID(), "-", "")
	until := time.Now().Add(c.TokenLife)
	c.tokens[token] = until
	var roles, catalog []any
	for _, name := range c.Roles {
		roles = append(roles, object{"id": newID(), "name": name})
	}
	paths := map[string]string{"compute": "/compute/v2.1", "network": "/network", "image": "/image", "volumev3": "/volume/v3/" + ProjectID, "dns": "/dns"}
	for _, kind := range c.Services {
		var at []any
		for _, region := range []string{"RegionTwo", Region} {
			for _, side := range []string{"admin", "internal", "public"} {
				address := "http://" + r.Host + paths[kind]
				if region != Region || side == "admin" {
					address = "http://127.0.0.1:1" + paths[kind] // no one is to go there
				}
				at = append(at, object{"id": newID(), "interface": side, "region": region, "region_id": region, "url": address})
			}
		}
		catalog = append(catalog, object{"id": newID(), "type": kind, "name": kind, "endpoints": at})
	}
	w.Header().Set("X-Subject-Token", token)
	answer(w, http.StatusCreated, object{"token": object{"methods": in.Auth.Identity.Methods, "expires_at": until.UTC().Format("2006-01-02T15:04:05.000000Z"),
		"issued_at": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), "user": object{"id": newID(), "name": User, "domain": object{"id": "default", "name": "Default"}},
		"project": object{"id": ProjectID, "name": Project, "domain": object{"id": "default", "name": "Default"}}, "roles": roles, "catalog": catalog}})
}

type object = map[string]any

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}

func keystoneError(w http.ResponseWriter, status int, message string) {
	answer(w, status, object{"error": object{"code": status, "message": message, "title": http.StatusText(status)}})
}

// novaError is also how Cinder says no.
func novaError(w http.ResponseWriter, status int, message string) {
	kind := map[int]string{400: "badRequest", 401: "unauthorized", 403: "forbidden", 404: "itemNotFound", 409: "conflictingRequest", 413: "overLimit", 415: "badMediaType"}[status]
	if kind == "" {
		kind = "computeFault"
	}
	answer(w, status, object{kind: object{"code": status, "message": message}})
}

func neutronError(w http.ResponseWriter, status int, kind, message string) {
	answer(w, status, object{"NeutronError": object{"type": kind, "message": message, "detail": ""}})
}

// page answers with a part of a list, and with a link to the next part as Nova and Neutron give it.
func (c *Cloud) page(w http.ResponseWriter, r *http.Request, key string, all []object) {
	slices.SortFunc(all, func(a, b object) int { return strings.Compare(a["id"].(string), b["id"].(string)) })
	q := r.URL.Query()
	from := 0
	if marker := q.Get("marker"); marker != "" {
		i := slices.IndexFunc(all, func(o object) bool { return o["id"] == marker })
		if i < 0 && strings.HasPrefix(r.URL.Path, "/network") {
			neutronError(w, http.StatusNotFound, "HTTPNotFound", marker+" could not be found.")
			return
		}
		if i < 0 {
			novaError(w, http.StatusBadRequest, "marker ["+marker+"] not found")
			return
		}
		from = i + 1
	}
	limit := c.PageSize
	if asked, err := strconv.Atoi(q.Get("limit")); err == nil && asked < limit {
		limit = asked
	}
	to := min(from+limit, len(all))
	part := append([]object{}, all[from:to]...)
	out := object{key: part}
	if to < len(all) {
		q.Set("marker", all[to-1]["id"].(string))
		next := r.URL.Path + "?" + q.Encode()
		if key == "images" {
			out["next"] = strings.TrimPrefix(next, "/image")
		} else {
			out[key+"_links"] = []object{{"rel": "next", "href": "http://" + r.Host + next}}
		}
	}
	answer(w, http.StatusOK, out)
}

// matches filters by the query as Neutron does: by any attribute.
func matches(o object, q url.Values, names ...string) bool {
	for _, name := range names {
		if want, ok := q[name]; ok && fmt.Sprint(o[name]) != want[0] {
			return false
		}
	}
	return true
}

// unknown returns a key that is not among those that are known, or "".
func unknown(has map[string]json.RawMessage, known ...string) string {
	for k := range has {
		if !slices.Contains(known, k) {
			return k
		}
	}
	return ""
}
