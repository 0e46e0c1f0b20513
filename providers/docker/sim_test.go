package docker

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"muster/app/family"
)

// sim is a Docker Engine over HTTP: the paths, statuses and JSON of its API at version 1.41, and its own words where it refuses.
type sim struct {
	mu         sync.Mutex
	containers map[string]*simContainer
	volumes    map[string]map[string]any
	images     map[string]map[string]any
	networks   map[string]map[string]any
	info       map[string]any
	full       bool // no space left
	serial     int

	registry map[string]simRemote // images that can be pulled, by their full names
	pulls    []string             // what was pulled, with the user that was shown
	builds   []simBuild
	slow     chan struct{} // pulls and builds wait for it
}

// simRemote is an image at a registry.
type simRemote struct {
	user, password string // "" lets everyone in
	says           string // instead of the image
}

// simBuild is what a build was asked for.
type simBuild struct {
	query url.Values
	files map[string]string
}

type simContainer struct {
	id, name string
	config   map[string]any
	host     map[string]any
	status   string
	made     time.Time
	address  string
	port     string
	files    map[string]string
}

func newSim() *sim {
	return &sim{
		containers: map[string]*simContainer{},
		volumes:    map[string]map[string]any{},
		images: map[string]map[string]any{
			"node:1":   {"Id": "sha256:aa", "RepoTags": []string{"node:1"}, "Os": "linux", "Architecture": "amd64", "Created": "2026-05-04T22:23:02Z"},
			"bare:1":   {"Id": "sha256:bb", "RepoTags": []string{"bare:1"}, "Os": "linux", "Architecture": "amd64", "Created": "2026-05-04T22:23:02Z"},
			"strange2": {"Id": "sha256:cc", "RepoTags": []string{"strange2"}, "Os": "windows", "Architecture": "amd64", "Created": "2026-05-04T22:23:02Z"},
		},
		networks: map[string]map[string]any{"bridge": {"Name": "bridge", "Id": "n1", "Driver": "bridge", "Scope": "local"}, "odd": {"Name": "odd", "Id": "n2", "Driver": "null", "Scope": "local"}},
		info:     map[string]any{"ID": "e1", "Name": "dock", "NCPU": 4, "MemTotal": 8 << 30, "OSType": "linux", "ServerVersion": "20.10.24"},
	}
}

func (s *sim) routes() http.Handler {
	m := http.NewServeMux()
	on := func(pattern string, do func(w http.ResponseWriter, r *http.Request)) {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			w.Header().Set("Api-Version", "1.41")
			w.Header().Set("Ostype", "linux")
			if v := r.PathValue("v"); v != "" && v != "v1.41" {
				say(w, 400, "client version "+v+" is too new. Maximum supported API version is 1.41")
				return
			}
			do(w, r)
		})
	}
	on("/_ping", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "OK") })
	on("GET /{v}/info", func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, s.info) })
	on("GET /{v}/networks/{id}", func(w http.ResponseWriter, r *http.Request) {
		if n := s.networks[r.PathValue("id")]; n != nil {
			answer(w, 200, n)
			return
		}
		say(w, 404, "network "+r.PathValue("id")+" not found")
	})
	on("POST /{v}/commit", s.commit)
	on("GET /{v}/images/json", func(w http.ResponseWriter, r *http.Request) {
		out := []map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(s.images)) {
			if labels, wanted := s.labelsOf(k), r.URL.Query().Get("filters"); wanted != "" {
				if labels[bakedPrefix+family.TagBake] != nil {
					out = append(out, map[string]any{"Id": s.images[k]["Id"], "RepoTags": s.images[k]["RepoTags"], "Created": s.images[k]["At"], "Labels": labels})
				}
				continue
			}
			out = append(out, map[string]any{"Id": s.images[k]["Id"], "RepoTags": s.images[k]["RepoTags"], "Created": 1777933382})
		}
		answer(w, 200, out)
	})
	on("GET /{v}/images/{id...}", func(w http.ResponseWriter, r *http.Request) {
		id := strings.TrimSuffix(r.PathValue("id"), "/json")
		if i := s.images[id]; i != nil {
			answer(w, 200, i)
			return
		}
		say(w, 404, "No such image: "+id)
	})
	on("DELETE /{v}/images/{id...}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		for _, c := range s.containers {
			if c.config["Image"] == id && r.URL.Query().Get("force") != "1" {
				say(w, 409, "conflict: unable to remove repository reference \""+id+"\" (must force) - container "+c.id+" is using its referenced image")
				return
			}
		}
		if s.images[id] == nil {
			say(w, 404, "No such image: "+id)
			return
		}
		delete(s.images, id)
		answer(w, 200, []any{})
	})
	on("GET /{v}/distribution/{id...}", s.look)
	on("POST /{v}/images/create", s.pull)
	on("POST /{v}/build", s.build)
	s.volumeRoutes(on)
	on("POST /{v}/containers/create", s.create)
	on("GET /{v}/containers/json", s.list)
	on("GET /{v}/containers/{id}/json", s.with(func(w http.ResponseWriter, _ *http.Request, c *simContainer) { answer(w, 200, s.inspected(c)) }))
	on("PUT /{v}/containers/{id}/archive", s.with(s.archive))
	on("POST /{v}/containers/{id}/start", s.with(s.start))
	on("POST /{v}/containers/{id}/stop", s.with(func(w http.ResponseWriter, _ *http.Request, c *simContainer) {
		if c.status != "running" {
			w.WriteHeader(304)
			return
		}
		c.status, c.address, c.port = "exited", "", ""
		w.WriteHeader(204)
	}))
	on("DELETE /{v}/containers/{id}", s.with(func(w http.ResponseWriter, r *http.Request, c *simContainer) {
		if c.status == "running" && r.URL.Query().Get("force") != "1" {
			say(w, 409, "You cannot remove a running container "+c.id+". Stop the container before attempting removal or force remove")
			return
		}
		delete(s.containers, c.id)
		w.WriteHeader(204)
	}))
	return m
}

