package openstacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

type server struct {
	id, name, flavor, image, zone string
	metadata                      map[string]string
	userData                      string
	drive                         bool
	networks, groups              []string // ids
	disks                         []disk
	made                          time.Time
	placed                        bool
	status, task, fault           string
	at                            time.Time // when the running action ends
	volumes                       []string
	launched                      time.Time
	born                          time.Time // as made, but to the last moment
}

type disk struct {
	Source      string `json:"source_type"`
	UUID        string `json:"uuid"`
	Boot        int    `json:"boot_index"`
	Delete      bool   `json:"delete_on_termination"`
	Destination string `json:"destination_type"`
	Size        int    `json:"volume_size"`
	Type        string `json:"volume_type"`
}

// tick lets time pass: what was begun is over after a little while.
func (c *Cloud) tick() {
	c.work()
	c.changeVolumes()
	c.saveImages()
	for id, s := range c.servers {
		if time.Now().Before(s.at) {
			continue
		}
		switch {
		case s.task == "deleting":
			for port, p := range c.ports {
				if p.server == id {
					c.unplug(port)
				}
			}
			for i, v := range s.volumes {
				if one := c.volumes[v]; one != nil && s.ends(i) && !c.Keeps {
					delete(c.volumes, v)
				} else if one != nil {
					one.server, one.device, one.status = "", "", "available"
				}
			}
			delete(c.servers, id)
		case s.status == "BUILD" && s.fault != "":
			s.status, s.task = "ERROR", ""
		case s.status == "BUILD" && !s.placed:
			c.place(s)
			s.placed, s.task, s.at = true, "spawning", time.Now().Add(c.build)
		case s.status == "BUILD":
			s.status, s.task, s.launched = "ACTIVE", "", time.Now()
		case s.task == "image_snapshot":
			s.task = ""
		case s.task == "powering-off":
			s.status, s.task = "SHUTOFF", ""
		case s.task == "powering-on":
			s.status, s.task = "ACTIVE", ""
		}
	}
}

func (s *server) ends(volume int) bool {
	n := 0
	for _, d := range s.disks {
		if d.Destination == "volume" {
			if n == volume {
				return d.Delete
			}
			n++
		}
	}
	return false
}

// place sets a server's host, ports and volumes.
func (c *Cloud) place(s *server) {
	if s.zone == "" {
		s.zone = "az1"
	}
	for _, id := range s.networks {
		n := c.networkOf(id)
		c.next++
		c.ports[newID()] = &port{server: s.id, network: id, address: fmt.Sprintf("%s%d", n.Prefix, 2+c.next%250), groups: s.groups}
	}
	for _, d := range s.disks {
		if d.Destination == "volume" {
			id := newID()
			c.volumes[id] = &volume{size: d.Size, kind: d.Type, status: "in-use", zone: s.zone, server: s.id, device: "/dev/vda", made: time.Now()}
			s.volumes = append(s.volumes, id)
		}
	}
}

// nova is what a project may ask about servers.
type nova struct{ *Cloud }

func (c nova) routes(mux *http.ServeMux, at string) {
	for pattern, do := range map[string]http.HandlerFunc{
		"GET /flavors/detail":       c.listFlavors,
		"GET /os-availability-zone": c.listZones,
		"GET /limits":               c.showLimits,
		"GET /servers/detail":       c.listServers,
		"POST /servers":             c.makeServer,
		"GET /servers/{id}":         c.showServer,
		"DELETE /servers/{id}":      c.deleteServer,
		"POST /servers/{id}/action": c.actOnServer,
		"PUT /servers/{id}":         c.renameServer,

		"POST /servers/{id}/metadata":         c.changeMetadata,
		"DELETE /servers/{id}/metadata/{key}": c.changeMetadata,

		"POST /servers/{id}/os-volume_attachments":            c.hook,
		"DELETE /servers/{id}/os-volume_attachments/{volume}": c.unhookVolume,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+at+path, c.guarded(do))
	}
}

// atLeast reads the version of the interface that a call is made in; 2.1 where it does not say.
func atLeast(r *http.Request, minor int) bool {
	asked := 1
	_, _ = fmt.Sscanf(r.Header.Get("OpenStack-API-Version"), "compute 2.%d", &asked)
	return asked >= minor
}

