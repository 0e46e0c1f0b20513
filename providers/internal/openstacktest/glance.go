package openstacktest

import (
	"maps"
	"net/http"
	"slices"
)

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func shownImage(i Image) object {
	return object{"id": i.ID, "name": i.Name, "status": i.Status, "visibility": "public", "min_disk": i.MinDisk, "min_ram": i.MinRAM, "size": i.Size, "virtual_size": nil, "tags": []any{},
		"container_format": "bare", "disk_format": "qcow2", "protected": false, "os_distro": i.Name, "architecture": "x86_64", "owner": "0d1e2f", "os_hidden": false,
		"created_at": i.Made.Format("2006-01-02T15:04:05Z"), "updated_at": i.Made.Format("2006-01-02T15:04:05Z"), "file": "/v2/images/" + i.ID + "/file", "schema": "/v2/schemas/image"}
}

// glance is what a project may ask about images.
type glance struct{ *Cloud }

func (c glance) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /image/v2/images", c.guarded(func(w http.ResponseWriter, r *http.Request) {
		var all []object
		for _, i := range c.Images {
			if o := shownImage(i); matches(o, r.URL.Query(), "name", "status") {
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
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  No image found with ID " + r.PathValue("id") + "\n </body>\n</html>"))
	}))
}
