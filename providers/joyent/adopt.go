package joyent

import (
	"context"
	"encoding/json"
	"maps"

	"muster/app"
	"muster/app/family"
)

// Adopt returns the machine other tags, another host name and its new cluster's firewall. Who is let in, a file of the machine says; its name in the cloud
// stays, which its intent is known by. Tags of before that the new ones lack stay in the cloud, but not among the exact ones.
func (p *Provider) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	m, err := p.get(ctx, id)
	if err != nil {
		return err
	}
	if spec.Firewall != nil {
		if err := p.ensureFirewall(ctx, spec); err != nil {
			return err
		}
	}
	tags, err := json.Marshal(spec.Tags)
	if err != nil {
		return app.Errorf(app.EInvalid, "can't encode the tags: %w", err)
	}
	if m.Metadata[metaHostname] != spec.Hostname || !maps.Equal(tagsOf(m), spec.Tags) {
		if err := coded(p.api.AddMetadata(ctx, id, map[string]string{metaTags: string(tags), metaHostname: spec.Hostname})); err != nil {
			return gone(id, err)
		}
	}
	has := map[string]string{}
	for k, v := range m.Tags {
		if text, ok := v.(string); ok {
			has[k] = text
		}
	}
	if wanted := cloudTags(spec); !carries(has, wanted) {
		if err := coded(p.api.AddTags(ctx, id, wanted)); err != nil {
			return gone(id, err)
		}
	}
	if spec.Firewall != nil && !m.Firewall {
		return gone(id, coded(p.api.Act(ctx, id, "enable_firewall")))
	}
	if spec.Firewall == nil && has[tagFirewall] != "" {
		return p.release(ctx, id)
	}
	return nil
}

// release takes a machine out of the firewall of the cluster that it was in. What the settings say of machines without one holds for it then. The tag goes
// last: while it's there, this is done again.
func (p *Provider) release(ctx context.Context, id string) error {
	on, err := p.settings.Bool("firewall", false)
	if err != nil {
		return err
	}
	if !on {
		if err := coded(p.api.Act(ctx, id, "disable_firewall")); err != nil {
			return gone(id, err)
		}
	}
	return gone(id, coded(p.api.DeleteTag(ctx, id, tagFirewall)))
}
