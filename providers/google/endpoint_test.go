package google

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/providers/google/internal/discovery"
	"muster/providers/google/internal/gcp"
	"muster/providers/providertest"
)

const (
	testProject = "acme-prod"
	testAccount = "muster@acme-prod.iam.gserviceaccount.com"
	testZone    = "europe-west3-a"
	otherZone   = "europe-west3-b"
	links       = "https://www.googleapis.com/compute/v1/"
)

// cloud is a Compute API at the level of HTTP: it holds what it is asked for to the API's rules, and answers in its words. Operations end late.
type cloud struct {
	server *httptest.Server
	faults *providertest.Faults

	mu         sync.Mutex
	next       uint64
	tokens     map[string]bool
	instances  map[string]*gcp.Instance // by zone and name
	disks      map[string]*gcp.Disk     // by zone and name
	copies     map[string]*gcp.Snapshot
	spoil      int // so many snapshots fail
	firewalls  map[string]*gcp.Firewall
	managed    []*gcp.ManagedZone
	sets       []*gcp.RecordSet
	operations map[string]*operation
	requests   map[string]*operation // by request id
	looks      map[uint64]int        // at guest attributes
	zones      map[string]string     // and their status
	types      map[string]*gcp.MachineType
	images     map[string]*gcp.Image // by path
	networks   map[string]*gcp.Network
	subnets    map[string]string // by path, and their network
	quotas     map[string]float64
	everywhere float64
	granted    map[string]bool
	seen       []string      // method and path of every call
	lag        time.Duration // of lists over all zones; one machine by its name is known at once

	// What goes wrong.
	revoked     bool    // the key
	refuse      *answer // every call
	fails       *gcp.OperationErrorItem
	failsWith   int64
	refuseNew   *answer // calls that make machines
	unreachable string  // zone
	forgetful   bool    // of request ids
	mutes       bool    // guest attributes may not be read
	noIAM       bool    // the Resource Manager is not enabled
}

type operation struct {
	*gcp.Operation
	OperationType string `json:"operationType"`
	TargetLink    string `json:"targetLink"`
	Progress      int    `json:"progress"`

	due    time.Time
	effect func()
}

// answer is one that refuses.
type answer struct {
	status          int
	reason, message string
	details         []any
}

