//go:build real && openstack && linux

package openstackreal

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// people creates the services' users, those of the tests, and the catalog.
func (c *openStack) people() error {
	roles := map[string]string{}
	all, err := c.list("admin", "identity", "/roles", "roles")
	if err != nil {
		return err
	}
	for _, r := range all {
		roles[r["name"].(string)] = r["id"].(string)
	}
	projects := map[string]string{}
	for _, name := range []string{"service", demo} {
		if projects[name], err = c.made("admin", "identity", "/projects", "project", object{"name": name, "domain_id": "default"}); err != nil {
			return err
		}
	}
	for _, u := range []struct{ name, secret, project, role string }{
		{"nova", password, "service", "admin"}, {"glance", password, "service", "admin"}, {"neutron", password, "service", "admin"},
		{"placement", password, "service", "admin"},
		{demo, demoSecret, demo, "member"}, {looker, demoSecret, demo, "reader"},
	} {
		id, err := c.made("admin", "identity", "/users", "user", object{"name": u.name, "password": u.secret, "domain_id": "default"})
		if err != nil {
			return err
		}
		at := "/projects/" + projects[u.project] + "/users/" + id + "/roles/" + roles[u.role]
		if roles[u.role] == "" {
			return fmt.Errorf("there's no role %s", u.role)
		}
		if _, err := c.call("admin", http.MethodPut, "identity", at, nil); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		kind, name, path string
		public, inner    int
	}{
		{"compute", "nova", "/v2.1", publicNova, portNova}, {"image", "glance", "", publicGlance, portGlance}, {"network", "neutron", "", publicNeutron, portNeutron},
		{"placement", "placement", "", portPlacement, portPlacement},
	} {
		id, err := c.made("admin", "identity", "/services", "service", object{"name": s.name, "type": s.kind})
		if err != nil {
			return err
		}
		for which, port := range map[string]int{"public": s.public, "internal": s.inner, "admin": s.inner} {
			_, err := c.made("admin", "identity", "/endpoints", "endpoint", object{"service_id": id, "interface": which, "url": address(port) + s.path,
				"region_id": "RegionOne"})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// seed creates what an operator has: networks, images and flavors. It returns when a server can be created.
func (c *openStack) seed() error {
	if err := c.process("neutron").until("answer", func() error {
		_, err := c.list("admin", "network", "/networks", "networks")
		return err
	}); err != nil {
		return err
	}
	if err := c.networks(); err != nil {
		return err
	}
	if err := c.images(); err != nil {
		return err
	}
	for _, f := range []object{
		{"name": "tiny", "ram": 64, "vcpus": 1, "disk": 1}, {"name": "diskless", "ram": 64, "vcpus": 1, "disk": 0},
	} {
		if _, err := c.made("admin", "compute", "/flavors", "flavor", f); err != nil {
			return err
		}
	}
	if err := c.process("nova-compute").until("server", c.tryServer); err != nil {
		return err
	}
	watch(c)
	return nil
}

func (c *openStack) networks() error {
	public, err := c.made("admin", "network", "/networks", "network", object{"name": "public", "router:external": true})
	if err != nil {
		return err
	}
	if _, err := c.made("admin", "network", "/subnets", "subnet", object{
		"network_id": public, "ip_version": 4, "cidr": "203.0.113.0/24", "enable_dhcp": false,
	}); err != nil {
		return err
	}
	for i, name := range []string{"private", "second", "twin", "twin", "bare"} {
		id, err := c.made(demo, "network", "/networks", "network", object{"name": name})
		if err != nil {
			return err
		}
		if name == "bare" {
			continue
		}
		subnet, err := c.made(demo, "network", "/subnets", "subnet", object{"network_id": id, "ip_version": 4, "cidr": fmt.Sprintf("10.7%d.0.0/24", i)})
		if err != nil {
			return err
		}
		if name != "private" {
			continue
		}
		router, err := c.made(demo, "network", "/routers", "router", object{"name": "way-out", "external_gateway_info": object{"network_id": public}})
		if err != nil {
			return err
		}
		if _, err := c.call(demo, http.MethodPut, "network", "/routers/"+router+"/add_router_interface", object{"subnet_id": subnet}); err != nil {
			return err
		}
	}
	return nil
}

func (c *openStack) images() error {
	for name, disk := range map[string]int{"debian": 0, "big": 500, "half": 0} {
		out, err := c.call("admin", http.MethodPost, "image", "/images",
			object{"name": name, "disk_format": "raw", "container_format": "bare", "visibility": "public", "min_disk": disk})
		if err != nil {
			return err
		}
		if name == "half" {
			continue // its content never comes
		}
		if _, err := c.call("admin", http.MethodPut, "image", "/images/"+out["id"].(string)+"/file", make([]byte, 1<<20)); err != nil {
			return err
		}
	}
	return nil
}

// tryServer creates a server, without our provider, and deletes it again.
func (c *openStack) tryServer() error {
	flavor, err := c.named(demo, "compute", "/flavors", "flavors", "tiny")
	if err != nil {
		return err
	}
	image, err := c.named(demo, "image", "/images", "images", "debian")
	if err != nil {
		return err
	}
	network, err := c.named(demo, "network", "/networks", "networks", "private")
	if err != nil {
		return err
	}
	id, err := c.made(demo, "compute", "/servers", "server", object{"name": "first", "flavorRef": flavor, "imageRef": image,
		"networks": []object{{"uuid": network}}})
	if err != nil {
		return err
	}
	status := ""
	for deadline := time.Now().Add(2 * time.Minute); status != "ACTIVE" && status != "ERROR" && time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		out, err := c.call(demo, http.MethodGet, "compute", "/servers/"+id, nil)
		if err != nil {
			return err
		}
		s := out["server"].(object)
		if status = s["status"].(string); status == "ERROR" {
			err = fmt.Errorf("the server failed: %v", s["fault"])
		}
		if err != nil {
			return errors.Join(err, c.deleteServer(id))
		}
	}
	if err := c.deleteServer(id); err != nil {
		return err
	}
	if status != "ACTIVE" {
		return fmt.Errorf("the server stays %s", status)
	}
	return nil
}

// deleteServer deletes a server by other means than ours, and waits until it's gone.
func (c *openStack) deleteServer(id string) error {
	if _, err := c.call("admin", http.MethodDelete, "compute", "/servers/"+id, nil); err != nil {
		return err
	}
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		_, err := c.call("admin", http.MethodGet, "compute", "/servers/"+id, nil)
		if err != nil && strings.Contains(err.Error(), "404") {
			return nil
		}
	}
	return fmt.Errorf("server %s isn't deleted", id)
}

// quota sets a limit of the project demo, and returns what sets it back.
func (c *openStack) quota(service, name string, limit int) (undo func() error, err error) {
	t, err := c.login(demo)
	if err != nil {
		return nil, err
	}
	at, key := "/os-quota-sets/"+t.project, "quota_set"
	if service == "network" {
		at, key = "/quotas/"+t.project, "quota"
	}
	before, err := c.call("admin", http.MethodGet, service, at, nil)
	if err != nil {
		return nil, err
	}
	set := func(n any) error {
		_, err := c.call("admin", http.MethodPut, service, at, object{key: object{name: n}})
		return err
	}
	return func() error { return set(before[key].(object)[name]) }, set(limit)
}
