package docker

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// volumeRoutes are the engine's calls about volumes of its local driver.
func (s *sim) volumeRoutes(on func(string, func(http.ResponseWriter, *http.Request))) {
	on("POST /{v}/volumes/create", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Name, Driver string
			Labels       map[string]any
		}
		switch {
		case json.NewDecoder(r.Body).Decode(&body) != nil || body.Name == "":
			say(w, 400, "invalid JSON")
		case s.full:
			say(w, 500, "mkdir /var/lib/docker/volumes/"+body.Name+": no space left on device")
		case s.volumes[body.Name] != nil && s.volumes[body.Name]["Driver"] != body.Driver:
			say(w, 409, "conflict: volume name must be unique: a volume named "+body.Name+" already exists with another driver")
		default:
			answer(w, 201, s.volume(body.Name, body.Labels))
		}
	})
	on("GET /{v}/volumes", func(w http.ResponseWriter, r *http.Request) {
		var filters map[string]map[string]bool
		_ = json.Unmarshal([]byte(r.URL.Query().Get("filters")), &filters)
		out := []any{}
		for _, name := range slices.Sorted(maps.Keys(s.volumes)) {
			labels, _ := s.volumes[name]["Labels"].(map[string]any)
			fits := true
			for k := range filters["label"] {
				_, has := labels[k]
				fits = fits && has
			}
			if fits {
				out = append(out, s.volumes[name])
			}
		}
		answer(w, 200, map[string]any{"Volumes": out, "Warnings": nil})
	})
	on("GET /{v}/volumes/{id}", func(w http.ResponseWriter, r *http.Request) {
		if v := s.volumes[r.PathValue("id")]; v != nil {
			answer(w, 200, v)
			return
		}
		say(w, 404, "get "+r.PathValue("id")+": no such volume")
	})
	on("DELETE /{v}/volumes/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		for _, c := range s.containers {
			if c.has(id) {
				say(w, 409, "remove "+id+": volume is in use - ["+c.id+"]")
				return
			}
		}
		if s.volumes[id] == nil {
			say(w, 404, "get "+id+": no such volume")
			return
		}
		delete(s.volumes, id)
		w.WriteHeader(204)
	})
}

// volume returns the one with a name, which is made where there is none. One that is there keeps its labels.
func (s *sim) volume(name string, labels map[string]any) map[string]any {
	if s.volumes[name] == nil {
		s.volumes[name] = map[string]any{"Name": name, "Driver": "local", "Scope": "local", "Labels": labels, "Options": nil,
			"Mountpoint": "/var/lib/docker/volumes/" + name + "/_data", "CreatedAt": time.Now().UTC().Format(time.RFC3339)}
	}
	return s.volumes[name]
}

type simMount struct {
	Type, Source, Target string
	VolumeOptions        struct {
		NoCopy bool
		Labels map[string]any
	}
}

func (c *simContainer) mounts() (list []simMount) {
	b, _ := json.Marshal(c.host["Mounts"])
	_ = json.Unmarshal(b, &list)
	return list
}

func (c *simContainer) has(volume string) bool {
	return slices.ContainsFunc(c.mounts(), func(m simMount) bool { return m.Source == volume })
}

// mounted makes the volumes of a container that are not there.
func (s *sim) mounted(c *simContainer) {
	for _, m := range c.mounts() {
		s.volume(m.Source, m.VolumeOptions.Labels)
	}
}

func (s *sim) mountPoints(c *simContainer) []any {
	out := []any{}
	for _, m := range c.mounts() {
		out = append(out, map[string]any{"Type": strings.ToLower(m.Type), "Name": m.Source, "Destination": m.Target, "Driver": "local", "RW": true})
	}
	return out
}