// takes is how long an operation takes.
const takes = 12 * time.Millisecond

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func newCloud(t *testing.T, faults *providertest.Faults) *cloud {
	c := &cloud{faults: faults, tokens: map[string]bool{}, instances: map[string]*gcp.Instance{}, disks: map[string]*gcp.Disk{},
		firewalls:  map[string]*gcp.Firewall{},
		copies:     map[string]*gcp.Snapshot{},
		operations: map[string]*operation{}, requests: map[string]*operation{}, looks: map[uint64]int{},
		zones:    map[string]string{testZone: "UP", otherZone: "UP", "us-east1-b": "UP"},
		types:    map[string]*gcp.MachineType{},
		images:   map[string]*gcp.Image{},
		networks: map[string]*gcp.Network{"default": {Name: "default", AutoCreateSubnetworks: true}, "own": {Name: "own"}},
		subnets:  map[string]string{"projects/" + testProject + "/regions/europe-west3/subnetworks/own-west3": "own"},
		quotas:   map[string]float64{"CPUS": 100, "N2_CPUS": 50, "INSTANCES": 1000, "IN_USE_ADDRESSES": 50, "SSD_TOTAL_GB": 5000}, everywhere: 64, granted: map[string]bool{},
		managed: []*gcp.ManagedZone{{Name: "inside", DNSName: "suite.test.", Visibility: "private"}, {Name: "suite", DNSName: "suite.test.", Visibility: "public"}},
		sets:    []*gcp.RecordSet{{Name: "suite.test.", Type: "TXT", Data: []string{`"v=spf1 -all"`}, TTL: 300}},
	}
	for _, name := range []string{"e2-medium", "n2-standard-4"} {
		c.types[name] = &gcp.MachineType{Name: name, GuestCPUs: 2, MemoryMB: 4096, Description: name, Architecture: "X86_64"}
	}
	c.types["n1-standard-4"] = &gcp.MachineType{Name: "n1-standard-4", GuestCPUs: 4, MemoryMB: 15360, Architecture: "X86_64"}
	c.types["g2-standard-8"] = &gcp.MachineType{Name: "g2-standard-8", GuestCPUs: 8, MemoryMB: 32768, Architecture: "X86_64",
		Accelerators: []*gcp.MachineTypeAccelerators{{Type: "nvidia-l4", Count: 1}}}
	for i, path := range []string{"debian-cloud/debian-12", "ubuntu-os-cloud/ubuntu-2404-lts-amd64", testProject + "/web"} {
		project, family, _ := strings.Cut(path, "/")
		for n := range 2 {
			name := fmt.Sprintf("%s-v2026%02d", family, n)
			c.images["projects/"+project+"/global/images/"+name] = &gcp.Image{Name: name, Family: family, Status: "READY", DiskSizeGB: 10, Architecture: "X86_64",
				CreationTimestamp: time.Date(2026, 1+time.Month(n), 1+i, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)}
		}
	}
	for _, permission := range slices.Concat([]string{"iam.serviceAccounts.actAs", "compute.instances.setServiceAccount"}, permissions, firewallPermissions,
		volumePermissions, snapshotPermissions, bakePermissions, dnsPermissions) {
		c.granted[permission] = true
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", c.token)
	api := described(t, c.api())
	if faults != nil {
		api = faults.Wrap(api)
	}
	mux.Handle("/", api)
	c.server = httptest.NewServer(mux)
	t.Cleanup(c.server.Close)
	return c
}

// keyFile is the service account's key, as Google issues it.
func (c *cloud) keyFile() string {
	der, err := x509.MarshalPKCS8PrivateKey(testKey())
	if err != nil {
		panic(err)
	}
	b, _ := json.Marshal(map[string]string{"type": "service_account", "project_id": testProject, "private_key_id": "k1", "client_email": testAccount, "client_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": c.server.URL + "/token",
		"auth_uri": "https://accounts.google.com/o/oauth2/auth", "universe_domain": "googleapis.com"})
	return string(b)
}

// token returns a token for an assertion that the key has signed.
func (c *cloud) token(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	refuse := func(description string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant", "error_description": description})
	}
	parts := strings.Split(r.PostFormValue("assertion"), ".")
	if r.PostFormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || len(parts) != 3 {
		refuse("Bad Request")
		return
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	claims := struct {
		Iss, Aud, Scope string
		Iat, Exp        int64
	}{}
	body, _ := base64.RawURLEncoding.DecodeString(parts[1])
	now := time.Now().Unix()
	switch {
	case c.revoked || rsa.VerifyPKCS1v15(&testKey().PublicKey, crypto.SHA256, sum[:], signature) != nil:
		refuse("Invalid JWT Signature.")
	case json.Unmarshal(body, &claims) != nil || claims.Iss != testAccount || claims.Aud != c.server.URL+"/token" ||
		claims.Scope != "https://www.googleapis.com/auth/cloud-platform":
		refuse("Invalid grant: account not found")
	case claims.Iat > now+60 || claims.Exp < now || claims.Exp > now+3700:
		refuse("Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.")
	default:
		c.next++
		token := fmt.Sprintf("ya29.c.%d", c.next)
		c.tokens[token] = true
		reply(w, map[string]any{"access_token": token, "expires_in": 3599, "token_type": "Bearer"})
	}
}

func (c *cloud) api() http.Handler {
	mux := http.NewServeMux()
	const root = "/compute/v1/projects/{project}"
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request){
		"GET " + root:                                                                   c.project,
		"GET " + root + "/zones":                                                        c.listZones,
		"GET " + root + "/zones/{zone}":                                                 c.getZone,
		"GET " + root + "/regions/{region}":                                             c.getRegion,
		"GET " + root + "/zones/{zone}/machineTypes":                                    c.listTypes,
		"GET " + root + "/zones/{zone}/machineTypes/{name}":                             c.getType,
		"GET " + root + "/zones/{zone}/diskTypes/{name}":                                c.getDiskType,
		"GET " + root + "/global/images":                                                c.listImages,
		"POST " + root + "/global/images":                                               c.insertImage,
		"DELETE " + root + "/global/images/{name}":                                      c.deleteImage,
		"GET " + root + "/global/images/{name}":                                         c.getImage,
		"GET " + root + "/global/images/family/{family}":                                c.getFamily,
		"GET " + root + "/global/networks/{name}":                                       c.getNetwork,
		"GET " + root + "/regions/{region}/subnetworks/{name}":                          c.getSubnetwork,
		"GET " + root + "/aggregated/instances":                                         c.aggregated,
		"GET " + root + "/aggregated/disks":                                             c.aggregatedDisks,
		"POST " + root + "/zones/{zone}/disks":                                          c.insertDisk,
		"GET " + root + "/zones/{zone}/disks/{name}":                                    c.oneDisk,
		"POST " + root + "/zones/{zone}/disks/{name}/createSnapshot":                    c.insertSnapshot,
		"GET " + root + "/global/snapshots":                                             c.listSnapshots,
		"GET " + root + "/global/snapshots/{name}":                                      c.oneSnapshot,
		"DELETE " + root + "/global/snapshots/{name}":                                   c.oneSnapshot,
		"DELETE " + root + "/zones/{zone}/disks/{name}":                                 c.oneDisk,
		"POST " + root + "/zones/{zone}/instances":                                      c.insert,
		"GET " + root + "/zones/{zone}/instances/{name}":                                c.getInstance,
		"DELETE " + root + "/zones/{zone}/instances/{name}":                             c.deleteInstance,
		"POST " + root + "/zones/{zone}/instances/{name}/{verb}":                        c.change,
		"GET " + root + "/zones/{zone}/instances/{name}/getGuestAttributes":             c.guest,
		"POST " + root + "/zones/{zone}/operations/{name}/wait":                         c.wait,
		"POST " + root + "/global/operations/{name}/wait":                               c.wait,
		"GET " + root + "/global/firewalls":                                             c.listFirewalls,
		"POST " + root + "/global/firewalls":                                            c.insertFirewall,
		"GET " + root + "/global/firewalls/{name}":                                      c.oneFirewall,
		"PUT " + root + "/global/firewalls/{name}":                                      c.oneFirewall,
		"DELETE " + root + "/global/firewalls/{name}":                                   c.oneFirewall,
		"GET /dns/v1/projects/{project}/managedZones":                                   c.listManaged,
		"GET /dns/v1/projects/{project}/managedZones/{managed}/rrsets":                  c.listSets,
		"POST /dns/v1/projects/{project}/managedZones/{managed}/rrsets":                 c.writeSet,
		"PATCH /dns/v1/projects/{project}/managedZones/{managed}/rrsets/{name}/{type}":  c.writeSet,
		"DELETE /dns/v1/projects/{project}/managedZones/{managed}/rrsets/{name}/{type}": c.deleteSet,
		"POST /v1/projects/{test}":                                                      c.testPermissions,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.seen = append(c.seen, r.Method+" "+r.URL.Path)
			c.tick()
			switch {
			case !c.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]:
				answer{http.StatusUnauthorized, "authError", "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other " +
					"valid authentication credential.", nil}.write(w)
			case c.refuse != nil:
				c.refuse.write(w)
			case r.PathValue("project") == "debian-cloud" || r.PathValue("project") == "ubuntu-os-cloud":
				if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/global/images") {
					denied("compute.anything", r.URL.Path).write(w)
					return
				}
				handle(w, r)
			case r.PathValue("project") != "" && r.PathValue("project") != testProject:
				notFound("projects/" + r.PathValue("project")).write(w)
			case r.PathValue("zone") != "" && c.zones[r.PathValue("zone")] == "":
				notFound("projects/" + testProject + "/zones/" + r.PathValue("zone")).write(w)
			default:
				handle(w, r)
			}
		})
	}
	return mux
}

