package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/automators/internal/node"
)

// spec is what a service's container should be.
type spec struct {
	name, image string
	env         []variable
	ports       []port
	volumes     []string
	links       []link
	command     []string
	restart     string
	network     string
	memory      string
	cpus        string
	pull        string
	user        string // of the registry
	password    string
	settle      int // seconds for which it must run
	health      int // seconds in which its health check must pass
}

// The options of pull.
const (
	pullAlways  = "always"
	pullMissing = "missing"
	pullNever   = "never"
)

var (
	imageForm   = regexp.MustCompile(`^[a-zA-Z0-9](?:[a-zA-Z0-9._:/-]{0,250}[a-zA-Z0-9_])?(?:@sha256:[0-9a-f]{64})?$`)
	restartForm = regexp.MustCompile(`^(?:no|always|unless-stopped|on-failure(?::\d{1,4})?)$`)
	nameForm    = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`)
	memoryForm  = regexp.MustCompile(`^\d{1,15}[bkmgBKMG]?$`)
	cpusForm    = regexp.MustCompile(`^(?:\d{1,4}(?:\.\d{1,3})?|\.\d{1,3})$`)
	userForm    = regexp.MustCompile(`^[^\x00-\x20'"-][^\x00-\x1f]{0,200}$`)
)

func readSpec(fields map[string]string) (s spec, err error) {
	get := func(name, usual string) string {
		if v := strings.TrimSpace(fields[name]); v != "" {
			return v
		}
		return usual
	}
	form := func(name, usual string, form *regexp.Regexp, hint string) string {
		v := get(name, usual)
		if v != "" && !form.MatchString(v) && err == nil {
			err = invalid(name, hint, "%.100q isn't a valid %s.", v, name)
		}
		return v
	}
	seconds := func(name string, usual int) int {
		v, e := strconv.Atoi(get(name, strconv.Itoa(usual)))
		if (e != nil || v < 0 || v > 3600) && err == nil {
			err = invalid(name, "Enter a number from 0 to 3600.", "%s isn't a number of seconds.", name)
		}
		return v
	}
	if strings.TrimSpace(fields["image_name"]) == "" {
		return spec{}, &app.Error{Code: app.EInvalid, Reason: "missing_field", Field: "image_name", Message: "The docker automator needs an image name.", Hint: hintImage}
	}
	s = spec{
		image:    form("image_name", "", imageForm, hintImage),
		restart:  form("restart_policy", "unless-stopped", restartForm, "Use no, always, unless-stopped, on-failure or on-failure:5."),
		network:  form("network", "", nameForm, "Use host, none, or a network's name, which is created if it doesn't exist."),
		memory:   form("memory", "", memoryForm, "Write 512m or 2g."),
		cpus:     form("cpus", "", cpusForm, "Write 0.5 or 2."),
		user:     form("registry_user", "", userForm, "Use the user name at the registry."),
		pull:     get("pull", pullAlways),
		password: strings.TrimSpace(fields["registry_password"]),
		settle:   seconds("settle_seconds", 2),
		health:   seconds("health_seconds", 60),
	}
	if err != nil {
		return spec{}, err
	}
	if !slices.Contains([]string{pullAlways, pullMissing, pullNever}, s.pull) {
		return spec{}, invalid("pull", "Use always, missing or never.", "%.50q isn't an option of pull.", s.pull)
	}
	if (s.user == "") != (s.password == "") {
		return spec{}, invalid("registry_password", "", "Set both the registry's user and password, or neither.")
	}
	if strings.ContainsAny(s.password, "\x00\n\r") {
		return spec{}, invalid("registry_password", "", "The registry password has more than one line.")
	}
	if s.ports, err = readPorts(fields["publish_ports"]); err != nil {
		return spec{}, err
	}
	if s.volumes, err = readVolumes(fields["volumes"]); err != nil {
		return spec{}, err
	}
	if s.env, err = readVariables(fields["environment_variables"]); err != nil {
		return spec{}, err
	}
	if s.links, err = readLinks(fields["links"]); err != nil {
		return spec{}, err
	}
	if strings.ContainsRune(fields["command"], 0) {
		return spec{}, invalid("command", "", "The command contains NUL characters.")
	}
	s.command, err = node.Shellwords("command", fields["command"])
	return s, err
}

// specOf is the spec of a call, with the names that hold on its node.
func specOf(call family.ServiceCall) (spec, error) {
	s, err := readSpec(call.Fields)
	if err != nil {
		return spec{}, err
	}
	if err := node.Service(call.Service); err != nil {
		return spec{}, err
	}
	s.name = containerName(call.Cluster, call.Node, call.Service)
	for i, l := range s.links {
		if l.to != call.Service && slices.Contains(call.Services, l.to) {
			s.links[i].to = containerName(call.Cluster, call.Node, l.to)
		}
	}
	return s, nil
}

var unnameable = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// containerName is made of cluster, node and service. Where these have to be changed to be a name, a piece of their hash keeps it the only one.
func containerName(cluster, machine, service string) string {
	whole := cluster + "-" + machine + "-" + service
	name := strings.TrimLeft(unnameable.ReplaceAllString(whole, "_"), "_.-")
	if name == whole && len(name) <= 100 {
		return name
	}
	return fmt.Sprintf("%.90s-%s", name, short(whole))
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// parts are what a container is made of, in groups that people know, each by a hash: what differs can then be named without telling what it is.
func (s spec) parts() string {
	var env, ports, links []string
	for _, v := range s.env {
		env = append(env, v.name+"="+v.value)
	}
	for _, p := range s.ports {
		ports = append(ports, p.String())
	}
	for _, l := range s.links {
		links = append(links, l.to+":"+l.alias)
	}
	var out []string
	for _, part := range []struct {
		name  string
		lists []string
	}{{"image", []string{s.image}}, {"environment", env}, {"ports", ports}, {"volumes", s.volumes}, {"links", links}, {"command", s.command}, {"restart", []string{s.restart}},
		{"network", []string{s.network}}, {"limits", []string{s.memory, s.cpus}}} {
		// The name keeps the same secret from showing as the same on two nodes.
		out = append(out, part.name+"="+short(s.name+"\x00"+part.name+"\x00"+strings.Join(part.lists, "\x00")))
	}
	return strings.Join(out, ",")
}

// args are what `docker create` gets, without values of the environment.
func (s spec) args() []string {
	a := []string{"--name", s.name, "--restart", s.restart, "--label", "muster.parts=" + s.parts()}
	for _, p := range s.ports {
		a = append(a, "--publish", p.String())
	}
	for _, v := range s.volumes {
		a = append(a, "--volume", v)
	}
	for _, l := range s.links {
		a = append(a, "--link", l.to+":"+l.alias)
	}
	if s.network != "" {
		a = append(a, "--network", s.network)
	}
	if s.memory != "" {
		a = append(a, "--memory", s.memory)
	}
	if s.cpus != "" {
		a = append(a, "--cpus", s.cpus)
	}
	return a
}

// registry is the host of an image's registry; "" is the Docker Hub.
func (s spec) registry() string {
	host, _, ok := strings.Cut(s.image, "/")
	if ok && (strings.ContainsAny(host, ".:") || host == "localhost") {
		return host
	}
	return ""
}

// digest reports whether the image is named by its content.
func (s spec) digest() bool { return strings.Contains(s.image, "@sha256:") }
