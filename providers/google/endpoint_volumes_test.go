package google

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/providers/google/internal/gcp"
)

const ()

func (c *cloud) insertDisk(w http.ResponseWriter, r *http.Request) {
	zone := r.PathValue("zone")
	var d gcp.Disk
	if !sent(w, r, &d) {
		return
	}
	if c.refuseNew != nil {
		c.refuseNew.write(w)
		return
	}
	if c.again(w, r) {
		return
	}
	kind, ok := strings.CutPrefix(d.Type, "zones/"+zone+"/diskTypes/")
	switch {
	case !nameForm.MatchString(d.Name):
		invalid("resource.name", d.Name).write(w)
		return
	case !ok || kind != "pd-balanced" && kind != "pd-ssd" && kind != "hyperdisk-balanced":
		invalid("resource.type", d.Type).write(w)
		return
	case d.SizeGB < map[bool]int64{true: 10, false: 4}[strings.HasPrefix(kind, "pd-")]:
		invalid("resource.sizeGb", strconv.FormatInt(d.SizeGB, 10)).write(w)
		return
	case len(d.Labels) > 64 || len(d.Description) > 2048:
		invalid("resource", "too long").write(w)
		return
	}
	if bad := c.copiesTo(&d); bad != nil {
		bad.write(w)
		return
	}
	for k, v := range d.Labels {
		if !plainKey.MatchString(k) || !plainValue.MatchString(v) {
			invalid("resource.labels", k+"="+v).write(w)
			return
		}
	}
	path := "projects/" + testProject + "/zones/" + zone + "/disks/" + d.Name
	if c.disks[zone+"/"+d.Name] != nil {
		exists(path).write(w)
		return
	}
	d.Zone, d.Status, d.CreationTimestamp = links+"projects/"+testProject+"/zones/"+zone, "CREATING", time.Now().Format("2006-01-02T15:04:05.000-07:00")
	c.disks[zone+"/"+d.Name] = &d
	fails, with := c.fails, c.failsWith
	var op *operation
	op = c.begin(w, r, "insert", path, func() {
		if d.Status = "READY"; fails != nil {
			op.Error, op.HTTPErrorStatusCode, op.HTTPErrorMessage = &gcp.OperationError{Errors: []*gcp.OperationErrorItem{fails}}, with, http.StatusText(int(with))
			delete(c.disks, zone+"/"+d.Name)
		}
	})
}

func used(disk, by string) answer {
	return answer{http.StatusBadRequest, "resourceInUseByAnotherResource", "The disk resource '" + disk + "' is already being used by '" + by + "'", nil}
}

// usersOf are the instances that have a disk.
func (c *cloud) usersOf(d *gcp.Disk) (out []string) {
	for _, i := range c.instances {
		if deviceOf(i, d) != "" {
			out = append(out, links+"projects/"+testProject+"/zones/"+base(i.Zone)+"/instances/"+i.Name)
		}
	}
	return out
}

func (c *cloud) shownDisk(d *gcp.Disk) *gcp.Disk {
	out := *d
	out.Users = c.usersOf(d)
	return &out
}

func (c *cloud) oneDisk(w http.ResponseWriter, r *http.Request) {
	at := r.PathValue("zone") + "/" + r.PathValue("name")
	path := "projects/" + testProject + "/zones/" + r.PathValue("zone") + "/disks/" + r.PathValue("name")
	d := c.disks[at]
	switch {
	case r.Method == http.MethodDelete && c.again(w, r):
	case d == nil:
		notFound(path).write(w)
	case r.Method == http.MethodGet:
		reply(w, c.shownDisk(d))
	case len(c.usersOf(d)) > 0:
		used(path, c.usersOf(d)[0]).write(w)
	case d.Status != "READY":
		answer{http.StatusBadRequest, "resourceNotReady", "The resource '" + path + "' is not ready", nil}.write(w)
	default:
		d.Status = "DELETING"
		c.begin(w, r, "delete", path, func() { delete(c.disks, at) })
	}
}