// asked finds an image at the registry, as the user of a header; the status is that of a refusal.
func (s *sim) asked(name, auth string) (user string, status int, says string) {
	a, _ := authconfig.Decode(auth)
	if a == nil {
		a = new(registry.AuthConfig)
	}
	switch i, ok := s.registry[name]; {
	case !ok:
		return a.Username, 404, "manifest for " + name + " not found: manifest unknown: manifest unknown"
	case i.user != "" && (a.Username != i.user || a.Password != i.password):
		return a.Username, 500, "Head https://" + name + ": no basic auth credentials"
	case i.says != "":
		return a.Username, 500, i.says
	}
	return a.Username, 200, ""
}

func (s *sim) look(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("id"), "/json")
	if !strings.Contains(name, "/") {
		name = "docker.io/library/" + name
	}
	if _, status, says := s.asked(name, r.Header.Get("X-Registry-Auth")); status != 200 {
		say(w, status, says)
		return
	}
	answer(w, 200, map[string]any{"Descriptor": map[string]any{"digest": "sha256:dd"}})
}

// wait lets others in meanwhile.
func (s *sim) wait() {
	if s.slow != nil {
		s.mu.Unlock()
		<-s.slow
		s.mu.Lock()
	}
}

func (s *sim) pull(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	name := q.Get("fromImage") + ":" + q.Get("tag")
	if strings.HasPrefix(q.Get("tag"), "sha256:") {
		name = q.Get("fromImage") + "@" + q.Get("tag")
	}
	s.wait()
	user, status, says := s.asked(name, r.Header.Get("X-Registry-Auth"))
	s.pulls = append(s.pulls, name+" as "+user)
	if status == 404 {
		say(w, status, says)
		return
	}
	stream(w, map[string]any{"status": "Pulling from x", "id": q.Get("tag")},
		map[string]any{"status": "Downloading", "id": "aa11", "progressDetail": map[string]any{"current": 5, "total": 10}},
		map[string]any{"status": "Pull complete", "id": "aa11"})
	if status != 200 { // engines find out in the middle
		stream(w, map[string]any{"errorDetail": map[string]any{"message": says}, "error": says})
		return
	}
	short := strings.TrimPrefix(strings.TrimPrefix(name, "docker.io/"), "library/")
	s.images[short] = map[string]any{"Id": "sha256:dd", "RepoTags": []string{short}, "Os": "linux", "Size": 1 << 20}
	stream(w, map[string]any{"status": "Status: Downloaded newer image for " + short})
}

func stream(w http.ResponseWriter, messages ...map[string]any) {
	for _, m := range messages {
		_ = json.NewEncoder(w).Encode(m)
	}
}