// tick ends the operations that are due.
func (c *cloud) tick() {
	for _, op := range c.operations {
		if op.Status != "DONE" && time.Now().After(op.due) {
			op.Status, op.Progress = "DONE", 100
			op.effect()
		}
	}
}

// begin returns an operation, or the one that the request id has begun before.
func (c *cloud) begin(w http.ResponseWriter, r *http.Request, kind, target string, effect func()) *operation {
	c.next++
	zone := r.PathValue("zone")
	op := &operation{Operation: &gcp.Operation{Name: fmt.Sprintf("operation-%d", c.next), Status: "RUNNING"},
		OperationType: kind, TargetLink: links + target, due: time.Now().Add(takes), effect: effect}
	if zone != "" {
		op.Zone = links + "projects/" + testProject + "/zones/" + zone
	}
	c.operations[op.Name] = op
	if id := r.URL.Query().Get("requestId"); id != "" {
		c.requests[id] = op
	}
	reply(w, op)
	return op
}

// again answers with the operation that the request id has begun before, if it has.
func (c *cloud) again(w http.ResponseWriter, r *http.Request) bool {
	id := r.URL.Query().Get("requestId")
	if id == "" {
		return false
	}
	if len(id) != 36 {
		invalid("requestId", id).write(w)
		return true
	}
	op := c.requests[id]
	if op == nil || c.forgetful {
		return false
	}
	reply(w, op)
	return true
}

