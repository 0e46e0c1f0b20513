package joyent

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/providers/joyent/internal/cloudapi"
	"muster/providers/providertest"
)

// cloud is a CloudAPI at the level of HTTP: it checks signatures and what it is asked for, and answers in its words. Machines change late.
type cloud struct {
	server *httptest.Server

	mu       sync.Mutex
	next     int
	machines map[string]*standing
	rules    map[string]cloudapi.Rule
	packages []cloudapi.Package
	images   []cloudapi.Image
	networks []cloudapi.Network
	users    map[string][]string // subusers, and what they may
	seen     []string
	lag      time.Duration // of lists; one machine by its id, and names that are taken, are known at once

	// What goes wrong.
	refuse     *answer
	refuseNew  *answer
	fails      bool // machines end as failed
	unapproved bool
	skew       time.Duration
	uncounted  bool // no X-Resource-Count
}

type standing struct {
	cloudapi.Machine
	due  time.Time
	then string
}

type answer struct {
	status        int
	code, message string
}

const takes = 10 * time.Millisecond

var (
	rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
		k, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		return k
	})
	ecdsaKey = sync.OnceValue(func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return k
	})
)

func pemOf(key any) string {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func fingerprint(key crypto.Signer) string {
	public, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		panic(err)
	}
	return ssh.FingerprintLegacyMD5(public)
}

func (c *cloud) uuid() string {
	c.next++
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", c.next, c.next)
}

func newCloud(t *testing.T, faults *providertest.Faults) *cloud {
	c := &cloud{machines: map[string]*standing{}, rules: map[string]cloudapi.Rule{}, users: map[string][]string{"ops": {"all"}, "reader": {"getaccount"}, "half": {"getaccount", "listmachines"}}}
	c.packages = []cloudapi.Package{{ID: c.uuid(), Name: "g1.small", Memory: 2048, Disk: 51200, VCPUs: 1}, {ID: c.uuid(), Name: "g1.tiny", Memory: 256, Disk: 5120}, {ID: c.uuid(), Name: "k1", Memory: 4096, Brand: "kvm"}}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c.images = []cloudapi.Image{
		{ID: c.uuid(), Name: "debian-12", Version: "20260101", OS: "linux", Type: "lx-dataset", State: "active", Published: at},
		{ID: c.uuid(), Name: "debian-12", Version: "20260301", OS: "linux", Type: "lx-dataset", State: "active", Published: at.AddDate(0, 2, 0)},
		{ID: c.uuid(), Name: "debian-12", Version: "20260501", OS: "linux", Type: "lx-dataset", State: "disabled", Published: at.AddDate(0, 4, 0)},
		{ID: c.uuid(), Name: "base-64", Version: "23.4", OS: "smartos", Type: "zone-dataset", State: "active", Published: at},
		{ID: c.uuid(), Name: "big", Version: "1", OS: "linux", State: "active"}, {ID: c.uuid(), Name: "virtual", Version: "1", OS: "linux", State: "active"}, {ID: c.uuid(), Name: "old", Version: "1", OS: "linux", State: "disabled"},
	}
	c.images[4].Requirements.MinMemory, c.images[5].Requirements.Brand = 8192, "bhyve"
	c.networks = []cloudapi.Network{{ID: c.uuid(), Name: "Joyent-SDC-Public", Public: true}, {ID: c.uuid(), Name: "inside"}, {ID: c.uuid(), Name: "twice"}, {ID: c.uuid(), Name: "twice"}}
	api := http.Handler(http.HandlerFunc(c.serve))
	if faults != nil {
		api = faults.Wrap(api)
	}
	c.server = httptest.NewServer(api)
	t.Cleanup(c.server.Close)
	return c
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(map[string]string{"code": a.code, "message": a.message})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func notFound(what string) answer { return answer{404, "ResourceNotFound", what + " not found"} }

var authorization = regexp.MustCompile(`^Signature keyId="/acme/(?:users/([a-z]+)/)?keys/([^"]+)",algorithm="([a-z0-9-]+)",headers="date",signature="([^"]+)"$`)

// signed checks the signature, and returns what its user may; nil is no one.
func (c *cloud) signed(r *http.Request) []string {
	m := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	at, err := http.ParseTime(r.Header.Get("Date"))
	if m == nil || err != nil || time.Since(at.Add(c.skew)).Abs() > 300*time.Second {
		return nil
	}
	signature, err := base64.StdEncoding.DecodeString(m[4])
	if err != nil {
		return nil
	}
	sum := sha256.Sum256([]byte("date: " + r.Header.Get("Date")))
	switch {
	case m[3] == "rsa-sha256" && (m[2] == fingerprint(rsaKey()) || m[2] == "laptop") && rsa.VerifyPKCS1v15(&rsaKey().PublicKey, crypto.SHA256, sum[:], signature) == nil:
	case m[3] == "ecdsa-sha256" && m[2] == fingerprint(ecdsaKey()) && ecdsa.VerifyASN1(&ecdsaKey().PublicKey, sum[:], signature):
	default:
		return nil
	}
	if m[1] == "" {
		return []string{"all"}
	}
	return c.users[m[1]]
}

func (c *cloud) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, r.Method+" "+r.URL.Path)
	for _, m := range c.machines {
		if m.then != "" && time.Now().After(m.due) {
			c.become(m)
		}
	}
	may := c.signed(r)
	action := map[string]string{"": "getaccount", "machines": "listmachines", "fwrules": "listfirewallrules", "packages": "listpackages", "images": "listimages", "networks": "listnetworks"}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	kind, id := "", ""
	if len(parts) > 1 {
		kind = parts[1]
	}
	if len(parts) > 2 {
		id = parts[2]
	}
	switch {
	case !strings.Contains(r.Header.Get("Accept-Version"), "~8"):
		answer{449, "InvalidVersion", "Retry with another version"}.write(w)
	case parts[0] != "acme":
		answer{401, "InvalidCredentials", "Account or user does not exist"}.write(w)
	case may == nil:
		answer{401, "InvalidCredentials", "The signature we calculated does not match the one you sent"}.write(w)
	case may[0] != "all" && !slices.Contains(may, action[kind]):
		answer{403, "NotAuthorized", "None of your active roles are present on the resource."}.write(w)
	case c.refuse != nil:
		c.refuse.write(w)
	case kind == "":
		reply(w, 200, map[string]any{"login": "acme", "approved_for_provisioning": !c.unapproved})
	case kind == "packages":
		reply(w, 200, c.packages)
	case kind == "images" && r.URL.Query().Get("state") == "all":
		reply(w, 200, c.images)
	case kind == "networks":
		reply(w, 200, c.networks)
	case kind == "machines" && id == "" && r.Method == http.MethodGet:
		c.list(w, r)
	case kind == "machines" && id == "" && r.Method == http.MethodPost:
		c.create(w, r)
	case kind == "machines":
		c.machine(w, r, id)
	case kind == "fwrules" && id == "" && r.Method == http.MethodGet:
		rules := []cloudapi.Rule{}
		for _, rule := range c.rules {
			rules = append(rules, rule)
		}
		reply(w, 200, rules)
	case kind == "fwrules" && id == "" && r.Method == http.MethodPost:
		c.rule(w, r)
	case kind == "fwrules" && r.Method == http.MethodDelete && c.rules[id].ID != "":
		delete(c.rules, id)
		w.WriteHeader(204)
	default:
		notFound(r.URL.Path).write(w)
	}
}