func (s *sim) build(w http.ResponseWriter, r *http.Request) {
	b := simBuild{query: r.URL.Query(), files: map[string]string{}}
	for t := tar.NewReader(r.Body); ; {
		h, err := t.Next()
		if err != nil {
			break
		}
		content, _ := io.ReadAll(t)
		b.files[h.Name] = string(content)
	}
	s.wait()
	s.builds = append(s.builds, b)
	text := b.files["Dockerfile"]
	if strings.Contains(text, "cram") {
		say(w, 500, "Error processing tar file(exit status 1): write /Dockerfile: no space left on device")
		return
	}
	size := 1 << 20
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		stream(w, map[string]any{"stream": fmt.Sprintf("Step %d : %s", n+1, line)}, map[string]any{"stream": "\n"})
		fail := ""
		switch {
		case strings.HasPrefix(line, "FROM "):
			if s.images[strings.Fields(line)[1]] == nil {
				fail = "the engine had to pull " + line // it is to be there before
			}
		case strings.Contains(line, "false"):
			fail = "The command '/bin/sh -c false' returned a non-zero code: 1"
		case strings.Contains(line, "fill"):
			fail = "write /x: no space left on device"
		case strings.Contains(line, "huge"):
			size = 3 << 30
		}
		if fail != "" {
			stream(w, map[string]any{"errorDetail": map[string]any{"message": fail}, "error": fail})
			return
		}
	}
	tag := b.query.Get("t")
	s.images[tag] = map[string]any{"Id": "sha256:ee", "RepoTags": []string{tag}, "Os": "linux", "Size": size}
	stream(w, map[string]any{"aux": map[string]any{"ID": "sha256:ee"}}, map[string]any{"stream": "Successfully built ee\n"})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func say(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]any{"message": message})
}

// with finds a container by its id, the beginning of it, or its name.
func (s *sim) with(do func(http.ResponseWriter, *http.Request, *simContainer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		for _, c := range s.containers {
			if c.id == id || c.name == id || len(id) >= 12 && strings.HasPrefix(c.id, id) {
				do(w, r, c)
				return
			}
		}
		say(w, 404, "No such container: "+id)
	}
}

func (s *sim) create(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		say(w, 400, "invalid JSON")
		return
	}
	host, _ := body["HostConfig"].(map[string]any)
	name, image := r.URL.Query().Get("name"), fmt.Sprint(body["Image"])
	for _, c := range s.containers {
		if c.name == name {
			say(w, 409, `Conflict. The container name "/`+name+`" is already in use by container "`+c.id+`". You have to remove (or rename) that container to be able to reuse that name.`)
			return
		}
	}
	cpus, _ := host["NanoCpus"].(float64)
	memory, _ := host["Memory"].(float64)
	hostname, _ := body["Hostname"].(string)
	switch {
	case s.images[image] == nil:
		say(w, 404, "No such image: "+image)
	case cpus > float64(s.info["NCPU"].(int))*1e9:
		say(w, 400, "Range of CPUs is from 0.01 to 4.00, as there are only 4 CPUs available")
	case memory != 0 && memory < 6<<20:
		say(w, 400, "Minimum memory limit allowed is 6MB")
	case len(hostname) > 63:
		say(w, 400, "invalid hostname: "+hostname)
	case s.full:
		say(w, 500, "error creating overlay mount: no space left on device")
	default:
		labels, _ := body["Labels"].(map[string]any)
		for k, v := range s.labelsOf(image) { // which are inherited
			if _, has := labels[k]; !has && labels != nil {
				labels[k] = v
			}
		}
		s.serial++
		c := &simContainer{id: fmt.Sprintf("%064x", 0xabc000+s.serial), name: name, config: body, host: host, status: "created", made: time.Now(), files: map[string]string{}}
		s.containers[c.id] = c
		s.mounted(c)
		answer(w, 201, map[string]any{"Id": c.id, "Warnings": []string{}})
	}
}

func (s *sim) archive(w http.ResponseWriter, r *http.Request, c *simContainer) {
	if r.URL.Query().Get("path") != "/" {
		say(w, 404, "Could not find the file "+r.URL.Query().Get("path"))
		return
	}
	for t := tar.NewReader(r.Body); ; {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			say(w, 400, err.Error())
			return
		}
		b, _ := io.ReadAll(t)
		c.files["/"+h.Name] = strconv.FormatInt(h.Mode, 8) + " " + string(b)
	}
	w.WriteHeader(200)
}