func (c nova) listFlavors(w http.ResponseWriter, r *http.Request) {
	var all []object
	for _, f := range c.Flavors {
		all = append(all, object{"id": f.ID, "name": f.Name, "vcpus": f.CPU, "ram": f.RAM, "disk": f.Disk, "swap": "", "rxtx_factor": 1.0,
			"OS-FLV-EXT-DATA:ephemeral": f.Ephemeral, "os-flavor-access:is_public": true, "OS-FLV-DISABLED:disabled": false, "links": []any{}})
	}
	c.page(w, r, "flavors", all)
}

func (c nova) listZones(w http.ResponseWriter, _ *http.Request) {
	if c.rackspace {
		novaError(w, http.StatusNotFound, "The resource could not be found.")
		return
	}
	all := []any{}
	for name, there := range c.Zones {
		all = append(all, object{"zoneName": name, "zoneState": object{"available": there}, "hosts": nil})
	}
	answer(w, http.StatusOK, object{"availabilityZoneInfo": all})
}

// used returns what is used of the limits.
func (c *Cloud) used() Limits {
	u := c.Used
	for _, s := range c.servers {
		f := c.flavorOf(s.flavor)
		u.Servers, u.Cores, u.MemoryMB = u.Servers+1, u.Cores+f.CPU, u.MemoryMB+f.RAM
	}
	for _, v := range c.volumes {
		u.Volumes, u.VolumeGB = u.Volumes+1, u.VolumeGB+v.size
	}
	u.Floating, u.Groups, u.Ports = u.Floating+len(c.ips), u.Groups+len(c.groups), u.Ports+len(c.ports)
	return u
}

func (c nova) showLimits(w http.ResponseWriter, _ *http.Request) {
	u := c.used()
	answer(w, http.StatusOK, object{"limits": object{"rate": []any{}, "absolute": object{
		"maxTotalInstances": c.Limits.Servers, "totalInstancesUsed": u.Servers, "maxTotalCores": c.Limits.Cores, "totalCoresUsed": u.Cores,
		"maxTotalRAMSize": c.Limits.MemoryMB, "totalRAMUsed": u.MemoryMB, "maxServerMeta": 128}}})
}

func (c *Cloud) flavorOf(id string) Flavor {
	i := slices.IndexFunc(c.Flavors, func(f Flavor) bool { return f.ID == id })
	if i < 0 {
		return Flavor{}
	}
	return c.Flavors[i]
}

