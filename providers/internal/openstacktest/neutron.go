package openstacktest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

type port struct {
	server, network, address string
	groups                   []string
}

type floating struct {
	network, port, address, description string
	made, led                           time.Time // created; and led to its port
}

type group struct {
	name, description string
	rules             map[string]object
	made              time.Time
}

func (c *Cloud) networkOf(id string) *Network {
	i := slices.IndexFunc(c.Networks, func(n Network) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Networks[i]
}

func (c *Cloud) groupOf(name string) string {
	if _, ok := c.groups[name]; ok {
		return name
	}
	for id, g := range c.groups {
		if g.name == name {
			return id
		}
	}
	return ""
}

// unplug removes a port. A floating IP that led to it leads nowhere then.
func (c *Cloud) unplug(id string) {
	delete(c.ports, id)
	for _, ip := range c.ips {
		if ip.port == id {
			ip.port = ""
		}
	}
}

// neutron is what a project may ask about networks: ports, floating IPs, security groups and their rules.
type neutron struct{ *Cloud }

func (c neutron) routes(mux *http.ServeMux) {
	const at = "/network/v2.0"
	mux.HandleFunc("GET "+at+"/networks", c.guarded(c.listNetworks))
	mux.HandleFunc("GET "+at+"/networks/{id}", c.guarded(func(w http.ResponseWriter, r *http.Request) {
		if n := c.networkOf(r.PathValue("id")); n != nil {
			answer(w, http.StatusOK, object{"network": shownNetwork(*n)})
			return
		}
		neutronError(w, http.StatusNotFound, "NetworkNotFound", "Network "+r.PathValue("id")+" could not be found.")
	}))
	mux.HandleFunc("GET "+at+"/ports", c.guarded(c.listPorts))
	mux.HandleFunc("PUT "+at+"/ports/{id}", c.guarded(c.changePort))
	mux.HandleFunc("GET "+at+"/floatingips", c.guarded(c.listFloating))
	mux.HandleFunc("POST "+at+"/floatingips", c.guarded(c.makeFloating))
	mux.HandleFunc("GET "+at+"/floatingips/{id}", c.guarded(c.oneFloating))
	mux.HandleFunc("PUT "+at+"/floatingips/{id}", c.guarded(c.oneFloating))
	mux.HandleFunc("DELETE "+at+"/floatingips/{id}", c.guarded(c.oneFloating))
	mux.HandleFunc("GET "+at+"/security-groups", c.guarded(c.listGroups))
	mux.HandleFunc("POST "+at+"/security-groups", func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		twice := c.Twice
		c.Twice = nil
		c.mu.Unlock()
		if twice != nil {
			twice()
		}
		c.guarded(c.makeGroup)(w, r)
	})
	mux.HandleFunc("GET "+at+"/security-groups/{id}", c.guarded(c.oneGroup))
	mux.HandleFunc("DELETE "+at+"/security-groups/{id}", c.guarded(c.oneGroup))
	mux.HandleFunc("POST "+at+"/security-group-rules", c.guarded(c.makeRules))
	mux.HandleFunc("DELETE "+at+"/security-group-rules/{id}", c.guarded(c.deleteRule))
	mux.HandleFunc("GET "+at+"/quotas/{project}/details.json", c.guarded(c.showQuotas))
}

func shownNetwork(n Network) object {
	subnets := append([]string{}, n.Subnets...)
	return object{"id": n.ID, "name": n.Name, "subnets": subnets, "router:external": n.External, "port_security_enabled": !n.Open, "admin_state_up": true, "status": "ACTIVE", "shared": n.External,
		"created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z"}
}

func (c neutron) listNetworks(w http.ResponseWriter, r *http.Request) {
	var all []object
	for _, n := range c.Networks {
		if o := shownNetwork(n); matches(o, r.URL.Query(), "id", "name") {
			all = append(all, o)
		}
	}
	c.page(w, r, "networks", all)
}