// become has a machine be what it is on its way to.
func (c *cloud) become(m *standing) {
	was := m.State
	m.State, m.then = m.then, ""
	if m.State == "running" && was == "provisioning" {
		c.next++
		m.PrimaryIP, m.IPs = fmt.Sprintf("198.51.100.%d", c.next%250), []string{fmt.Sprintf("198.51.100.%d", c.next%250), fmt.Sprintf("10.1.0.%d", c.next%250)}
		m.Metadata[metaStarted] = "yes"
	}
}

func (c *cloud) list(w http.ResponseWriter, r *http.Request) {
	var fit []cloudapi.Machine
	for _, m := range c.machines {
		ok := m.State != "deleted" && time.Since(m.Created) >= c.lag
		for k, v := range r.URL.Query() {
			if tag, is := strings.CutPrefix(k, "tag."); is && fmt.Sprint(m.Tags[tag]) != v[0] {
				ok = false
			}
		}
		if ok {
			fit = append(fit, m.Machine)
		}
	}
	slices.SortFunc(fit, func(a, b cloudapi.Machine) int { return strings.Compare(a.ID, b.ID) })
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	offset, err2 := strconv.Atoi(r.URL.Query().Get("offset"))
	if err != nil || err2 != nil || limit < 1 || limit > 1000 {
		answer{409, "InvalidArgument", "limit is invalid"}.write(w)
		return
	}
	if !c.uncounted {
		limit = min(limit, 3) // it may give less than it is asked for
		w.Header().Set("X-Resource-Count", strconv.Itoa(len(fit)))
	}
	page := fit[min(offset, len(fit)):min(offset+limit, len(fit))]
	reply(w, 200, append([]cloudapi.Machine{}, page...))
}