func (c *Cloud) imageOf(id string) *Image {
	i := slices.IndexFunc(c.Images, func(i Image) bool { return i.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Images[i]
}

func (c nova) listServers(w http.ResponseWriter, r *http.Request) {
	var all []object
	for _, s := range c.servers {
		if time.Since(s.born) >= c.Lag {
			all = append(all, c.shown(s, r))
		}
	}
	c.page(w, r, "servers", all)
}

func (c *Cloud) shown(s *server, r *http.Request) object {
	addresses := object{}
	for id, p := range c.ports {
		if p.server != s.id {
			continue
		}
		name := c.networkOf(p.network).Name
		have, _ := addresses[name].([]object)
		have = append(have, object{"addr": p.address, "version": 4, "OS-EXT-IPS:type": "fixed", "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:00:00:01"})
		for _, ip := range c.ips {
			if ip.port == id && time.Since(ip.led) >= c.Tells {
				have = append(have, object{"addr": ip.address, "version": 4, "OS-EXT-IPS:type": "floating", "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:00:00:01"})
			}
		}
		addresses[name] = have
	}
	volumes := []object{}
	for i, id := range s.volumes {
		v := object{"id": id}
		if atLeast(r, 3) {
			v["delete_on_termination"] = s.ends(i)
		}
		volumes = append(volumes, v)
	}
	metadata := s.metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	var task any
	if s.task != "" {
		task = s.task
	}
	zone := s.zone
	if !s.placed {
		zone = ""
	}
	var image any = object{"id": s.image, "links": []any{}}
	if s.image == "" {
		image = ""
	}
	out := object{"id": s.id, "name": s.name, "status": s.status, "tenant_id": ProjectID, "user_id": ProjectID, "metadata": metadata, "hostId": "", "image": image,
		"flavor": object{"id": s.flavor, "links": []any{}}, "created": s.made.Format("2006-01-02T15:04:05Z"), "updated": s.made.Format("2006-01-02T15:04:05Z"),
		"addresses": addresses, "accessIPv4": "", "accessIPv6": "", "links": []any{}, "OS-DCF:diskConfig": "MANUAL", "progress": 0, "OS-EXT-AZ:availability_zone": zone,
		"config_drive": map[bool]string{true: "True", false: ""}[s.drive], "key_name": nil, "OS-SRV-USG:launched_at": nil, "OS-SRV-USG:terminated_at": nil,
		"OS-EXT-STS:task_state": task, "OS-EXT-STS:vm_state": strings.ToLower(s.status), "OS-EXT-STS:power_state": 1, "os-extended-volumes:volumes_attached": volumes}
	if c.rackspace {
		c.asRackspace(s, out, addresses)
	}
	if !s.launched.IsZero() {
		out["OS-SRV-USG:launched_at"] = s.launched.UTC().Format("2006-01-02T15:04:05.000000")
	}
	if s.status == "ERROR" {
		out["fault"] = object{"code": 500, "created": s.made.Format("2006-01-02T15:04:05Z"), "message": s.fault}
	}
	return out
}

func (c nova) serverOf(w http.ResponseWriter, r *http.Request) *server {
	s := c.servers[r.PathValue("id")]
	if s == nil {
		novaError(w, http.StatusNotFound, "Instance "+r.PathValue("id")+" could not be found.")
	}
	return s
}

func (c nova) showServer(w http.ResponseWriter, r *http.Request) {
	if s := c.serverOf(w, r); s != nil {
		answer(w, http.StatusOK, object{"server": c.shown(s, r)})
	}
}

func (c nova) deleteServer(w http.ResponseWriter, r *http.Request) {
	if s := c.serverOf(w, r); s != nil {
		if s.task, s.at = "deleting", time.Now().Add(c.build); c.Overtaken > 0 {
			c.Overtaken--
			s.status, s.task = "ERROR", ""
			s.fault = "Exceeded maximum number of retries. Exhausted all hosts available for retrying build failures for instance " + s.id + "."
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func (c nova) actOnServer(w http.ResponseWriter, r *http.Request) {
	s := c.serverOf(w, r)
	if s == nil {
		return
	}
	var in map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in) != 1 {
		novaError(w, http.StatusBadRequest, "There is no such action")
		return
	}
	for action, body := range in {
		if action == "createImage" {
			c.bake(w, r, s, body)
			return
		}
		from, task := map[string]string{"os-stop": "ACTIVE", "os-start": "SHUTOFF"}[action], map[string]string{"os-stop": "powering-off", "os-start": "powering-on"}[action]
		switch {
		case task == "":
			novaError(w, http.StatusBadRequest, "There is no such action: "+action)
		case s.status != from || s.task != "":
			novaError(w, http.StatusConflict, fmt.Sprintf("Cannot '%s' instance %s while it is in vm_state %s", strings.TrimPrefix(action, "os-"), s.id, strings.ToLower(s.status)))
		default:
			s.task, s.at = task, time.Now().Add(c.build)
			w.WriteHeader(http.StatusAccepted)
		}
	}
}

func (c nova) renameServer(w http.ResponseWriter, r *http.Request) {
	var in struct{ Server map[string]json.RawMessage }
	s := c.serverOf(w, r)
	if s == nil {
		return
	}
	var name string
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || unknown(in.Server, "name") != "" || json.Unmarshal(in.Server["name"], &name) != nil || name == "" {
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute server.")
		return
	}
	s.name = name
	answer(w, http.StatusOK, object{"server": c.shown(s, r)})
}

// changeMetadata adds some, or takes one away.
func (c nova) changeMetadata(w http.ResponseWriter, r *http.Request) {
	s := c.serverOf(w, r)
	if s == nil {
		return
	}
	if r.Method == http.MethodDelete {
		if _, ok := s.metadata[r.PathValue("key")]; !ok {
			novaError(w, http.StatusNotFound, "Metadata item was not found")
			return
		}
		s.metadata = maps.Clone(s.metadata)
		delete(s.metadata, r.PathValue("key"))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var in struct{ Metadata map[string]string }
	err := json.NewDecoder(r.Body).Decode(&in)
	all := maps.Clone(s.metadata)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, in.Metadata)
	for k, v := range all {
		if k == "" || utf8.RuneCountInString(k) > 255 || utf8.RuneCountInString(v) > 255 || len(all) > 128 {
			err = fmt.Errorf("%q", k)
		}
	}
	if err != nil || in.Metadata == nil {
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute metadata.")
		return
	}
	s.metadata = all
	answer(w, http.StatusOK, object{"metadata": all})
}
