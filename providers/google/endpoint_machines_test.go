package google

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/providers/google/internal/gcp"
)

func (c *cloud) insert(w http.ResponseWriter, r *http.Request) {
	zone := r.PathValue("zone")
	var i gcp.Instance
	if !sent(w, r, &i) {
		return
	}
	if c.refuseNew != nil {
		c.refuseNew.write(w)
		return
	}
	if c.again(w, r) {
		return
	}
	if bad := c.invalidInstance(zone, &i); bad != nil {
		bad.write(w)
		return
	}
	path := "projects/" + testProject + "/zones/" + zone + "/instances/" + i.Name
	if c.instances[zone+"/"+i.Name] != nil {
		exists(path).write(w)
		return
	}
	c.next++
	i.ID, i.Zone, i.Status = c.next, links+"projects/"+testProject+"/zones/"+zone, "PROVISIONING"
	i.CreationTimestamp = time.Now().Format("2006-01-02T15:04:05.000-07:00")
	i.MachineType = links + "projects/" + testProject + "/" + i.MachineType
	i.LabelFingerprint = c.print()
	i.Metadata.Fingerprint = c.print()
	if i.Tags == nil {
		i.Tags = &gcp.Tags{}
	}
	i.Tags.Fingerprint = c.print()
	i.Disks[0].Source = links + "projects/" + testProject + "/zones/" + zone + "/disks/" + i.Name
	c.instances[zone+"/"+i.Name] = &i
	var op *operation
	fails, with := c.fails, c.failsWith
	op = c.begin(w, r, "insert", path, func() {
		if fails != nil {
			op.Error, op.HTTPErrorStatusCode, op.HTTPErrorMessage = &gcp.OperationError{Errors: []*gcp.OperationErrorItem{fails}}, with, http.StatusText(int(with))
			delete(c.instances, zone+"/"+i.Name)
			return
		}
		c.run(&i)
	})
}

// run has a machine running.
func (c *cloud) run(i *gcp.Instance) {
	c.next++
	i.Status, i.LastStartTimestamp = "RUNNING", time.Now().Format(time.RFC3339)
	nic := i.NetworkInterfaces[0]
	if nic.NetworkIP == "" {
		nic.NetworkIP = fmt.Sprintf("10.156.0.%d", c.next%250)
	}
	if len(nic.AccessConfigs) > 0 {
		nic.AccessConfigs[0].NatIP = fmt.Sprintf("198.51.100.%d", c.next%250)
	}
}

func (c *cloud) print() string { c.next++; return fmt.Sprintf("print-%d", c.next) }