// aggregatedDisks lists disks of all zones, two on a page; those of machines carry their labels, too.
func (c *cloud) aggregatedDisks(w http.ResponseWriter, r *http.Request) {
	wanted := map[string]string{}
	filter := r.URL.Query().Get("filter")
	for _, part := range strings.Split(filter, " AND ") {
		m := clause.FindStringSubmatch(part)
		if m == nil {
			answer{http.StatusBadRequest, "invalid", "Invalid value for field 'filter': '" + filter + "'. Invalid list filter expression.", nil}.write(w)
			return
		}
		wanted[m[1]] = m[2]
	}
	var fit []*gcp.Disk
	for _, at := range sorted(c.disks) {
		if d := c.disks[at]; carries(d.Labels, wanted) && time.Since(when(d.CreationTimestamp)) >= c.lag {
			fit = append(fit, c.shownDisk(d))
		}
	}
	for _, at := range sorted(c.instances) {
		i := c.instances[at]
		boot := &gcp.Disk{Name: i.Name, Zone: i.Zone, Status: "READY", Labels: i.Disks[0].InitializeParams.Labels, SizeGB: 20, CreationTimestamp: i.CreationTimestamp}
		if carries(boot.Labels, wanted) {
			fit = append(fit, boot)
		}
	}
	const size = 2
	from, _ := strconv.Atoi(r.URL.Query().Get("pageToken"))
	page := gcp.DiskAggregatedList{Items: map[string]gcp.DisksScopedList{}}
	for zone := range c.zones {
		warning := &gcp.Warning{Code: "NO_RESULTS_ON_PAGE", Message: "There are no results for scope 'zones/" + zone + "' on this page."}
		if zone == c.unreachable {
			warning = &gcp.Warning{Code: "UNREACHABLE", Message: "The zone is unreachable."}
		}
		page.Items["zones/"+zone] = gcp.DisksScopedList{Warning: warning}
	}
	for _, d := range fit[min(from, len(fit)):min(from+size, len(fit))] {
		part := page.Items["zones/"+base(d.Zone)]
		part.Warning, part.Disks = nil, append(part.Disks, d)
		page.Items["zones/"+base(d.Zone)] = part
	}
	if from+size < len(fit) {
		page.NextPageToken = strconv.Itoa(from + size)
	}
	reply(w, page)
}

// attach and detach a disk of an instance.
func (c *cloud) changeDisks(w http.ResponseWriter, r *http.Request, i *gcp.Instance, verb string) {
	if verb == "detachDisk" {
		device := r.URL.Query().Get("deviceName")
		if !slices.ContainsFunc(i.Disks, func(a *gcp.AttachedDisk) bool { return a.DeviceName == device && device != "" }) {
			answer{http.StatusBadRequest, "invalid", "Invalid value for field 'disk': '" + device +
				"'. No attached disk found with device name '" + device + "'", nil}.write(w)
			return
		}
		c.begin(w, r, verb, "instances/"+i.Name, func() {
			i.Disks = slices.DeleteFunc(i.Disks, func(a *gcp.AttachedDisk) bool { return a.DeviceName == device })
		})
		return
	}
	var a gcp.AttachedDisk
	if !sent(w, r, &a) {
		return
	}
	zone, name, _ := strings.Cut(strings.TrimPrefix(a.Source, "projects/"+testProject+"/zones/"), "/disks/")
	d := c.disks[zone+"/"+name]
	switch {
	case d == nil:
		notFound(a.Source).write(w)
	case zone != base(i.Zone):
		answer{http.StatusBadRequest, "invalid", "Invalid value for field 'resource.source': '" + a.Source +
			"'. The disk must be in the same zone as the instance.", nil}.write(w)
	case len(c.usersOf(d)) > 0:
		used(a.Source, c.usersOf(d)[0]).write(w)
	case d.Status != "READY" || i.Status != "RUNNING" && i.Status != "TERMINATED":
		answer{http.StatusBadRequest, "resourceNotReady", "The resource is not ready", nil}.write(w)
	case !nameForm.MatchString(a.DeviceName) || slices.ContainsFunc(i.Disks, func(o *gcp.AttachedDisk) bool { return o.DeviceName == a.DeviceName }):
		invalid("resource.deviceName", a.DeviceName).write(w)
	default:
		a.Source = links + a.Source
		c.begin(w, r, verb, "instances/"+i.Name, func() { i.Disks = append(i.Disks, &a) })
	}
}
