package openstacktest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

func (c nova) makeServer(w http.ResponseWriter, r *http.Request) {
	var raw struct{ Server map[string]json.RawMessage }
	var in struct {
		Name     string
		Image    string `json:"imageRef"`
		Flavor   string `json:"flavorRef"`
		Zone     string `json:"availability_zone"`
		Metadata map[string]string
		UserData string `json:"user_data"`
		Drive    bool   `json:"config_drive"`
		Networks json.RawMessage
		Groups   []struct{ Name string } `json:"security_groups"`
		Disks    []disk                  `json:"block_device_mapping_v2"`
	}
	body := json.NewDecoder(r.Body)
	if err := body.Decode(&raw); err != nil || raw.Server == nil {
		novaError(w, http.StatusBadRequest, "Malformed request body")
		return
	}
	if k := unknown(raw.Server, "name", "imageRef", "flavorRef", "availability_zone", "metadata", "user_data", "config_drive", "networks", "security_groups", "block_device_mapping_v2"); k != "" {
		novaError(w, http.StatusBadRequest, "Additional properties are not allowed ('"+k+"' was unexpected)")
		return
	}
	whole, _ := json.Marshal(raw.Server)
	if err := json.Unmarshal(whole, &in); err != nil {
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute: "+err.Error())
		return
	}
	s := &server{id: newID(), name: in.Name, flavor: in.Flavor, image: in.Image, zone: in.Zone, metadata: in.Metadata, drive: in.Drive, disks: in.Disks, made: time.Now().UTC().Truncate(time.Second),
		status: "BUILD", task: "scheduling", at: time.Now().Add(c.build), fault: c.Fault}
	if !c.hasVolumes() && slices.ContainsFunc(in.Disks, func(d disk) bool { return d.Destination == "volume" }) {
		s.fault = "Build of instance " + s.id + " aborted: publicURL endpoint for volumev3 service not found" // it is found out by the one who builds it
	}
	if c.rackspace && in.UserData != "" && !in.Drive {
		novaError(w, http.StatusBadRequest, "User data needs a config drive.")
		return
	}
	if c.rackspace && slices.ContainsFunc(in.Disks, outsized) {
		novaError(w, http.StatusBadRequest, "Block Device Mapping is Invalid: failed to get volume: 'size' parameter must be between 75 and 1024.")
		return
	}
	if problem := c.wrong(s, in.UserData, atLeast(r, 67)); problem != "" {
		novaError(w, http.StatusBadRequest, problem)
		return
	}
	if s.zone != "" && !c.Zones[s.zone] {
		novaError(w, http.StatusBadRequest, "The requested availability zone is not available")
		return
	}
	if !c.plug(w, s, in.Networks, atLeast(r, 37)) {
		return
	}
	for _, g := range in.Groups {
		id := c.groupOf(g.Name)
		if id == "" {
			novaError(w, http.StatusBadRequest, "Security group "+g.Name+" not found for project "+ProjectID+".")
			return
		}
		s.groups = append(s.groups, id)
	}
	boots := slices.ContainsFunc(s.disks, func(d disk) bool { return d.Boot == 0 && d.Destination == "volume" })
	f := c.flavorOf(s.flavor)
	if f.Disk == 0 && !boots {
		novaError(w, http.StatusForbidden, "Only volume-backed servers are allowed for flavors with zero disk. ")
		return
	}
	u := c.used()
	for _, q := range []struct {
		name              string
		asks, used, limit int
	}{{"instances", 1, u.Servers, c.Limits.Servers}, {"cores", f.CPU, u.Cores, c.Limits.Cores}, {"ram", f.RAM, u.MemoryMB, c.Limits.MemoryMB}} {
		if q.limit >= 0 && q.used+q.asks > q.limit {
			novaError(w, http.StatusForbidden, fmt.Sprintf("Quota exceeded for %s: Requested %d, but already used %d of %d %s", q.name, q.asks, q.used, q.limit, q.name))
			return
		}
	}
	if most := c.Limits.Ports; !c.rackspace && most >= 0 && u.Ports+len(s.networks) > most {
		problem := "Maximum number of ports exceeded"
		if u.Ports > most { // as after the quota was lowered
			problem = fmt.Sprintf("The number of defined ports: %d is over the limit: %d", u.Ports, most)
		}
		novaError(w, http.StatusForbidden, problem)
		return
	}
	s.born = time.Now()
	c.servers[s.id] = s
	answer(w, http.StatusAccepted, object{"server": object{"id": s.id, "links": []any{}, "OS-DCF:diskConfig": "MANUAL", "security_groups": []any{object{"name": "default"}}, "adminPass": "k3vS9cBfYzJp"}})
}

