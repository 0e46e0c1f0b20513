package google

import (
	"net/http"
	"strings"
	"time"

	"muster/providers/google/internal/gcp"
)

// insertImage makes an image of a disk that a machine has, which lasts as long as its operation.
func (c *cloud) insertImage(w http.ResponseWriter, r *http.Request) {
	var i gcp.Image
	if !sent(w, r, &i) || c.again(w, r) {
		return
	}
	path := "projects/" + testProject + "/global/images/" + i.Name
	var holder *gcp.Instance
	for _, m := range c.instances {
		if strings.HasSuffix(m.Disks[0].Source, i.SourceDisk) && i.SourceDisk != "" {
			holder = m
		}
	}
	switch {
	case !nameForm.MatchString(i.Name):
		invalid("resource.name", i.Name).write(w)
		return
	case holder == nil:
		notFound(i.SourceDisk).write(w)
		return
	case holder.Status == "RUNNING" && r.URL.Query().Get("forceCreate") != "true":
		used(i.SourceDisk, holder.Name).write(w)
		return
	case len(i.Labels) > 64 || len(i.Description) > 2048:
		invalid("resource", "too long").write(w)
		return
	case c.images[path] != nil:
		exists(path).write(w)
		return
	}
	for k, v := range i.Labels {
		if !plainKey.MatchString(k) || !plainValue.MatchString(v) {
			invalid("resource.labels", k+"="+v).write(w)
			return
		}
	}
	i.Status, i.DiskSizeGB, i.Architecture = "PENDING", 10, "X86_64"
	i.CreationTimestamp = time.Now().Format("2006-01-02T15:04:05.000-07:00")
	c.images[path] = &i
	c.begin(w, r, "insert", path, func() { i.Status = "READY" })
}

func (c *cloud) deleteImage(w http.ResponseWriter, r *http.Request) {
	path := "projects/" + testProject + "/global/images/" + r.PathValue("name")
	i := c.images[path]
	switch {
	case c.again(w, r):
	case i == nil:
		notFound(path).write(w)
	case i.Status == "PENDING":
		answer{http.StatusBadRequest, "resourceNotReady", "The resource '" + path + "' is not ready", nil}.write(w)
	default:
		i.Status = "DELETING"
		c.begin(w, r, "delete", path, func() { delete(c.images, path) })
	}
}
