package docker

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
)

// idForm is an id or a name that the engine takes; what else is asked for would be another path of its API.
var idForm = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

func (e *engine) inspect(ctx context.Context, id string) (*container.InspectResponse, error) {
	if !idForm.MatchString(id) {
		return nil, app.Errorf(app.ENotFound, "Container %q doesn't exist.", id)
	}
	h, _ := ctx.Value(heardKey{}).(*heard)
	r, err := e.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err = failure(ctx, h, err); err != nil {
		return nil, err
	}
	return &r.Container, nil
}

// ours reports whether a container was made for a machine.
func ours(c *container.InspectResponse, tags map[string]string) bool {
	if c.Config == nil {
		return false
	}
	has := tagsOf(c.Config.Labels)
	return has[family.TagInstallation] == tags[family.TagInstallation] && has[family.TagIntent] == tags[family.TagIntent]
}

// tagsOf returns the tags among a container's labels: those that it lists, or all where it's older than that list.
func tagsOf(labels map[string]string) map[string]string {
	tags := make(map[string]string, 5)
	var names []string
	text, listed := labels[labelTags]
	if listed && json.Unmarshal([]byte(text), &names) != nil {
		names = nil
	}
	for k, v := range labels {
		if name, ok := strings.CutPrefix(k, tagPrefix); ok && (!listed || slices.Contains(names, name)) {
			tags[name] = v
		}
	}
	return tags
}

func state(c *container.InspectResponse) family.MachineState {
	if c.State == nil {
		return family.MachineStarting
	}
	switch c.State.Status {
	case container.StateRunning:
		return family.MachineRunning
	case container.StateCreated, container.StateRestarting:
		return family.MachineStarting
	}
	return family.MachineStopped
}

// machine is a container in app's words.
func (e *engine) machine(c *container.InspectResponse) family.Machine {
	m := family.Machine{ID: c.ID, State: state(c), Addresses: map[string]string{}, OwnRoot: true, Note: "container on network " + e.network}
	if c.Config != nil {
		labels := c.Config.Labels
		m.Hostname, m.HostKey, m.SSHUser, m.Tags = labels[labelHostname], labels[labelHostKey], labels[labelUser], tagsOf(labels)
		m.Note = "container of " + c.Config.Image + " on network " + e.network
	}
	if at, err := time.Parse(time.RFC3339Nano, c.Created); err == nil {
		m.CreatedAt = at
	}
	if m.State != family.MachineRunning || c.NetworkSettings == nil {
		return m
	}
	for _, name := range slices.Sorted(maps.Keys(c.NetworkSettings.Networks)) {
		n := c.NetworkSettings.Networks[name]
		if n != nil && n.IPAddress.IsValid() && (m.Addresses["bind_v4"] == "" || name == e.network) {
			m.Addresses["bind_v4"] = n.IPAddress.String()
			m.Addresses["access_v4"] = n.IPAddress.String()
		}
	}
	if !e.publish.IsValid() {
		return m
	}
	delete(m.Addresses, "access_v4")
	for _, b := range c.NetworkSettings.Ports[sshPort] {
		if port, err := strconv.Atoi(b.HostPort); err == nil && port > 0 {
			m.SSHPort, m.Addresses["access_v4"] = port, e.publish.String()
		}
	}
	return m
}

func (e *engine) Describe(ctx context.Context, id string) (family.Machine, error) {
	ctx, _, err := e.asking(ctx)
	if err != nil {
		return family.Machine{}, err
	}
	c, err := e.inspect(ctx, id)
	if err != nil {
		return family.Machine{}, err
	}
	return e.machine(c), nil
}

// List implements family.Provider. The engine looks for the labels; what it found is described one by one, since its list does not tell everything.
func (e *engine) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return nil, err
	}
	filters := client.Filters{}.Add("label", tagPrefix+family.TagInstallation)
	for k, v := range tags {
		if !strings.Contains(k, "=") {
			filters = filters.Add("label", tagPrefix+k+"="+v)
		}
	}
	r, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters})
	if err = failure(ctx, h, err); err != nil {
		return nil, err
	}
	out := make([]family.Machine, 0, len(r.Items))
	for _, item := range r.Items {
		if !carries(tagsOf(item.Labels), tags) {
			continue
		}
		c, err := e.inspect(ctx, item.ID)
		if absent(err) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, e.machine(c))
	}
	return out, nil
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// Delete implements family.Provider: the container goes with its volumes that have no name.
func (e *engine) Delete(ctx context.Context, id string) error {
	if !idForm.MatchString(id) {
		return ctx.Err()
	}
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return err
	}
	_, err = e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err = failure(ctx, h, err); err == nil || absent(err) || strings.Contains(err.Error(), "is already in progress") {
		return nil
	}
	return err
}

// Sleep stops a container. The SSH server ends at once; other processes are asked to end, and killed after ten seconds.
func (e *engine) Sleep(ctx context.Context, id string) error {
	return e.power(ctx, id, family.MachineStopped, func(ctx context.Context) error {
		_, err := e.api.ContainerStop(ctx, id, client.ContainerStopOptions{})
		return err
	})
}

// Wake starts a container. Its address may be another than before.
func (e *engine) Wake(ctx context.Context, id string) error {
	return e.power(ctx, id, family.MachineRunning, func(ctx context.Context) error {
		_, err := e.api.ContainerStart(ctx, id, client.ContainerStartOptions{})
		return err
	})
}

func (e *engine) power(ctx context.Context, id string, to family.MachineState, act func(context.Context) error) error {
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return err
	}
	c, err := e.inspect(ctx, id)
	if err != nil || state(c) == to {
		return err
	}
	return failure(ctx, h, act(ctx))
}
