package joyent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/joyent/internal/cloudapi"
)

// What a machine's metadata holds for us.
const (
	metaTags     = "muster-tags" // as JSON, exactly
	metaHostname = "muster-hostname"
	metaUser     = "muster-ssh-user"
	metaHostKey  = "muster-host-key" // the public half
	metaStarted  = "muster-started"  // put there by the machine itself
)

// tagFirewall is the tag that a cluster's firewall rules hold for.
const tagFirewall = "muster-firewall"

// silence is how long a machine is waited for that does not say that it has done its first start, since it may not be able to.
const silence = 5 * time.Minute

func absent(id string) error { return app.Errorf(app.ENotFound, "machine %q doesn't exist", id) }

// get returns the machine with an ID; ENotFound where nothing does. A deleted one is returned for a while.
func (p *Provider) get(ctx context.Context, id string) (cloudapi.Machine, error) {
	if !uuidForm.MatchString(id) {
		return cloudapi.Machine{}, absent(id)
	}
	m, err := p.api.GetMachine(ctx, id)
	if err = coded(err); app.CodeOf(err) == app.ENotFound || err == nil && m.State == "deleted" {
		return m, absent(id)
	}
	return m, err
}

// Describe returns the machine as it is now.
func (p *Provider) Describe(ctx context.Context, id string) (family.Machine, error) {
	m, err := p.get(ctx, id)
	if err != nil {
		return family.Machine{}, err
	}
	return machine(m), nil
}

// List returns every machine that carries all of the tags. The cloud is asked by ours; the exact ones are for us to see.
func (p *Provider) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	all, err := p.machines(ctx, tags)
	var out []family.Machine
	for _, m := range all {
		out = append(out, machine(m))
	}
	return out, err
}

func (p *Provider) machines(ctx context.Context, tags map[string]string) ([]cloudapi.Machine, error) {
	asked := map[string]string{}
	for _, k := range []string{family.TagInstallation, family.TagTenant, family.TagCluster, family.TagNode, family.TagIntent} {
		if tags[k] != "" {
			asked[k] = tags[k]
		}
	}
	all, err := p.api.ListMachines(ctx, asked)
	if err != nil {
		return nil, coded(err)
	}
	seen := map[string]bool{} // a page may shift while it is turned
	all = slices.DeleteFunc(all, func(m cloudapi.Machine) bool {
		again := seen[m.ID]
		seen[m.ID] = true
		_, ours := m.Tags[family.TagInstallation]
		return again || !ours || m.State == "deleted" || !carries(tagsOf(m), tags)
	})
	slices.SortFunc(all, func(a, b cloudapi.Machine) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// tagsOf returns the exact tags. Where someone took them out of the metadata, the cloud's own are left, so that the machine is still known as ours.
func tagsOf(m cloudapi.Machine) map[string]string {
	var tags map[string]string
	switch v := m.Metadata[metaTags].(type) {
	case string:
		if json.Unmarshal([]byte(v), &tags) == nil && tags != nil {
			return tags
		}
	case map[string]any: // a cloud may give JSON back as parsed values
		if b, err := json.Marshal(v); err == nil && json.Unmarshal(b, &tags) == nil {
			return tags
		}
	}
	tags = map[string]string{}
	for k, v := range m.Tags {
		if k != tagFirewall {
			tags[k] = fmt.Sprint(v)
		}
	}
	return tags
}

// machine is what the cloud says of it. It runs only when it has done its first start: until then its SSH server shows a host key of its own.
func machine(m cloudapi.Machine) family.Machine {
	text := func(k string) string { v, _ := m.Metadata[k].(string); return v }
	out := family.Machine{ID: m.ID, Hostname: text(metaHostname), SSHUser: text(metaUser), HostKey: text(metaHostKey), Tags: tagsOf(m), OwnRoot: true, CreatedAt: m.Created,
		Addresses: map[string]string{}, Note: m.Brand, State: family.MachineStopped}
	if out.Hostname == "" {
		out.Hostname = m.Name
	}
	switch m.State {
	case "running":
		out.State = family.MachineRunning
		if text(metaStarted) == "" && time.Since(m.Created) < silence {
			out.State, out.Note = family.MachineStarting, m.Brand+", its user-script is still running"
		}
	case "provisioning":
		out.State = family.MachineStarting
	default: // stopping, stopped, offline, failed, incomplete
		out.Note += ", " + m.State
	}
	if _, err := netip.ParseAddr(m.PrimaryIP); err == nil {
		out.Addresses[app.AddressAccess], out.Addresses[app.AddressBind] = m.PrimaryIP, m.PrimaryIP
		for _, ip := range m.IPs { // inside, machines reach each other by a private address where they have one
			if at, err := netip.ParseAddr(ip); err == nil && at.Is4() && at.IsPrivate() {
				out.Addresses[app.AddressBind] = ip
				break
			}
		}
	}
	return out
}

// until asks for a machine until it is as wanted.
func (p *Provider) until(ctx context.Context, m cloudapi.Machine, wanted func(cloudapi.Machine) bool) (cloudapi.Machine, error) {
	for !wanted(m) {
		if err := pause(ctx, p.pauses.machine); err != nil {
			return m, err
		}
		next, err := p.get(ctx, m.ID)
		if err != nil {
			return m, err
		}
		m = next
	}
	return m, nil
}

// Delete destroys the machine, and returns when it is gone.
func (p *Provider) Delete(ctx context.Context, id string) error {
	if !uuidForm.MatchString(id) {
		return ctx.Err()
	}
	err := coded(p.api.DeleteMachine(ctx, id))
	if err == nil {
		_, err = p.until(ctx, cloudapi.Machine{ID: id}, func(cloudapi.Machine) bool { return false }) // until it is not found
	}
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}

// Sleep stops the machine, and returns when it is stopped.
func (p *Provider) Sleep(ctx context.Context, id string) error {
	m, err := p.get(ctx, id)
	if err != nil {
		return err
	}
	if m.State == "running" {
		if err := coded(p.api.Act(ctx, id, "stop")); err != nil {
			return gone(id, err)
		}
	}
	if m.State == "provisioning" {
		return app.Errorf(app.ETransient, "machine %s is still being created", id)
	}
	_, err = p.until(ctx, m, func(m cloudapi.Machine) bool { return m.State != "running" && m.State != "stopping" })
	return err
}

// Wake starts the machine, and returns when it has started.
func (p *Provider) Wake(ctx context.Context, id string) error {
	m, err := p.get(ctx, id)
	if err != nil {
		return err
	}
	if m, err = p.until(ctx, m, func(m cloudapi.Machine) bool { return m.State != "stopping" }); err != nil {
		return err
	}
	if m.State == "running" || m.State == "provisioning" {
		return nil
	}
	if err := coded(p.api.Act(ctx, id, "start")); err != nil {
		return gone(id, err)
	}
	m.State = "stopped"
	_, err = p.until(ctx, m, func(m cloudapi.Machine) bool { return m.State != "stopped" }) // until then it's reported as stopped
	return err
}

func gone(id string, err error) error {
	if app.CodeOf(err) == app.ENotFound {
		return absent(id)
	}
	return err
}