// start wants what an SSH server wants: itself, its key, and who is let in.
func (s *sim) start(w http.ResponseWriter, _ *http.Request, c *simContainer) {
	network, _ := c.host["NetworkMode"].(string)
	switch {
	case c.status == "running":
		w.WriteHeader(304)
		return
	case s.networks[network] == nil:
		say(w, 404, "network "+network+" not found")
		return
	case c.config["Image"] == "bare:1":
		say(w, 400, `OCI runtime create failed: container_linux.go:380: starting container process caused: exec: "/usr/sbin/sshd": stat /usr/sbin/sshd: no such file or directory: unknown`)
		return
	case !strings.HasPrefix(c.files[hostFile], "600 -----BEGIN OPENSSH PRIVATE KEY-----") || !strings.HasPrefix(c.files[letsIn], "644 ssh-") || c.files["/run/sshd/"] == "":
		say(w, 500, "the container has exited: sshd: no hostkeys available")
		return
	}
	s.serial++
	c.status, c.address, c.port = "running", fmt.Sprintf("172.17.0.%d", s.serial%250+2), strconv.Itoa(32768+s.serial)
	w.WriteHeader(204)
}

func (s *sim) inspected(c *simContainer) map[string]any {
	ports := map[string]any{}
	if bound, ok := c.host["PortBindings"].(map[string]any); ok && bound["22/tcp"] != nil && c.port != "" {
		ports["22/tcp"] = []any{map[string]any{"HostIp": "192.0.2.1", "HostPort": c.port}}
	}
	return map[string]any{"Id": c.id, "Name": "/" + c.name, "Created": c.made.UTC().Format(time.RFC3339Nano), "State": map[string]any{"Status": c.status, "Running": c.status == "running"},
		"Mounts": s.mountPoints(c), "Config": c.config, "HostConfig": c.host, "Image": "sha256:aa", "NetworkSettings": map[string]any{"Ports": ports,
			"Networks": map[string]any{"bridge": map[string]any{"IPAddress": c.address, "Gateway": "172.17.0.1"}}}}
}

func (s *sim) list(w http.ResponseWriter, r *http.Request) {
	var filters map[string]map[string]bool
	if f := r.URL.Query().Get("filters"); f != "" && json.Unmarshal([]byte(f), &filters) != nil {
		say(w, 400, "invalid filters")
		return
	}
	out := []map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(s.containers)) {
		c := s.containers[id]
		labels, _ := c.config["Labels"].(map[string]any)
		fits := c.status == "running" || r.URL.Query().Get("all") == "1"
		for f := range filters["label"] {
			k, v, valued := strings.Cut(f, "=")
			got, has := labels[k]
			fits = fits && has && (!valued || got == v)
		}
		for v := range filters["volume"] {
			fits = fits && c.has(v)
		}
		if fits {
			out = append(out, map[string]any{"Id": id, "Names": []string{"/" + c.name}, "Image": c.config["Image"], "Labels": labels, "State": c.status, "Created": c.made.Unix(), "Mounts": s.mountPoints(c)})
		}
	}
	answer(w, 200, out)
}

func (s *sim) left() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.AppendSeq(slices.Collect(maps.Keys(s.containers)), maps.Keys(s.volumes))
	for name := range s.images {
		if isBaked(name) {
			out = append(out, name)
		}
	}
	return out
}

// labelsOf are the labels of an image's config.
func (s *sim) labelsOf(name string) map[string]any {
	config, _ := s.images[name]["Config"].(map[string]any)
	labels, _ := config["Labels"].(map[string]any)
	return labels
}

// commit makes an image of a container. Labels that the call doesn't have are the container's.
func (s *sim) commit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	c := s.containers[q.Get("container")]
	var body struct{ Labels map[string]any }
	switch {
	case c == nil:
		say(w, 404, "No such container: "+q.Get("container"))
		return
	case json.NewDecoder(r.Body).Decode(&body) != nil:
		say(w, 400, "invalid JSON")
		return
	case s.full:
		say(w, 500, "failed to register layer: no space left on device")
		return
	}
	labels := maps.Clone(body.Labels)
	own, _ := c.config["Labels"].(map[string]any)
	for k, v := range own {
		if _, has := labels[k]; !has {
			labels[k] = v
		}
	}
	s.serial++
	name := strings.TrimPrefix(q.Get("repo"), "docker.io/library/") + ":" + q.Get("tag")
	s.images[name] = map[string]any{"Id": fmt.Sprintf("sha256:%064x", s.serial), "RepoTags": []string{name}, "Os": "linux", "Architecture": "amd64",
		"Size": 1 << 20, "At": time.Now().Unix(), "Config": map[string]any{"Labels": labels}}
	answer(w, 201, map[string]any{"Id": s.images[name]["Id"]})
}
