package google

import (
	"net/http"
	"strings"
	"time"

	"muster/providers/google/internal/gcp"
)

func (c *cloud) project(w http.ResponseWriter, _ *http.Request) {
	reply(w, gcp.Project{Name: testProject, Quotas: []*gcp.Quota{{Metric: "CPUS_ALL_REGIONS", Limit: gcp.Double(c.everywhere), Usage: 4}}})
}

func (c *cloud) listZones(w http.ResponseWriter, _ *http.Request) {
	list := gcp.ZoneList{}
	for _, name := range sorted(c.zones) {
		list.Items = append(list.Items, &gcp.Zone{Name: name, Status: c.zones[name]})
	}
	reply(w, list)
}

func (c *cloud) getZone(w http.ResponseWriter, r *http.Request) {
	reply(w, gcp.Zone{Name: r.PathValue("zone"), Status: c.zones[r.PathValue("zone")]})
}

func (c *cloud) getRegion(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("region")
	if name != "europe-west3" && name != "us-east1" {
		notFound("projects/" + testProject + "/regions/" + name).write(w)
		return
	}
	region := gcp.Region{Name: name}
	for _, metric := range sorted(c.quotas) {
		region.Quotas = append(region.Quotas, &gcp.Quota{Metric: metric, Limit: gcp.Double(c.quotas[metric]), Usage: 1})
	}
	reply(w, region)
}

func (c *cloud) listTypes(w http.ResponseWriter, r *http.Request) {
	list := gcp.MachineTypeList{}
	for _, name := range sorted(c.types) {
		if (r.URL.Query().Get("pageToken") == "") == (name < "m") { // two pages
			list.Items = append(list.Items, c.types[name])
		}
	}
	if r.URL.Query().Get("pageToken") == "" {
		list.NextPageToken = "more"
	}
	reply(w, list)
}

func (c *cloud) getType(w http.ResponseWriter, r *http.Request) {
	if t := c.types[r.PathValue("name")]; t != nil {
		reply(w, t)
		return
	}
	notFound("projects/" + testProject + "/zones/" + r.PathValue("zone") + "/machineTypes/" + r.PathValue("name")).write(w)
}

func (c *cloud) getDiskType(w http.ResponseWriter, r *http.Request) {
	if name := r.PathValue("name"); strings.HasPrefix(name, "pd-") {
		reply(w, gcp.DiskType{Name: name})
		return
	}
	notFound("projects/" + testProject + "/zones/" + r.PathValue("zone") + "/diskTypes/" + r.PathValue("name")).write(w)
}

func (c *cloud) listImages(w http.ResponseWriter, r *http.Request) {
	list := gcp.ImageList{}
	wanted := map[string]string{}
	for _, part := range strings.Split(r.URL.Query().Get("filter"), " AND ") {
		if m := clause.FindStringSubmatch(part); m != nil {
			wanted[m[1]] = m[2]
		} else if part != "" {
			answer{http.StatusBadRequest, "invalid", "Invalid value for field 'filter': '" + part + "'.", nil}.write(w)
			return
		}
	}
	for _, path := range sorted(c.images) {
		if i := c.images[path]; !carries(i.Labels, wanted) || i.SourceDisk != "" && time.Since(when(i.CreationTimestamp)) < c.lag {
			continue
		}
		if strings.HasPrefix(path, "projects/"+r.PathValue("project")+"/") {
			list.Items = append(list.Items, c.images[path])
		}
	}
	reply(w, list)
}

func (c *cloud) getImage(w http.ResponseWriter, r *http.Request) {
	c.oneImage(w, "projects/"+r.PathValue("project")+"/global/images/"+r.PathValue("name"))
}

func (c *cloud) getFamily(w http.ResponseWriter, r *http.Request) {
	c.oneImage(w, "projects/"+r.PathValue("project")+"/global/images/family/"+r.PathValue("family"))
}

func (c *cloud) oneImage(w http.ResponseWriter, path string) {
	if i := c.image(path); i != nil {
		reply(w, i)
		return
	}
	notFound(path).write(w)
}

func (c *cloud) getNetwork(w http.ResponseWriter, r *http.Request) {
	if n := c.networks[r.PathValue("name")]; n != nil {
		reply(w, n)
		return
	}
	notFound("projects/" + testProject + "/global/networks/" + r.PathValue("name")).write(w)
}

func (c *cloud) getSubnetwork(w http.ResponseWriter, r *http.Request) {
	path := "projects/" + testProject + "/regions/" + r.PathValue("region") + "/subnetworks/" + r.PathValue("name")
	if network := c.subnets[path]; network != "" {
		reply(w, gcp.Subnetwork{Name: r.PathValue("name"), Network: links + "projects/" + testProject + "/global/networks/" + network})
		return
	}
	notFound(path).write(w)
}

func (c *cloud) testPermissions(w http.ResponseWriter, r *http.Request) {
	var asked gcp.Permissions
	if r.PathValue("test") != testProject+":testIamPermissions" {
		notFound(r.URL.Path).write(w)
		return
	}
	if !sent(w, r, &asked) {
		return
	}
	if c.noIAM {
		answer{http.StatusForbidden, "accessNotConfigured", "Cloud Resource Manager API has not been used in project 1 before or it is disabled.", nil}.write(w)
		return
	}
	var has gcp.Permissions
	for _, permission := range asked.Permissions {
		if c.granted[permission] {
			has.Permissions = append(has.Permissions, permission)
		}
	}
	reply(w, has)
}
