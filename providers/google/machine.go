package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/google/internal/gcp"
)

// What a machine's metadata holds for us.
const (
	metaTags     = "muster-tags" // as JSON, exactly
	metaHostname = "muster-hostname"
	metaUser     = "muster-ssh-user"
	metaHostKey  = "muster-host-key" // the public half
)

// idOf names a machine: names are unique in a zone alone.
func idOf(i *gcp.Instance) string { return base(i.Zone) + "/" + i.Name }

// place takes an id apart.
func place(id string) (zone, name string, ok bool) {
	zone, name, ok = strings.Cut(id, "/")
	return zone, name, ok && zoneForm.MatchString(zone) && nameForm.MatchString(name)
}

func absent(id string) error { return app.Errorf(app.ENotFound, "machine %q doesn't exist", id) }

// Describe returns the machine as it is now.
func (p *Provider) Describe(ctx context.Context, id string) (family.Machine, error) {
	i, err := p.instance(ctx, id)
	if err != nil {
		return family.Machine{}, err
	}
	return p.whole(ctx, i)
}

// instance returns the instance with an ID; ENotFound where nothing does.
func (p *Provider) instance(ctx context.Context, id string) (*gcp.Instance, error) {
	zone, name, ok := place(id)
	if !ok {
		return nil, absent(id)
	}
	i, err := p.api.Instance(ctx, p.project, zone, name)
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil, absent(id)
	}
	return i, err
}

// whole returns the machine, and says that it runs only when it has done its first start: until then its SSH server shows a host key of its own.
func (p *Provider) whole(ctx context.Context, i *gcp.Instance) (family.Machine, error) {
	m := machine(i)
	if m.State != family.MachineRunning {
		return m, nil
	}
	ready, err := p.started(ctx, i)
	if err != nil {
		return m, err
	}
	if !ready {
		m.State, m.Note = family.MachineStarting, "its startup script is still running"
	}
	return m, nil
}

// How long a running machine is waited for that does not say that it has finished its startup script, since it may not be able to say so.
const (
	silence = 5 * time.Minute
	mute    = 90 * time.Second // where guest attributes may not be read
)

// started reports whether a running machine has finished its startup script for the first time. It says so itself, in its guest attributes.
func (p *Provider) started(ctx context.Context, i *gcp.Instance) (bool, error) {
	p.mu.Lock()
	known := p.ready[i.ID]
	p.mu.Unlock()
	if known {
		return true, nil
	}
	patience := silence
	err := p.api.HasGuestAttribute(ctx, p.project, base(i.Zone), i.Name, guestPath)
	var answer *gcp.Error
	switch {
	case err == nil:
		patience = 0
	case errors.As(err, &answer) && answer.Status == http.StatusNotFound:
	case app.CodeOf(coded(err)) == app.ECredentials, app.CodeOf(coded(err)) == app.EInvalid: // not allowed, or switched off by the organization
		patience = mute
	default:
		return false, coded(err)
	}
	began := when(i.LastStartTimestamp, i.CreationTimestamp)
	if patience > 0 && time.Since(began) < patience {
		return false, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ready) > 10_000 {
		clear(p.ready) // what is gone is forgotten; the others are asked once more
	}
	p.ready[i.ID] = true
	return true, nil
}