var nameForm = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,188}$`)

func (c *cloud) create(w http.ResponseWriter, r *http.Request) {
	var fields map[string]any
	if json.NewDecoder(r.Body).Decode(&fields) != nil {
		answer{400, "BadRequest", "Invalid JSON"}.write(w)
		return
	}
	if c.refuseNew != nil {
		c.refuseNew.write(w)
		return
	}
	name, _ := fields["name"].(string)
	m := &standing{Machine: cloudapi.Machine{ID: c.uuid(), Name: name, Brand: "lx", State: "provisioning", Created: time.Now(), Metadata: map[string]any{}, Tags: map[string]any{}}, due: time.Now().Add(takes), then: "running"}
	m.Firewall, _ = fields["firewall_enabled"].(bool)
	m.Package, _ = fields["package"].(string)
	m.Image, _ = fields["image"].(string)
	for k, v := range fields {
		if tag, ok := strings.CutPrefix(k, "tag."); ok {
			if strings.HasPrefix(tag, "triton.") {
				answer{409, "InvalidArgument", "Unrecognized special triton tag: " + tag}.write(w)
				return
			}
			m.Tags[tag] = v
		}
		if meta, ok := strings.CutPrefix(k, "metadata."); ok {
			m.Metadata[meta] = v
		}
	}
	if networks, ok := fields["networks"].([]any); ok {
		for _, n := range networks {
			m.Networks = append(m.Networks, fmt.Sprint(n))
		}
	}
	image, known := imageOf(c.images, m.Image)
	_, sized := packageOf(c.packages, m.Package)
	switch {
	case !nameForm.MatchString(name) || !sized || !uuidForm.MatchString(m.Package) || m.Metadata["user-script"] == nil:
		answer{409, "InvalidArgument", "Invalid VM parameters: package, name or metadata"}.write(w)
	case !known || image.State != "active" || !uuidForm.MatchString(m.Image):
		answer{404, "ResourceNotFound", "image not found"}.write(w)
	case slices.ContainsFunc(m.Networks, func(id string) bool {
		return !slices.ContainsFunc(c.networks, func(n cloudapi.Network) bool { return n.ID == id })
	}):
		answer{409, "InvalidArgument", "Invalid Networks"}.write(w)
	default:
		for _, other := range c.machines {
			if other.Name == name && other.State != "deleted" {
				answer{409, "InvalidArgument", "Invalid VM parameters: Invalid alias: Already taken by VM " + other.ID}.write(w)
				return
			}
		}
		if c.fails {
			m.then = "failed"
		}
		c.machines[m.ID] = m
		reply(w, 201, m.Machine)
	}
}

func (c *cloud) machine(w http.ResponseWriter, r *http.Request, id string) {
	m := c.machines[id]
	if m == nil {
		notFound("VM").write(w)
		return
	}
	part := func(to map[string]any) {
		var some map[string]string
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&some) != nil || len(some) == 0 {
			answer{409, "InvalidArgument", "nothing to set"}.write(w)
			return
		}
		for k, v := range some {
			to[k] = v
		}
		reply(w, 200, to)
	}
	switch action := r.URL.Query().Get("action"); {
	case strings.HasSuffix(r.URL.Path, "/tags") && m.State != "deleted":
		part(m.Tags)
	case strings.HasSuffix(r.URL.Path, "/metadata") && m.State != "deleted":
		part(m.Metadata)
	case strings.Contains(r.URL.Path, "/tags/") && r.Method == http.MethodDelete && m.State != "deleted":
		delete(m.Tags, path.Base(r.URL.Path))
		w.WriteHeader(204)
	case action == "disable_firewall" && m.State == "running":
		m.Firewall = false
		w.WriteHeader(202)
	case action == "enable_firewall" && m.State == "running":
		m.Firewall = true
		w.WriteHeader(202)
	case m.State == "deleted" && r.Method == http.MethodGet:
		reply(w, 410, m.Machine)
	case m.State == "deleted":
		answer{410, "ResourceNotFound", "VM is gone"}.write(w)
	case r.Method == http.MethodGet:
		reply(w, 200, m.Machine)
	case r.Method == http.MethodDelete:
		m.due, m.then = time.Now().Add(takes), "deleted"
		w.WriteHeader(204)
	case action == "stop" && m.State == "running":
		m.State, m.due, m.then = "stopping", time.Now().Add(takes), "stopped"
		w.WriteHeader(202)
	case action == "start" && m.State == "stopped":
		m.due, m.then = time.Now().Add(takes), "running"
		w.WriteHeader(202)
	default:
		answer{409, "InvalidState", "The machine is in state " + m.State}.write(w)
	}
}

var ruleForm = regexp.MustCompile(`^FROM (any|ip [0-9a-f.:]+|subnet [0-9a-f.:/]+|\((?:(?:ip|subnet) [0-9a-f.:/]+(?: OR )?)+\)|tag "[a-z-]+" = "[0-9a-f]+") TO tag "[a-z-]+" = "[0-9a-f]+" ALLOW ((tcp|udp) (PORT (all|[0-9]+)|PORTS [0-9]+ - [0-9]+)|icmp TYPE all)$`)

func (c *cloud) rule(w http.ResponseWriter, r *http.Request) {
	var rule cloudapi.Rule
	if json.NewDecoder(r.Body).Decode(&rule) != nil || !ruleForm.MatchString(rule.Rule) || len(rule.Description) > 255 {
		answer{409, "InvalidArgument", "rule does not parse: " + rule.Rule}.write(w)
		return
	}
	rule.ID = c.uuid()
	c.rules[rule.ID] = rule
	reply(w, 201, rule)
}
