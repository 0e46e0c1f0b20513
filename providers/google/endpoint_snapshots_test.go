package google

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"muster/providers/google/internal/gcp"
)

// insertSnapshot copies a disk, which takes as long as its operation.
func (c *cloud) insertSnapshot(w http.ResponseWriter, r *http.Request) {
	var x gcp.Snapshot
	if !sent(w, r, &x) || c.again(w, r) {
		return
	}
	d := c.disks[r.PathValue("zone")+"/"+r.PathValue("name")]
	path := "projects/" + testProject + "/global/snapshots/" + x.Name
	switch {
	case d == nil:
		notFound("projects/" + testProject + "/zones/" + r.PathValue("zone") + "/disks/" + r.PathValue("name")).write(w)
		return
	case d.Status != "READY":
		answer{http.StatusBadRequest, "resourceNotReady", "The disk is not ready", nil}.write(w)
		return
	case !nameForm.MatchString(x.Name):
		invalid("resource.name", x.Name).write(w)
		return
	case len(x.Labels) > 64 || len(x.Description) > 2048:
		invalid("resource", "too long").write(w)
		return
	case c.copies[x.Name] != nil:
		exists(path).write(w)
		return
	}
	for k, v := range x.Labels {
		if !plainKey.MatchString(k) || !plainValue.MatchString(v) {
			invalid("resource.labels", k+"="+v).write(w)
			return
		}
	}
	x.SourceDisk, x.DiskSizeGB, x.Status = links+"disks/"+d.Name, d.SizeGB, "CREATING"
	x.CreationTimestamp = time.Now().Format("2006-01-02T15:04:05.000-07:00")
	c.copies[x.Name] = &x
	end := "READY"
	if c.spoil > 0 {
		c.spoil, end = c.spoil-1, "FAILED"
	}
	c.begin(w, r, "createSnapshot", path, func() { x.Status = end })
}

func (c *cloud) oneSnapshot(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	path := "projects/" + testProject + "/global/snapshots/" + name
	x := c.copies[name]
	switch {
	case r.Method == http.MethodDelete && c.again(w, r):
	case x == nil:
		notFound(path).write(w)
	case r.Method == http.MethodGet:
		reply(w, x)
	case x.Status == "CREATING":
		answer{http.StatusBadRequest, "resourceNotReady", "The resource '" + path + "' is not ready", nil}.write(w)
	default:
		x.Status = "DELETING"
		c.begin(w, r, "delete", path, func() { delete(c.copies, name) })
	}
}

// listSnapshots lists two on a page.
func (c *cloud) listSnapshots(w http.ResponseWriter, r *http.Request) {
	wanted := map[string]string{}
	filter := r.URL.Query().Get("filter")
	for _, part := range strings.Split(filter, " AND ") {
		m := clause.FindStringSubmatch(part)
		if m == nil {
			answer{http.StatusBadRequest, "invalid", "Invalid value for field 'filter': '" + filter + "'.", nil}.write(w)
			return
		}
		wanted[m[1]] = m[2]
	}
	var fit []*gcp.Snapshot
	for _, name := range sorted(c.copies) {
		if x := c.copies[name]; carries(x.Labels, wanted) && time.Since(when(x.CreationTimestamp)) >= c.lag {
			fit = append(fit, x)
		}
	}
	const size = 2
	from, _ := strconv.Atoi(r.URL.Query().Get("pageToken"))
	page := gcp.SnapshotList{Items: fit[min(from, len(fit)):min(from+size, len(fit))]}
	if from+size < len(fit) {
		page.NextPageToken = strconv.Itoa(from + size)
	}
	reply(w, page)
}

// copiesTo refuses to make a disk of a snapshot that isn't whole, or is larger.
func (c *cloud) copiesTo(d *gcp.Disk) *answer {
	if d.SourceSnapshot == "" {
		return nil
	}
	name, ok := strings.CutPrefix(d.SourceSnapshot, "projects/"+testProject+"/global/snapshots/")
	x := c.copies[name]
	var bad answer
	switch {
	case !ok || x == nil:
		bad = notFound(d.SourceSnapshot)
	case x.Status != "READY":
		bad = answer{http.StatusBadRequest, "resourceNotReady", "The resource '" + d.SourceSnapshot + "' is not ready", nil}
	case d.SizeGB < x.DiskSizeGB:
		bad = answer{http.StatusBadRequest, "invalid", "Invalid value for field 'resource.sizeGb': '" + strconv.FormatInt(d.SizeGB, 10) +
			"'. Requested disk size cannot be smaller than the snapshot size", nil}
	default:
		return nil
	}
	return &bad
}