func (c neutron) listPorts(w http.ResponseWriter, r *http.Request) {
	var all []object
	for id, p := range c.ports {
		o := object{"id": id, "device_id": p.server, "network_id": p.network, "device_owner": "compute:nova", "status": "ACTIVE", "admin_state_up": true, "security_groups": append([]string{}, p.groups...),
			"fixed_ips": []object{{"subnet_id": c.networkOf(p.network).Subnets[0], "ip_address": "fd00::" + id[:4]}, {"subnet_id": c.networkOf(p.network).Subnets[0], "ip_address": p.address}}}
		if matches(o, r.URL.Query(), "device_id", "network_id") {
			all = append(all, o)
		}
	}
	c.page(w, r, "ports", all)
}

// changePort puts a port into other security groups, in place of those that it was in.
func (c neutron) changePort(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	p := c.ports[id]
	var in struct {
		Port struct {
			Groups *[]string `json:"security_groups"`
		}
	}
	if p == nil {
		neutronError(w, http.StatusNotFound, "PortNotFound", "Port "+id+" could not be found.")
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Port.Groups == nil {
		neutronError(w, http.StatusBadRequest, "HTTPBadRequest", "Invalid input for port.")
		return
	}
	if c.networkOf(p.network).Open {
		neutronError(w, http.StatusConflict, "PortSecurityAndIPRequiredForSecurityGroups", "Port security must be enabled and port must have an IP address in order to use security groups.")
		return
	}
	for _, group := range *in.Port.Groups {
		if c.groups[group] == nil {
			neutronError(w, http.StatusNotFound, "SecurityGroupNotFound", "Security group "+group+" does not exist")
			return
		}
	}
	p.groups = *in.Port.Groups
	answer(w, http.StatusOK, object{"port": object{"id": id, "device_id": p.server, "network_id": p.network, "security_groups": p.groups}})
}

// Behind returns the names of the groups that all ports of a server are in.
func (c *Cloud) Behind(server string) (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, g := range c.groups {
		ports, in := 0, 0
		for _, p := range c.ports {
			if p.server == server {
				ports++
				if slices.Contains(p.groups, id) {
					in++
				}
			}
		}
		if ports > 0 && ports == in {
			names = append(names, g.name)
		}
	}
	return names
}

func (c neutron) shownFloating(id string) object {
	ip := c.ips[id]
	o := object{"id": id, "floating_network_id": ip.network, "floating_ip_address": ip.address, "description": ip.description, "port_id": nil, "fixed_ip_address": nil, "status": "DOWN",
		"project_id": ProjectID, "tenant_id": ProjectID, "created_at": ip.made.UTC().Format(time.RFC3339), "updated_at": ip.made.UTC().Format(time.RFC3339)}
	if p := c.ports[ip.port]; p != nil {
		o["port_id"], o["fixed_ip_address"], o["status"] = ip.port, p.address, "ACTIVE"
	}
	return o
}

func (c neutron) listFloating(w http.ResponseWriter, r *http.Request) {
	var all []object
	for id := range c.ips {
		if o := c.shownFloating(id); matches(o, r.URL.Query(), "project_id", "description") {
			all = append(all, o)
		}
	}
	c.page(w, r, "floatingips", all)
}

// leads reports whether a floating IP can lead to a port.
func (c neutron) leads(w http.ResponseWriter, network, id string) bool {
	p := c.ports[id]
	switch {
	case p == nil:
		neutronError(w, http.StatusNotFound, "PortNotFound", "Port "+id+" could not be found.")
	case !c.Routed:
		neutronError(w, http.StatusNotFound, "ExternalGatewayForFloatingIPNotFound", fmt.Sprintf("External network %s is not reachable from subnet %s. Therefore, cannot associate Port %s with a Floating IP.",
			network, c.networkOf(p.network).Subnets[0], id))
	case slices.ContainsFunc(sorted(c.ips), func(other string) bool { return c.ips[other].port == id }):
		neutronError(w, http.StatusConflict, "FloatingIPPortAlreadyAssociated", "Cannot associate floating IP with port "+id+", it already has a floating IP.")
	default:
		return true
	}
	return false
}

func (c neutron) makeFloating(w http.ResponseWriter, r *http.Request) {
	var in struct {
		IP struct {
			Network     string `json:"floating_network_id"`
			Port        string `json:"port_id"`
			Description string
		} `json:"floatingip"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.IP.Description) > 255 {
		neutronError(w, http.StatusBadRequest, "HTTPBadRequest", "Invalid input for floatingip.")
		return
	}
	n := c.networkOf(in.IP.Network)
	switch {
	case n == nil || !n.External:
		neutronError(w, http.StatusBadRequest, "BadRequest", "Bad floatingip request: Network "+in.IP.Network+" is not a valid external network.")
		return
	case c.Limits.Floating >= 0 && c.used().Floating >= c.Limits.Floating:
		neutronError(w, http.StatusConflict, "OverQuota", "Quota exceeded for resources: ['floatingip'].")
		return
	case in.IP.Port != "" && !c.leads(w, n.ID, in.IP.Port):
		return
	}
	c.next++
	id := newID()
	c.ips[id] = &floating{network: n.ID, port: in.IP.Port, address: fmt.Sprintf("%s%d", n.Prefix, 2+c.next%250), description: in.IP.Description, made: time.Now(), led: time.Now()}
	answer(w, http.StatusCreated, object{"floatingip": c.shownFloating(id)})
}

func (c neutron) oneFloating(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	ip := c.ips[id]
	if ip == nil {
		neutronError(w, http.StatusNotFound, "FloatingIPNotFound", "Floating IP "+id+" could not be found")
		return
	}
	switch r.Method {
	case http.MethodDelete:
		delete(c.ips, id)
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodPut:
		var in struct {
			IP struct {
				Port        *string `json:"port_id"`
				Description *string
			} `json:"floatingip"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			neutronError(w, http.StatusBadRequest, "HTTPBadRequest", "Invalid input for floatingip.")
			return
		}
		ip.port = ""
		if in.IP.Description != nil {
			ip.description = *in.IP.Description
		}
		if in.IP.Port != nil && *in.IP.Port != "" {
			if !c.leads(w, ip.network, *in.IP.Port) {
				return
			}
			ip.port, ip.led = *in.IP.Port, time.Now()
		}
	}
	answer(w, http.StatusOK, object{"floatingip": c.shownFloating(id)})
}