// invalidInstance tells what is wrong with a machine that is asked for.
func (c *cloud) invalidInstance(zone string, i *gcp.Instance) *answer {
	refuse := func(a answer) *answer { return &a }
	_, kind, _ := strings.Cut(i.MachineType, "/machineTypes/")
	switch {
	case !nameForm.MatchString(i.Name):
		return refuse(invalid("resource.name", i.Name))
	case i.MachineType != "zones/"+zone+"/machineTypes/"+kind || c.types[kind] == nil:
		return refuse(answer{http.StatusBadRequest, "invalid", "Invalid value for field 'resource.machineType': '" + i.MachineType +
			"'. The referenced resource doesn't exist.", nil})
	case i.Hostname != "" && !hostForm.MatchString(i.Hostname):
		return refuse(invalid("resource.hostname", i.Hostname))
	case len(i.Labels) > 64 || i.Metadata == nil || len(i.NetworkInterfaces) != 1 || len(i.Disks) == 0 || !i.Disks[0].Boot:
		return refuse(invalid("resource", "incomplete"))
	}
	for k, v := range i.Labels {
		if !plainKey.MatchString(k) || !plainValue.MatchString(v) {
			return refuse(invalid("resource.labels", k+"="+v))
		}
	}
	for _, d := range i.Disks {
		at := d.InitializeParams
		if !d.AutoDelete || at == nil || at.DiskType == "" || at.DiskSizeGB < 1 || len(at.Labels) == 0 {
			return refuse(invalid("resource.disks", "incomplete"))
		}
		if d.Boot && c.image(at.SourceImage) == nil {
			return refuse(notFound(at.SourceImage))
		}
	}
	for _, a := range i.GuestAccelerators {
		if a.AcceleratorType != "zones/"+zone+"/acceleratorTypes/nvidia-tesla-t4" || a.AcceleratorCount < 1 {
			return refuse(answer{http.StatusBadRequest, "invalid", "Invalid value for field 'resource.guestAccelerators[0].acceleratorType': '" + a.AcceleratorType + "'. The referenced resource doesn't exist.", nil})
		}
		if !strings.HasPrefix(kind, "n1-") {
			return refuse(answer{http.StatusBadRequest, "invalid", "[" + kind + ", nvidia-tesla-t4] features are not compatible for creating instance.", nil})
		}
	}
	if accelerated := len(i.GuestAccelerators) + len(c.types[kind].Accelerators); accelerated > 0 && i.Scheduling.OnHostMaintenance != "TERMINATE" {
		return refuse(answer{http.StatusBadRequest, "invalid", "Instances with guest accelerators do not support live migration.", nil})
	}
	nic := i.NetworkInterfaces[0]
	network := c.networks[base(nic.Network)]
	switch {
	case nic.Network != "" && network == nil:
		return refuse(answer{http.StatusBadRequest, "invalid", "Invalid value for field 'resource.networkInterfaces[0].network': '" + nic.Network +
			"'. The referenced network resource cannot be found.", nil})
	case nic.Subnetwork != "" && c.subnets[nic.Subnetwork] == "":
		return refuse(invalid("resource.networkInterfaces[0].subnetwork", nic.Subnetwork))
	case nic.Subnetwork == "" && (network == nil || !network.AutoCreateSubnetworks):
		return refuse(answer{http.StatusBadRequest, "invalid", "Network interface must specify a subnet if the network resource is in custom subnet mode.", nil})
	}
	if s := i.Scheduling; s != nil && s.ProvisioningModel == "SPOT" && (s.AutomaticRestart == nil || *s.AutomaticRestart) {
		return refuse(answer{http.StatusBadRequest, "invalid", "Scheduling must have automaticRestart be false when provisioningModel is SPOT.", nil})
	}
	return nil
}

// image finds one by its path or by its family's.
func (c *cloud) image(path string) *gcp.Image {
	if i := c.images[path]; i != nil {
		return i
	}
	project, family, ok := strings.Cut(strings.TrimPrefix(path, "projects/"), "/global/images/family/")
	var newest *gcp.Image
	for at, i := range c.images {
		if ok && strings.HasPrefix(at, "projects/"+project+"/") && i.Family == family && (newest == nil || i.CreationTimestamp > newest.CreationTimestamp) {
			newest = i
		}
	}
	return newest
}

// find returns the machine that a call is about, or answers that there is none.
func (c *cloud) find(w http.ResponseWriter, r *http.Request) *gcp.Instance {
	at := r.PathValue("zone") + "/" + r.PathValue("name")
	i := c.instances[at]
	if i == nil {
		notFound("projects/" + testProject + "/zones/" + r.PathValue("zone") + "/instances/" + r.PathValue("name")).write(w)
	}
	return i
}

func (c *cloud) getInstance(w http.ResponseWriter, r *http.Request) {
	if i := c.find(w, r); i != nil {
		reply(w, i)
	}
}

func (c *cloud) deleteInstance(w http.ResponseWriter, r *http.Request) {
	if c.again(w, r) {
		return
	}
	if i := c.find(w, r); i != nil {
		i.Status = "STOPPING"
		at := r.PathValue("zone") + "/" + r.PathValue("name")
		c.begin(w, r, "delete", "instances/"+i.Name, func() {
			if c.instances[at] == i {
				delete(c.instances, at)
			}
		})
	}
}