// wrong tells what Nova refuses in a server, in its words.
func (c nova) wrong(s *server, userData string, typed bool) string {
	if s.name == "" || utf8.RuneCountInString(s.name) > 255 {
		return "Invalid input for field/attribute name. Value: " + s.name
	}
	if c.flavorOf(s.flavor).ID == "" {
		return "Flavor " + s.flavor + " could not be found."
	}
	if len(s.metadata) > 128 {
		return "Maximum number of metadata items exceeds 128"
	}
	for k, v := range s.metadata {
		if k == "" || utf8.RuneCountInString(k) > 255 || utf8.RuneCountInString(v) > 255 {
			return "Invalid input for field/attribute " + k + ". Value: " + v + ". is too long"
		}
	}
	plain, err := base64.StdEncoding.DecodeString(userData)
	if err != nil || len(userData) > 65535 {
		return "Invalid input for field/attribute user_data. '...' is not a 'base64'"
	}
	s.userData = string(plain)
	from := s.image
	for _, d := range s.disks {
		switch {
		case d.Source != "image" && d.Source != "blank":
			return "Invalid input for field/attribute source_type"
		case d.Source == "image":
			from = d.UUID
		case d.Destination == "volume" && d.Size < 1:
			return "Blank volumes (source: 'blank', dest: 'volume') need to have non-zero size"
		}
		if d.Type != "" && !typed {
			return "Additional properties are not allowed ('volume_type' was unexpected)"
		}
		if d.Type != "" && d.Type != "ssd" {
			return "Volume type " + d.Type + " could not be found."
		}
		if d.Source == "image" && d.Destination == "volume" && s.image != "" {
			return "Block Device Mapping is Invalid: You specified more local devices than the limit allows"
		}
	}
	image := c.imageOf(from)
	switch {
	case from == "":
		return "Block Device Mapping is Invalid: No boot device"
	case image == nil:
		return "Can not find requested image"
	case image.Status != "active":
		return "Image " + from + " is not active."
	case image.MinRAM > c.flavorOf(s.flavor).RAM:
		return "Flavor's memory is too small for requested image."
	}
	for _, d := range s.disks {
		if d.Source == "image" && d.Destination == "volume" {
			if image.MinDisk > d.Size {
				return "Block Device Mapping is Invalid: Failed to create volume: the size is smaller than the image's minDisk"
			}
			return ""
		}
	}
	if disk := c.flavorOf(s.flavor).Disk; disk > 0 && image.MinDisk > disk {
		return "Flavor's disk is too small for requested image. Flavor disk is smaller than the minimum size specified in image metadata."
	}
	return ""
}

// plug finds the networks of a server.
func (c nova) plug(w http.ResponseWriter, s *server, raw json.RawMessage, must bool) bool {
	var some []struct{ UUID, Port string }
	var word string
	switch {
	case len(raw) == 0 && must:
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute server. Value: ... 'networks' is a required property")
		return false
	case json.Unmarshal(raw, &word) == nil && word != "auto" && word != "":
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute networks.")
		return false
	case len(raw) == 0 && c.rackspace:
		s.networks = []string{publicNet, serviceNet}
		return true
	case len(raw) == 0, word == "auto":
		for _, n := range c.Networks {
			if !n.External {
				s.networks = append(s.networks, n.ID)
			}
		}
		if len(s.networks) > 1 {
			novaError(w, http.StatusConflict, "Multiple possible networks found, use a Network ID to be more specific.")
			return false
		}
		return true
	}
	if err := json.Unmarshal(raw, &some); err != nil || len(some) == 0 {
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute networks.")
		return false
	}
	for _, one := range some {
		n := c.networkOf(one.UUID)
		if n == nil {
			novaError(w, http.StatusBadRequest, "Network "+one.UUID+" could not be found.")
			return false
		}
		if len(n.Subnets) == 0 {
			novaError(w, http.StatusBadRequest, "Network "+n.ID+" requires a subnet in order to boot instances on.")
			return false
		}
		s.networks = append(s.networks, n.ID)
	}
	return true
}
