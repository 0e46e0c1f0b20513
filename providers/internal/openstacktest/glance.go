package openstacktest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func shownImage(i Image) object {
	if i.properties != nil {
		return i.snapshot()
	}
	return object{"id": i.ID, "name": i.Name, "status": i.Status, "visibility": "public", "min_disk": i.MinDisk, "min_ram": i.MinRAM, "size": i.Size, "virtual_size": nil, "tags": []any{},
		"container_format": "bare", "disk_format": "qcow2", "protected": false, "os_distro": i.Name, "architecture": "x86_64", "owner": "0d1e2f", "os_hidden": false,
		"created_at": i.Made.Format("2006-01-02T15:04:05Z"), "updated_at": i.Made.Format("2006-01-02T15:04:05Z"), "file": "/v2/images/" + i.ID + "/file", "schema": "/v2/schemas/image"}
}

// snapshot is an image of a server as Glance shows it, with the metadata that Nova was given and what it adds.
func (i Image) snapshot() object {
	size := any(i.Size)
	if i.Status != "active" {
		size = nil
	}
	at := i.Made.Format("2006-01-02T15:04:05Z")
	out := object{"id": i.ID, "name": i.Name, "status": i.Status, "visibility": "private", "min_disk": i.MinDisk, "min_ram": i.MinRAM, "size": size,
		"virtual_size": nil, "tags": []any{}, "container_format": "bare", "disk_format": "qcow2", "protected": false, "owner": ProjectID, "os_hidden": false,
		"image_type": "snapshot", "created_at": at, "updated_at": at, "file": "/v2/images/" + i.ID + "/file", "schema": "/v2/schemas/image"}
	for k, v := range i.properties {
		out[k] = v
	}
	return out
}

// having reports whether an image has the properties that a query asks for: Glance filters by any.
func (i Image) having(q url.Values) bool {
	for k := range q {
		if strings.HasPrefix(k, "muster") && i.properties[k] != q.Get(k) {
			return false
		}
	}
	return true
}

// bake makes an image of a server, which is saved for a while.
func (c nova) bake(w http.ResponseWriter, r *http.Request, s *server, body json.RawMessage) {
	var raw map[string]json.RawMessage
	var in struct {
		Name     string
		Metadata map[string]string
	}
	if json.Unmarshal(body, &raw) != nil || json.Unmarshal(body, &in) != nil || in.Name == "" || unknown(raw, "name", "metadata") != "" {
		novaError(w, http.StatusBadRequest, "Invalid input for field/attribute createImage.")
		return
	}
	if s.task != "" || !slices.Contains([]string{"ACTIVE", "SHUTOFF"}, s.status) {
		novaError(w, http.StatusConflict, "Cannot 'createImage' instance "+s.id+" while it is in task_state "+s.task)
		return
	}
	disk := c.flavorOf(s.flavor).Disk
	i := Image{ID: newID(), Name: in.Name, Status: "queued", MinDisk: disk, Size: 900 << 20, Made: time.Now().UTC().Truncate(time.Second),
		properties: c.inherited(s), ready: time.Now().Add(c.build)}
	maps.Copy(i.properties, in.Metadata)
	c.Images = append(c.Images, i)
	s.task, s.at = "image_snapshot", i.ready
	if atLeast(r, 45) {
		answer(w, http.StatusAccepted, object{"image_id": i.ID})
		return
	}
	w.Header().Set("Location", "http://"+r.Host+"/image/v2/images/"+i.ID)
	w.WriteHeader(http.StatusAccepted)
}

// inherited are the properties of an image of a server before those that a call asks for: the server's own image's, and
// what Nova adds. https://opendev.org/openstack/nova/src/branch/master/nova/compute/api.py has it in _create_image.
func (c nova) inherited(s *server) map[string]string {
	out := map[string]string{}
	base := s.image
	for _, d := range s.disks {
		if d.Source == "image" {
			base = d.UUID
		}
	}
	if i := c.imageOf(base); i != nil {
		maps.Copy(out, i.properties)
	}
	out["instance_uuid"], out["base_image_ref"], out["user_id"] = s.id, base, ProjectID
	return out
}

// Snapshot makes an image of a server as a person does it, and returns its id.
func (c *Cloud) Snapshot(server, name string) (id string) {
	c.With(func(c *Cloud) {
		i := Image{ID: newID(), Name: name, Status: "active", Size: 900 << 20, Made: time.Now().UTC().Truncate(time.Second),
			properties: nova{c}.inherited(c.servers[server])}
		c.Images, id = append(c.Images, i), i.ID
	})
	return id
}

// saveImages ends what was begun by bake.
func (c *Cloud) saveImages() {
	for n := range c.Images {
		i := &c.Images[n]
		if i.properties != nil && i.Status == "queued" && !time.Now().Before(i.ready) {
			i.Status = "active"
		}
	}
}

// glance is what a project may ask about images.
type glance struct{ *Cloud }

func (c glance) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /image/v2/images", c.guarded(func(w http.ResponseWriter, r *http.Request) {
		var all []object
		for _, i := range c.Images {
			if o := shownImage(i); i.having(r.URL.Query()) && matches(o, r.URL.Query(), "name", "status") && time.Since(i.Made) >= c.Lag {
				all = append(all, o)
			}
		}
		c.page(w, r, "images", all)
	}))
	mux.HandleFunc("GET /image/v2/images/{id}", c.guarded(func(w http.ResponseWriter, r *http.Request) {
		if i := c.imageOf(r.PathValue("id")); i != nil {
			answer(w, http.StatusOK, shownImage(*i))
			return
		}
		noImage(w, r)
	}))
	mux.HandleFunc("DELETE /image/v2/images/{id}", c.guarded(func(w http.ResponseWriter, r *http.Request) {
		i := c.imageOf(r.PathValue("id"))
		switch {
		case i == nil:
			noImage(w, r)
		case i.properties == nil: // of others
			w.WriteHeader(http.StatusForbidden)
		default:
			c.Images = slices.DeleteFunc(c.Images, func(x Image) bool { return x.ID == i.ID })
			w.WriteHeader(http.StatusNoContent)
		}
	}))
}

func noImage(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte("<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  No image found with ID " + r.PathValue("id") + "\n </body>\n</html>"))
}

// ImageName returns an image's name; "" where there is none.
func (c *Cloud) ImageName(id string) (name string) {
	c.With(func(c *Cloud) {
		if i := c.imageOf(id); i != nil {
			name = i.Name
		}
	})
	return name
}
