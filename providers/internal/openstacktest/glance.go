package openstacktest

import (
	"maps"
	"net/http"
	"slices"
)

type volume struct {
	size         int
	kind, status string
}

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

// cinder is what a project may ask about volumes.
type cinder struct{ *Cloud }

func (c cinder) routes(mux *http.ServeMux) {
	const at = "/volume/v3/" + ProjectID
	mux.HandleFunc("GET "+at+"/limits", c.guarded(func(w http.ResponseWriter, _ *http.Request) {
		u := c.used()
		answer(w, http.StatusOK, object{"limits": object{"rate": []any{}, "absolute": object{"maxTotalVolumes": c.Limits.Volumes, "totalVolumesUsed": u.Volumes,
			"maxTotalVolumeGigabytes": c.Limits.VolumeGB, "totalGigabytesUsed": u.VolumeGB}}})
	}))
	mux.HandleFunc("GET "+at+"/types", c.guarded(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, object{"volume_types": []object{{"id": newID(), "name": "__DEFAULT__", "is_public": true, "extra_specs": object{}}, {"id": newID(), "name": "ssd", "is_public": true, "extra_specs": object{}}}})
	}))
	one := func(w http.ResponseWriter, r *http.Request) {
		v := c.volumes[r.PathValue("id")]
		switch {
		case v == nil:
			novaError(w, http.StatusNotFound, "Volume "+r.PathValue("id")+" could not be found.")
		case r.Method == http.MethodDelete && v.status == "in-use":
			novaError(w, http.StatusBadRequest, "Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots or be disassociated from snapshots after volume transfer.")
		case r.Method == http.MethodDelete:
			delete(c.volumes, r.PathValue("id"))
			w.WriteHeader(http.StatusAccepted)
		default:
			answer(w, http.StatusOK, object{"volume": object{"id": r.PathValue("id"), "status": v.status, "size": v.size, "volume_type": v.kind, "name": "", "created_at": "2026-01-02T03:04:05.000000", "metadata": object{}}})
		}
	}
	mux.HandleFunc("GET "+at+"/volumes/{id}", c.guarded(one))
	mux.HandleFunc("DELETE "+at+"/volumes/{id}", c.guarded(one))
}