func (c neutron) shownGroup(id string) object {
	g := c.groups[id]
	rules := []object{}
	for _, rule := range sorted(g.rules) {
		rules = append(rules, g.rules[rule])
	}
	return object{"id": id, "name": g.name, "description": g.description, "project_id": ProjectID, "tenant_id": ProjectID, "security_group_rules": rules,
		"created_at": g.made.UTC().Format(time.RFC3339), "updated_at": g.made.UTC().Format(time.RFC3339)}
}

func (c neutron) listGroups(w http.ResponseWriter, r *http.Request) {
	var all []object
	for id := range c.groups {
		if o := c.shownGroup(id); matches(o, r.URL.Query(), "name", "project_id") {
			all = append(all, o)
		}
	}
	c.page(w, r, "security_groups", all)
}

func (c neutron) makeGroup(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Group struct{ Name, Description string } `json:"security_group"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Group.Name == "" || len(in.Group.Name) > 255 || len(in.Group.Description) > 255 {
		neutronError(w, http.StatusBadRequest, "HTTPBadRequest", "Invalid input for security_group.")
		return
	}
	if c.Limits.Groups >= 0 && c.used().Groups >= c.Limits.Groups {
		neutronError(w, http.StatusConflict, "OverQuota", "Quota exceeded for resources: ['security_group'].")
		return
	}
	id := newID()
	g := &group{name: in.Group.Name, description: in.Group.Description, rules: map[string]object{}, made: time.Now()}
	for _, ether := range []string{"IPv4", "IPv6"} {
		rule := newID()
		g.rules[rule] = object{"id": rule, "direction": "egress", "ethertype": ether, "security_group_id": id, "protocol": nil, "port_range_min": nil, "port_range_max": nil,
			"remote_ip_prefix": nil, "remote_group_id": nil}
	}
	c.groups[id] = g
	answer(w, http.StatusCreated, object{"security_group": c.shownGroup(id)})
}

func (c neutron) oneGroup(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if c.groups[id] == nil {
		neutronError(w, http.StatusNotFound, "SecurityGroupNotFound", "Security group "+id+" does not exist")
		return
	}
	if r.Method == http.MethodDelete {
		for _, p := range c.ports {
			if slices.Contains(p.groups, id) {
				neutronError(w, http.StatusConflict, "SecurityGroupInUse", "Security Group "+id+" in use.")
				return
			}
		}
		delete(c.groups, id)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer(w, http.StatusOK, object{"security_group": c.shownGroup(id)})
}

func (c neutron) makeRules(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Rules []object `json:"security_group_rules"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Rules) == 0 {
		neutronError(w, http.StatusBadRequest, "HTTPBadRequest", "Invalid input for security_group_rules.")
		return
	}
	same := func(a, b object) bool {
		for _, k := range []string{"direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix", "remote_group_id"} {
			if fmt.Sprint(a[k]) != fmt.Sprint(b[k]) {
				return false
			}
		}
		return true
	}
	for _, rule := range in.Rules {
		id, _ := rule["security_group_id"].(string)
		g := c.groups[id]
		if g == nil {
			neutronError(w, http.StatusNotFound, "SecurityGroupNotFound", "Security group "+id+" does not exist")
			return
		}
		if text, ok := rule["remote_ip_prefix"].(string); ok {
			prefix, err := netip.ParsePrefix(text)
			if err != nil || prefix.Addr().Is4() != (rule["ethertype"] == "IPv4") {
				neutronError(w, http.StatusBadRequest, "SecurityGroupRuleParameterConflict", fmt.Sprintf("Conflicting value ethertype %v for CIDR %s", rule["ethertype"], text))
				return
			}
		}
		if rule["protocol"] == "icmp" && rule["ethertype"] == "IPv6" {
			neutronError(w, http.StatusBadRequest, "SecurityGroupEthertypeConflictWithProtocol", "Invalid ethertype IPv6 for protocol icmp.")
			return
		}
		for _, there := range g.rules {
			if same(there, rule) {
				neutronError(w, http.StatusConflict, "SecurityGroupRuleExists", fmt.Sprintf("Security group rule already exists. Rule id is %v.", there["id"]))
				return
			}
		}
	}
	for _, rule := range in.Rules {
		rule["id"] = newID()
		c.groups[rule["security_group_id"].(string)].rules[rule["id"].(string)] = rule
	}
	answer(w, http.StatusCreated, object{"security_group_rules": in.Rules})
}