func (c *cloud) change(w http.ResponseWriter, r *http.Request) {
	i := c.find(w, r)
	if i == nil || c.again(w, r) {
		return
	}
	stale := answer{http.StatusPreconditionFailed, "conditionNotMet", "Supplied fingerprint does not match current metadata fingerprint.", nil}
	none := func() {}
	switch verb := r.PathValue("verb"); verb {
	case "stop":
		i.Status = "STOPPING"
		c.begin(w, r, verb, "instances/"+i.Name, func() {
			i.Status = "TERMINATED"
			for _, a := range i.NetworkInterfaces[0].AccessConfigs {
				a.NatIP = ""
			}
		})
	case "start":
		if i.Status != "TERMINATED" {
			answer{http.StatusBadRequest, "resourceNotReady", "The resource 'projects/" + testProject + "/zones/" + base(i.Zone) + "/instances/" + i.Name + "' is not ready", nil}.write(w)
			return
		}
		fails := c.fails
		var op *operation
		op = c.begin(w, r, verb, "instances/"+i.Name, func() {
			if fails != nil {
				op.Error = &gcp.OperationError{Errors: []*gcp.OperationErrorItem{fails}}
				return
			}
			c.run(i)
		})
	case "attachDisk", "detachDisk":
		c.changeDisks(w, r, i, verb)
	case "resume":
		c.begin(w, r, verb, "instances/"+i.Name, func() { c.run(i) })
	case "setMetadata":
		var m gcp.Metadata
		if !sent(w, r, &m) {
			return
		}
		if m.Fingerprint != i.Metadata.Fingerprint {
			stale.write(w)
			return
		}
		m.Fingerprint, i.Metadata = c.print(), &m
		c.begin(w, r, verb, "instances/"+i.Name, none)
	case "setLabels":
		var l gcp.LabelsRequest
		if !sent(w, r, &l) {
			return
		}
		if l.LabelFingerprint != i.LabelFingerprint {
			stale.write(w)
			return
		}
		i.Labels, i.LabelFingerprint = l.Labels, c.print()
		c.begin(w, r, verb, "instances/"+i.Name, none)
	case "setTags":
		var tags gcp.Tags
		if !sent(w, r, &tags) {
			return
		}
		if tags.Fingerprint != i.Tags.Fingerprint {
			stale.write(w)
			return
		}
		tags.Fingerprint, i.Tags = c.print(), &tags
		c.begin(w, r, verb, "instances/"+i.Name, none)
	default:
		http.NotFound(w, r)
	}
}

// guest answers once the machine has run for a while.
func (c *cloud) guest(w http.ResponseWriter, r *http.Request) {
	i := c.find(w, r)
	if i == nil {
		return
	}
	c.looks[i.ID]++
	switch {
	case r.URL.Query().Get("queryPath") != "muster/started":
		invalid("queryPath", r.URL.Query().Get("queryPath")).write(w)
	case c.mutes:
		denied("compute.instances.getGuestAttributes", "instances/"+i.Name).write(w)
	case metaOf(i)["enable-guest-attributes"] != "TRUE" || c.looks[i.ID] < 2:
		notFound("muster/started' of type 'Guest Attribute").write(w)
	default:
		reply(w, map[string]any{"queryPath": "muster/started", "queryValue": map[string]any{
			"items": []any{map[string]string{"namespace": "muster", "key": "started", "value": "yes"}}}})
	}
}

var clause = regexp.MustCompile(`^\(labels\.([a-z-]+) = "([a-z0-9_-]*)"\)$`)

// aggregated lists machines of all zones, two on a page, with the warnings of zones that have none.
func (c *cloud) aggregated(w http.ResponseWriter, r *http.Request) {
	wanted := map[string]string{}
	if filter := r.URL.Query().Get("filter"); filter != "labels.muster-installation:*" {
		for _, part := range strings.Split(filter, " AND ") {
			m := clause.FindStringSubmatch(part)
			if m == nil {
				answer{http.StatusBadRequest, "invalid", "Invalid value for field 'filter': '" + filter + "'. Invalid list filter expression.", nil}.write(w)
				return
			}
			wanted[m[1]] = m[2]
		}
	}
	var fit []string
	for _, at := range sorted(c.instances) {
		i := c.instances[at]
		if _, ours := i.Labels["muster-installation"]; ours && carries(i.Labels, wanted) && time.Since(when(i.CreationTimestamp)) >= c.lag {
			fit = append(fit, at)
		}
	}
	const size = 2
	from, _ := strconv.Atoi(r.URL.Query().Get("pageToken"))
	page := gcp.InstanceAggregatedList{Items: map[string]gcp.InstancesScopedList{}}
	for zone := range c.zones {
		warning := &gcp.Warning{Code: "NO_RESULTS_ON_PAGE", Message: "There are no results for scope 'zones/" + zone + "' on this page."}
		if zone == c.unreachable {
			warning = &gcp.Warning{Code: "UNREACHABLE", Message: "The zone is unreachable."}
		}
		page.Items["zones/"+zone] = gcp.InstancesScopedList{Warning: warning}
	}
	for _, at := range fit[min(from, len(fit)):min(from+size, len(fit))] {
		i := c.instances[at]
		part := page.Items["zones/"+base(i.Zone)]
		part.Warning, part.Instances = nil, append(part.Instances, i)
		page.Items["zones/"+base(i.Zone)] = part
	}
	if from+size < len(fit) {
		page.NextPageToken = strconv.Itoa(from + size)
	}
	reply(w, page)
}

