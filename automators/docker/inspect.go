package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/automators/internal/node"
)

// state is a container and its image as they are.
type state struct {
	there   bool
	ID      string
	Image   string // its id
	Running bool
	Labels  map[string]string
	Ports   map[string][]binding
	Digests []string // of the image that it is to be made of
	imageID string   // of the same; "" where that is not on the node
	missing bool     // docker itself is not there
}

type binding struct{ HostIP, HostPort string }

// inspectLine writes two lines: the container and the image, each as JSON or empty.
const inspectLine = `muster_c=$1 muster_i=$2
command -v docker >/dev/null || { echo missing; exit 0; }
docker version >/dev/null || exit 1
echo "container $(docker container inspect --format '{"ID":{{json .Id}},"Image":{{json .Image}},"Running":{{json .State.Running}},"Labels":{{json .Config.Labels}},"Ports":{{json .NetworkSettings.Ports}}}' "$muster_c" 2>/dev/null)"
echo "image $(docker image inspect --format '{"ID":{{json .Id}},"Digests":{{json .RepoDigests}}}' "$muster_i" 2>/dev/null)"
`

// inspect changes nothing.
func inspect(ctx context.Context, sh family.Shell, s spec) (state, error) {
	said, err := node.Look(ctx, sh, "set -- "+humanize.ShellQuote(s.name)+" "+humanize.ShellQuote(s.image)+"\n"+inspectLine, "")
	if err != nil {
		return state{}, err
	}
	return readState(said)
}

// readState understands what inspectLine says.
func readState(said string) (state, error) {
	var st state
	for line := range strings.Lines(said) {
		what, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case what == "missing":
			st.missing = true
		case text == "":
		case what == "container":
			if err := json.Unmarshal([]byte(text), &st); err != nil {
				return state{}, app.Errorf(app.EInternal, "unexpected container description from docker: %w", err)
			}
			st.there = true
		case what == "image":
			var image struct {
				ID      string
				Digests []string
			}
			if err := json.Unmarshal([]byte(text), &image); err != nil {
				return state{}, app.Errorf(app.EInternal, "unexpected image description from docker: %w", err)
			}
			st.imageID, st.Digests = image.ID, image.Digests
		}
	}
	return st, nil
}

// facts are what later steps may speak of.
func (st state) facts(s spec) map[string]string {
	if !st.there {
		return nil
	}
	out := map[string]string{"container_id": st.ID, "container_name": s.name, "image_id": st.Image}
	if st.imageID == st.Image && len(st.Digests) > 0 {
		_, digest, _ := strings.Cut(st.Digests[0], "@")
		out["image_digest"] = digest
	}
	for _, inside := range slices.Sorted(maps.Keys(st.Ports)) {
		number, protocol, _ := strings.Cut(inside, "/")
		for _, b := range st.Ports[inside] {
			if b.HostPort == "" || len(out) >= 50 {
				continue
			}
			name := "port_" + number
			if protocol != "tcp" {
				name += "_" + protocol
			}
			out[name] = b.HostPort
			break
		}
	}
	return out
}

// DryRun carries out family.DryRunner: it compares labels and images, and asks no registry.
func (d Docker) DryRun(ctx context.Context, sh family.Shell, call family.ServiceCall, out family.Output) (family.Changes, error) {
	s, err := specOf(call)
	if err != nil {
		return family.Changes{}, err
	}
	if actions[call.Action] == "" {
		return family.Changes{}, noAction(call)
	}
	st, err := inspect(ctx, sh, s)
	if err != nil {
		if e := app.AsError(err); e.Code == app.EScript {
			e.Message = fmt.Sprintf("%s %s: %s", call.Service, call.Action, e.Message)
			return family.Changes{}, e
		}
		return family.Changes{}, fmt.Errorf("docker: %s %s: %w", call.Service, call.Action, err)
	}
	if st.missing {
		return family.Changes{}, &app.Error{Code: app.EScript, Reason: "no_docker", Message: fmt.Sprintf("%s %s: Docker isn't installed on node %s.", call.Service, call.Action, call.Node), Hint: adviceMissing}
	}
	c := st.changes(s, call.Action)
	for _, text := range c.Texts {
		node.Say(out, text)
	}
	return c, nil
}

// changes are what an action would change.
func (st state) changes(s spec, action app.Action) (c family.Changes) {
	container, image := "container "+s.name+": ", "image "+s.image+": "
	fetch := func() {
		if st.imageID == "" && s.pull != pullNever {
			c.Add(image + "would be pulled")
		}
	}
	switch action {
	case app.ActionInstall:
		fetch()
		if st.imageID != "" && s.policy() == pullAlways {
			c.Add(image + "would be checked again, and pulled if the registry has a newer one")
		}
	case app.ActionConfigure, app.ActionInitialize, app.ActionStart:
		fetch()
		changed := ""
		if !st.there {
			c.Add(container + "would be created")
		} else if changed = st.differs(s); changed != "" {
			c.Add(container + "would be recreated, for another " + changed)
		}
		if action == app.ActionStart && (changed != "" || !st.Running) {
			c.Add(container + "would be started")
		}
	case app.ActionStop:
		if st.Running {
			c.Add(container + "would be stopped")
		}
	case app.ActionRemove:
		if st.there {
			c.Add(container + "would be removed")
		}
	case app.ActionReload:
		c.Add(container + "would be signalled to reload its configuration")
	}
	return c
}

// differs names what a container is made of that differs from the spec; "" where nothing is.
func (st state) differs(s spec) string {
	had := map[string]bool{}
	for part := range strings.SplitSeq(st.Labels["muster.parts"], ",") {
		had[part] = true
	}
	var out []string
	for part := range strings.SplitSeq(s.parts(), ",") {
		if name, _, _ := strings.Cut(part, "="); !had[part] {
			out = append(out, name)
		}
	}
	if st.imageID != "" && st.imageID != st.Image && !slices.Contains(out, "image") {
		out = append(out, "image content")
	}
	return strings.Join(out, ", ")
}

var placeholder = regexp.MustCompile(`%[A-Za-z][^%\s"]*%|\$\{[a-z]+:[A-Za-z0-9_]+\}`)

// standsFor puts a value in the place of each macro and reference.
func standsFor(text string) string { return placeholder.ReplaceAllString(text, "1") }