func (c neutron) deleteRule(w http.ResponseWriter, r *http.Request) {
	for _, g := range c.groups {
		if g.rules[r.PathValue("id")] != nil {
			delete(g.rules, r.PathValue("id"))
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	neutronError(w, http.StatusNotFound, "SecurityGroupRuleNotFound", "Security group rule "+r.PathValue("id")+" does not exist")
}

func (c neutron) showQuotas(w http.ResponseWriter, r *http.Request) {
	if c.NoQuotas || r.PathValue("project") != ProjectID {
		neutronError(w, http.StatusNotFound, "HTTPNotFound", "The resource could not be found.")
		return
	}
	u := c.used()
	quota := object{}
	for name, n := range map[string][2]int{"floatingip": {c.Limits.Floating, u.Floating}, "security_group": {c.Limits.Groups, u.Groups}, "port": {c.Limits.Ports, u.Ports}} {
		quota[name] = object{"limit": n[0], "used": n[1], "reserved": 0}
	}
	answer(w, http.StatusOK, object{"quota": quota})
}

// Rules returns the rules of a group as text, sorted.
func (c *Cloud) Rules(name string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for id, g := range c.groups {
		if g.name != name {
			continue
		}
		for _, r := range g.rules {
			from := r["remote_ip_prefix"]
			if r["remote_group_id"] == id {
				from = "itself"
			}
			out = append(out, fmt.Sprint(r["direction"], " ", r["ethertype"], " ", r["protocol"], " ", r["port_range_min"], "-", r["port_range_max"], " ", from))
		}
	}
	slices.Sort(out)
	return out
}

// LoseGroup has a group go that no one uses, as when someone tidies up.
func (c *Cloud) LoseGroup(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.groups, c.groupOf(name))
}
