package google

import (
	"context"
	"encoding/json"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/providers/google/internal/gcp"
)

// Sleep stops the machine; its disks stay.
func (p *Provider) Sleep(ctx context.Context, id string) error {
	i, err := p.instance(ctx, id)
	if err != nil {
		return err
	}
	if stateOf(i.Status) == family.MachineStopped {
		return nil
	}
	op, err := p.api.StopInstance(ctx, p.project, base(i.Zone), i.Name, freshID())
	return p.done(ctx, id, op, err)
}

// Wake starts the machine, or resumes it if suspended. That there is no room for it is reported here.
func (p *Provider) Wake(ctx context.Context, id string) error {
	for {
		i, err := p.instance(ctx, id)
		if err != nil {
			return err
		}
		zone := base(i.Zone)
		var op *gcp.Operation
		switch i.Status {
		case "STOPPING", "SUSPENDING", "PENDING_STOP": // it can be started when it has stopped
			if err := pause(ctx, p.pauses.machine); err != nil {
				return err
			}
			continue
		case "TERMINATED", "STOPPED":
			op, err = p.api.StartInstance(ctx, p.project, zone, i.Name, freshID())
		case "SUSPENDED":
			op, err = p.api.ResumeInstance(ctx, p.project, zone, i.Name, freshID())
		default:
			return nil
		}
		return p.done(ctx, id, op, err)
	}
}

// done waits for what was begun with a machine.
func (p *Provider) done(ctx context.Context, id string, op *gcp.Operation, err error) error {
	if err == nil {
		err = p.await(ctx, p.project, op)
	}
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return absent(id)
	}
	return err
}

// setNetworkTags has the network tags of a machine be these. Those that came in between are not written over.
func (p *Provider) setNetworkTags(ctx context.Context, i *gcp.Instance, items []string) error {
	t := &gcp.Tags{Items: items}
	if i.Tags != nil {
		if slices.Equal(i.Tags.Items, items) {
			return nil
		}
		t.Fingerprint = i.Tags.Fingerprint
	}
	op, err := p.api.SetTags(ctx, p.project, base(i.Zone), i.Name, t, freshID())
	return p.done(ctx, i.Name, op, err)
}

func without(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == one })
}

// Adopt returns the machine other tags and another name: in its metadata, which says what they are, and in its labels, which it is found by. Who is let in,
// a file of the machine says; its host name in the cloud cannot be changed.
func (p *Provider) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	i, err := p.instance(ctx, id)
	if err != nil {
		return err
	}
	tags, err := json.Marshal(spec.Tags)
	if err != nil {
		return app.Errorf(app.EInvalid, "can't encode the tags: %w", err)
	}
	zone := base(i.Zone)
	if spec.Firewall != nil {
		c, err := read(p.settings.With(spec.Flavor.Extra, spec.Image.Extra))
		if err != nil {
			return err
		}
		if err := p.ensureFirewall(ctx, spec, c, zone); err != nil {
			return err
		}
		if err := p.setNetworkTags(ctx, i, []string{networkTag(spec.Tags)}); err != nil {
			return err
		}
	} else if was := networkTag(tagsOf(i, metaOf(i))); i.Tags != nil && slices.Contains(i.Tags.Items, was) { // it leaves its old cluster's firewall
		if err := p.setNetworkTags(ctx, i, without(i.Tags.Items, was)); err != nil {
			return err
		}
	}
	meta := metaOf(i)
	if meta[metaTags] != string(tags) || meta[metaHostname] != spec.Hostname {
		meta[metaTags], meta[metaHostname] = string(tags), spec.Hostname
		m := metadata(meta)
		m.Fingerprint = i.Metadata.Fingerprint // someone else's change in between is not written over
		op, err := p.api.SetMetadata(ctx, p.project, zone, i.Name, m, freshID())
		if err := p.done(ctx, id, op, err); err != nil {
			return err
		}
	}
	labels := labelsOf(spec.Tags)
	if carries(i.Labels, labels) && len(i.Labels) == len(labels) {
		return nil
	}
	request := &gcp.LabelsRequest{Labels: labels, LabelFingerprint: i.LabelFingerprint}
	op, err := p.api.SetLabels(ctx, p.project, zone, i.Name, request, freshID())
	return p.done(ctx, id, op, err)
}