// wait waits for a while, and answers with the operation, which need not have ended.
func (c *cloud) wait(w http.ResponseWriter, r *http.Request) {
	op := c.operations[r.PathValue("name")]
	if op == nil {
		notFound("operations/" + r.PathValue("name")).write(w)
		return
	}
	c.mu.Unlock()
	time.Sleep(takes / 2)
	c.mu.Lock()
	c.tick()
	reply(w, op)
}

func reply(w http.ResponseWriter, v any) {
	b, _ := json.Marshal(v)
	all := maps.Clone(more)
	_ = json.Unmarshal(b, &all)
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(all)
}

// sent reads what a call sends.
func sent(w http.ResponseWriter, r *http.Request, to any) bool {
	if json.NewDecoder(r.Body).Decode(to) != nil {
		answer{http.StatusBadRequest, "parseError", "Parse Error", nil}.write(w)
		return false
	}
	return true
}

// described refuses calls that aren't as Google describes its APIs, and fails the test for them, and for responses of this simulated API that aren't.
func described(t *testing.T, h http.Handler) http.Handler {
	apis, err := discovery.Load()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method, err := discovery.Find(apis, r.Method, r.URL, body)
		if err != nil {
			t.Error(err)
			answer{http.StatusBadRequest, "badRequest", "Invalid JSON payload received. " + err.Error(), nil}.write(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		out := httptest.NewRecorder()
		h.ServeHTTP(out, r)
		if out.Code == http.StatusOK {
			if err := method.CheckResponse(withoutMore(out.Body.Bytes())); err != nil {
				t.Error(err)
			}
		}
		maps.Copy(w.Header(), out.Header())
		w.WriteHeader(out.Code)
		_, _ = w.Write(out.Body.Bytes())
	})
}

// more is in each response beside what is asked for: a client must pass over fields that it doesn't know.
var more = map[string]any{"kind": "compute#thing", "selfLink": links + "thing", "unknown": []any{map[string]any{"deep": nil}}}

func withoutMore(body []byte) []byte {
	var all map[string]any
	_ = json.Unmarshal(body, &all)
	for name := range more {
		delete(all, name)
	}
	b, _ := json.Marshal(all)
	return b
}

// write answers as the API does.
func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(a.status)
	e := map[string]any{"code": a.status, "message": a.message, "errors": []any{map[string]string{"message": a.message, "domain": "global", "reason": a.reason}}}
	if a.details != nil {
		e["details"] = a.details
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"error": e})
}

func notFound(what string) answer {
	return answer{http.StatusNotFound, "notFound", "The resource '" + what + "' was not found", nil}
}

func exists(what string) answer {
	return answer{http.StatusConflict, "alreadyExists", "The resource '" + what + "' already exists", nil}
}

func invalid(field, value string) answer {
	return answer{http.StatusBadRequest, "invalid", fmt.Sprintf("Invalid value for field '%s': '%s'.", field, value), nil}
}

func denied(permission, what string) answer {
	return answer{http.StatusForbidden, "forbidden", "Required '" + permission + "' permission for '" + what + "'", nil}
}