func (c *cloud) listFirewalls(w http.ResponseWriter, r *http.Request) {
	pattern, ok := strings.CutPrefix(r.URL.Query().Get("filter"), "name eq ")
	form, err := regexp.Compile("^" + pattern + "$")
	if !ok || err != nil {
		invalid("filter", r.URL.Query().Get("filter")).write(w)
		return
	}
	const size = 3
	from, _ := strconv.Atoi(r.URL.Query().Get("pageToken"))
	var fit []*gcp.Firewall
	for _, name := range sorted(c.firewalls) {
		if form.MatchString(name) {
			fit = append(fit, c.firewalls[name])
		}
	}
	page := gcp.FirewallList{Items: fit[min(from, len(fit)):min(from+size, len(fit))]}
	if from+size < len(fit) {
		page.NextPageToken = strconv.Itoa(from + size)
	}
	reply(w, page)
}

func (c *cloud) insertFirewall(w http.ResponseWriter, r *http.Request) {
	if c.again(w, r) {
		return
	}
	var f gcp.Firewall
	if !sent(w, r, &f) {
		return
	}
	path := "projects/" + testProject + "/global/firewalls/" + f.Name
	six := slices.ContainsFunc(f.SourceRanges, func(s string) bool { return strings.Contains(s, ":") })
	four := slices.ContainsFunc(f.SourceRanges, func(s string) bool { return !strings.Contains(s, ":") })
	switch {
	case !nameForm.MatchString(f.Name):
		invalid("resource.name", f.Name).write(w)
	case c.networks[base(f.Network)] == nil:
		invalid("resource.network", f.Network).write(w)
	case len(f.TargetTags) == 0 || (len(f.Allowed) == 0) == (len(f.Denied) == 0) || len(f.SourceRanges)+len(f.SourceTags) == 0:
		invalid("resource", "incomplete").write(w)
	case six && four:
		answer{http.StatusBadRequest, "invalid", "Invalid value for field 'resource.sourceRanges': IPv4 and IPv6 ranges cannot be mixed.", nil}.write(w)
	case c.firewalls[f.Name] != nil:
		exists(path).write(w)
	default:
		f.CreationTimestamp, f.Network = time.Now().Format(time.RFC3339), links+f.Network
		c.firewalls[f.Name] = &f
		c.begin(w, r, "insert", path, func() {})
	}
}

func (c *cloud) oneFirewall(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	f := c.firewalls[name]
	switch {
	case r.Method != http.MethodGet && c.again(w, r):
	case f == nil:
		notFound("projects/" + testProject + "/global/firewalls/" + name).write(w)
	case r.Method == http.MethodGet:
		reply(w, f)
	case r.Method == http.MethodDelete:
		delete(c.firewalls, name)
		c.begin(w, r, "delete", "firewalls/"+name, func() {})
	default:
		var whole gcp.Firewall
		if !sent(w, r, &whole) {
			return
		}
		if c.networks[base(whole.Network)] == nil {
			invalid("resource", "incomplete").write(w)
			return
		}
		whole.CreationTimestamp, whole.Network = f.CreationTimestamp, links+whole.Network
		c.firewalls[name] = &whole
		c.begin(w, r, "update", "firewalls/"+name, func() {})
	}
}