func when(stamps ...string) time.Time {
	for _, s := range stamps {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

// machine is what the cloud says of it.
func machine(i *gcp.Instance) family.Machine {
	meta := metaOf(i)
	m := family.Machine{ID: idOf(i), State: stateOf(i.Status), Hostname: meta[metaHostname], SSHUser: meta[metaUser], HostKey: meta[metaHostKey],
		Addresses: map[string]string{}, OwnRoot: true, Zone: base(i.Zone), CreatedAt: when(i.CreationTimestamp), Tags: tagsOf(i, meta)}
	if m.Hostname == "" {
		m.Hostname = i.Name
	}
	if len(i.NetworkInterfaces) > 0 {
		nic := i.NetworkInterfaces[0]
		if nic.NetworkIP != "" {
			m.Addresses[app.AddressBind], m.Addresses[app.AddressAccess] = nic.NetworkIP, nic.NetworkIP
		}
		if len(nic.AccessConfigs) > 0 {
			if at := nic.AccessConfigs[0].NatIP; at != "" {
				m.Addresses[app.AddressAccess] = at
			} else {
				delete(m.Addresses, app.AddressAccess) // it has one, which isn't reported while it is stopped
			}
		}
	}
	m.Note = base(i.MachineType)
	if s := i.Scheduling; s != nil && s.ProvisioningModel == "SPOT" {
		m.Note += ", spot"
		m.Taken = i.Status == "TERMINATED" // automaticRestart is false for these
	}
	if m.State == family.MachineStopped || i.Status == "REPAIRING" {
		m.Note += ", " + strings.ToLower(i.Status)
	}
	return m
}

func metaOf(i *gcp.Instance) map[string]string {
	out := map[string]string{}
	if i.Metadata != nil {
		for _, item := range i.Metadata.Items {
			if item.Value != nil {
				out[item.Key] = *item.Value
			}
		}
	}
	return out
}

// tagsOf returns the exact tags. Where someone took them away, those among the labels are left, so that the machine is still known as ours.
func tagsOf(i *gcp.Instance, meta map[string]string) map[string]string {
	var tags map[string]string
	if json.Unmarshal([]byte(meta[metaTags]), &tags) == nil && tags != nil {
		return tags
	}
	return maps.Clone(i.Labels)
}

func stateOf(status string) family.MachineState {
	switch status {
	case "RUNNING":
		return family.MachineRunning
	case "STOPPING", "PENDING_STOP", "TERMINATED", "STOPPED", "SUSPENDING", "SUSPENDED":
		return family.MachineStopped
	}
	return family.MachineStarting // PROVISIONING, STAGING, REPAIRING
}

// List returns every machine that carries all of the tags, in all zones.
func (p *Provider) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	all, err := p.instances(ctx, tags)
	if err != nil {
		return nil, err
	}
	var out []family.Machine
	for _, i := range all {
		out = append(out, machine(i))
	}
	return out, nil
}

// instances returns those that carry all of the tags, by id. A zone that does not answer is an error: what is in it would be missing.
func (p *Provider) instances(ctx context.Context, tags map[string]string) ([]*gcp.Instance, error) {
	var out []*gcp.Instance
	err := p.api.Instances(ctx, p.project, filterOf(tags), func(page *gcp.InstanceAggregatedList) error {
		if len(page.Unreachables) > 0 {
			return unreachable(strings.Join(page.Unreachables, ", "))
		}
		if w := page.Warning; w != nil && w.Code != "" && w.Code != "NO_RESULTS_ON_PAGE" {
			return unreachable(w.Message)
		}
		for scope, part := range page.Items {
			if w := part.Warning; w != nil && w.Code != "" && w.Code != "NO_RESULTS_ON_PAGE" {
				return unreachable(scope + " (" + w.Message + ")")
			}
			for _, i := range part.Instances {
				if carries(tagsOf(i, metaOf(i)), tags) {
					out = append(out, i)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, coded(err)
	}
	slices.SortFunc(out, func(a, b *gcp.Instance) int { return strings.Compare(idOf(a), idOf(b)) })
	return out, nil
}

func unreachable(what string) error {
	return &app.Error{Code: app.ETransient, Reason: "partial", Message: fmt.Sprintf("can't list machines in all zones: %s", what)}
}

// Delete removes the machine with its disks and returns when it is gone.
func (p *Provider) Delete(ctx context.Context, id string) error {
	zone, name, ok := place(id)
	if !ok {
		return ctx.Err()
	}
	if err := p.dropNames(ctx, id); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	op, err := p.api.DeleteInstance(ctx, p.project, zone, name, freshID())
	if err == nil {
		err = p.await(ctx, p.project, op)
	}
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}
