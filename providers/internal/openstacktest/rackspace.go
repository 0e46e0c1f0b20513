package openstacktest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// What every Rackspace account has from its beginning.
const (
	Tenant     = "1100111"
	APIKey     = "a4bbc55a951242c48b03e88e32123456"
	publicNet  = "00000000-0000-0000-0000-000000000000"
	serviceNet = "11111111-1111-1111-1111-111111111111"
	Isolated   = "6a6aa5e1-73cd-4a91-a48e-8e9ff0f5ad8b"
)

// NewRackspace returns a Rackspace account without servers: identity version 2, and Nova's second version without zones, ports or groups.
func NewRackspace() *Cloud {
	c := New()
	c.rackspace = true
	c.Roles = []string{"identity:default", "nova:creator", "identity:user-admin"}
	c.Services = []string{"compute", "image", "volume", "dns"}
	c.Limits = Limits{Servers: -1, Cores: -1, MemoryMB: 131072}
	c.Networks = []Network{{ID: publicNet, Name: "public", Prefix: "198.51.100.", Subnets: []string{newID()}}, {ID: serviceNet, Name: "private", Prefix: "10.180.0.", Subnets: []string{newID()}},
		{ID: Isolated, Name: "backend", Prefix: "192.168.3.", Subnets: []string{newID()}}}
	c.Flavors = []Flavor{{"general1-2", "2 GB General Purpose v1", 2, 2048, 40, 0}, {"compute1-4", "4 GB Compute v1", 2, 3840, 0, 0}, {"io1-15", "15 GB I/O v1", 4, 15360, 40, 150},
		{"2", "512MB Standard Instance", 1, 512, 20, 0}}
	return c
}

// Rackspace answers for an account's identity, servers, images and names.
func (c *Cloud) Rackspace() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /identity/v2.0/tokens", c.authenticate2)
	nova{c}.routes(mux, "/servers/v2/"+Tenant)
	glance{c}.routes(mux)
	cloudDNS{c}.routes(mux, "/dns/v1.0/"+Tenant)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "404 Not Found", http.StatusNotFound) })
	return mux
}

// authenticate2 is the identity service's second version, as Rackspace has it.
func (c *Cloud) authenticate2(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Auth struct {
			Key struct {
				Username string `json:"username"`
				Key      string `json:"apiKey"`
			} `json:"RAX-KSKEY:apiKeyCredentials"`
			Password struct {
				Username string `json:"username"`
				Password string `json:"password"`
			} `json:"passwordCredentials"`
			Tenant string `json:"tenantId"`
		} `json:"auth"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		answer(w, http.StatusBadRequest, object{"badRequest": object{"code": 400, "message": "Invalid json request body"}})
		return
	}
	a := in.Auth
	if (a.Key.Username != User || a.Key.Key != APIKey) && (a.Password.Username != User || a.Password.Password != Password) || a.Tenant != "" && a.Tenant != Tenant {
		message := "Unable to authenticate user with credentials provided."
		if a.Key.Username != "" {
			message = "Username or api key is invalid."
		}
		answer(w, http.StatusUnauthorized, object{"unauthorized": object{"code": 401, "message": message}})
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	token := "AA" + strings.ReplaceAll(newID(), "-", "")
	until := time.Now().Add(c.TokenLife)
	c.tokens[token] = until
	var roles []any
	for _, name := range c.Roles {
		roles = append(roles, object{"id": newID(), "name": name, "description": ""})
	}
	paths := map[string][2]string{"compute": {"cloudServersOpenStack", "/servers/v2/" + Tenant}, "image": {"cloudImages", "/image/v2"}, "volume": {"cloudBlockStorage", "/cbs/v1/" + Tenant}}
	catalog := []any{object{"name": "cloudServers", "type": "compute", "endpoints": []any{object{"tenantId": Tenant, "publicURL": "http://127.0.0.1:1/v1.0/" + Tenant, "versionId": "1.0"}}}}
	if slices.Contains(c.Services, "dns") { // one for all regions
		catalog = append(catalog, object{"name": "cloudDNS", "type": "rax:dns", "endpoints": []any{object{"tenantId": Tenant, "publicURL": "http://" + r.Host + "/dns/v1.0/" + Tenant}}})
	}
	for _, kind := range c.Services {
		p, ok := paths[kind]
		if !ok {
			continue
		}
		catalog = append(catalog, object{"name": p[0], "type": kind, "endpoints": []any{
			object{"region": "ORD", "tenantId": Tenant, "publicURL": "http://127.0.0.1:1" + p[1]}, object{"region": "DFW", "tenantId": Tenant, "publicURL": "http://" + r.Host + p[1]}}})
	}
	answer(w, http.StatusOK, object{"access": object{
		"token": object{"id": token, "expires": until.UTC().Format("2006-01-02T15:04:05.000Z"), "tenant": object{"id": Tenant, "name": Tenant}, "RAX-AUTH:authenticatedBy": []string{"APIKEY"}},
		"user":  object{"id": "123456", "name": User, "roles": roles, "RAX-AUTH:defaultRegion": "DFW"}, "serviceCatalog": catalog}})
}

// outsized tells of volumes that Cloud Block Storage does not make. Those that a server boots from may be smaller.
func outsized(d disk) bool {
	least := 75
	if d.Boot == 0 {
		least = 50
	}
	return d.Destination == "volume" && (d.Size < least || d.Size > 1024)
}

// asRackspace shows a server as Rackspace does: without zones and kinds of addresses, with the address to reach it by, and with what its automation
// writes into the metadata.
func (c *Cloud) asRackspace(s *server, out, addresses object) {
	for _, k := range []string{"OS-EXT-AZ:availability_zone", "OS-SRV-USG:terminated_at"} {
		delete(out, k)
	}
	for name, some := range addresses {
		all := []object{}
		for _, a := range some.([]object) {
			all = append(all, object{"addr": a["addr"], "version": 4})
			if name == "public" && s.status == "ACTIVE" {
				out["accessIPv4"] = a["addr"]
			}
		}
		if name == "public" {
			all = append(all, object{"addr": "2001:db8:7801::" + s.id[:4], "version": 6})
		}
		addresses[name] = all
	}
	if c.RackConnect == "" || s.status != "ACTIVE" {
		return
	}
	metadata := maps.Clone(s.metadata)
	metadata["rackconnect_automation_feature_provison_public_ip"] = "ENABLED"
	metadata["rackconnect_automation_status"] = "DEPLOYING"
	if time.Since(s.launched) > 10*c.build {
		metadata["rackconnect_automation_status"] = c.RackConnect
		out["accessIPv4"] = "203.0.113.77"
	}
	out["metadata"] = metadata
}
