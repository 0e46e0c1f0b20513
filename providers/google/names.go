package google

import (
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/records"
)

// dnsPermissions are what the service account needs beside for accounts that name a DNS zone.
var dnsPermissions = []string{
	"dns.changes.create", "dns.managedZones.list", "dns.resourceRecordSets.create", "dns.resourceRecordSets.delete", "dns.resourceRecordSets.list", "dns.resourceRecordSets.update",
}

// managed is a zone of Cloud DNS. Names there end with a dot.
type managed struct {
	api           *gcp.Client
	project, name string
}

var _ records.Zone = managed{}

func (p *Provider) NameZone() string { return records.Plain(p.settings.Text("dns_zone")) }

func (p *Provider) SetName(ctx context.Context, m family.Machine) error {
	z, err := p.managedZone(ctx)
	if err != nil {
		return err
	}
	return records.Keep(ctx, z, p.NameZone(), m)
}

const reasonNoZone = "dns_zone"

// managedZone finds the public zone by the account's name for it; EInvalid, reason dns_zone, where there is none, or more than one.
func (p *Provider) managedZone(ctx context.Context) (managed, error) {
	var found []string
	err := p.api.ManagedZones(ctx, p.project, p.NameZone()+".", func(page *gcp.ManagedZoneList) error {
		for _, z := range page.ManagedZones {
			if z.Visibility != "private" && strings.EqualFold(z.DNSName, p.NameZone()+".") {
				found = append(found, z.Name)
			}
		}
		return nil
	})
	if err != nil {
		return managed{}, coded(err)
	}
	if len(found) == 1 {
		return managed{p.api, p.project, found[0]}, nil
	}
	e := app.Errorf(app.EInvalid, "project %s has no public managed zone for %s", p.project, p.NameZone())
	e.Hint = "Create it (gcloud dns managed-zones create), or correct the setting dns_zone."
	if len(found) > 1 {
		slices.Sort(found)
		e = app.Errorf(app.EInvalid, "project %s has %d public managed zones for %s: %s", p.project, len(found), p.NameZone(), strings.Join(found, ", "))
		e.Hint = "Keep only the one that the domain is delegated to."
	}
	e.Reason = reasonNoZone
	return managed{}, e
}

// inZone does something with the zone, where there is one: none has no records of ours.
func (p *Provider) inZone(ctx context.Context, do func(managed) error) error {
	if p.NameZone() == "" {
		return nil
	}
	z, err := p.managedZone(ctx)
	if app.AsError(err).Reason == reasonNoZone && err != nil {
		return nil //nolint:nilerr // without the zone there are no names
	}
	if err != nil {
		return err
	}
	return do(z)
}

// dropNames removes the records of a machine that is going.
func (p *Provider) dropNames(ctx context.Context, id string) error {
	return p.inZone(ctx, func(z managed) error {
		i, err := p.instance(ctx, id)
		if app.CodeOf(err) == app.ENotFound {
			return nil
		}
		if err != nil {
			return err
		}
		return records.Drop(ctx, z, machine(i).Tags)
	})
}

// Sets implements records.Zone. Cloud DNS looks for a type only beside a name.
func (z managed) Sets(ctx context.Context, name, kind string) ([]records.Set, error) {
	dotted, narrowed := "", ""
	if name != "" {
		dotted, narrowed = name+".", kind
	}
	var out []records.Set
	err := z.api.RecordSets(ctx, z.project, z.name, dotted, narrowed, func(page *gcp.RecordSetList) error {
		for _, r := range page.Sets {
			s := records.Set{Name: records.Plain(r.Name), Type: r.Type}
			for _, v := range r.Data {
				s.Values = append(s.Values, strings.Trim(v, `"`))
			}
			if kind == "" || s.Type == kind {
				out = append(out, s)
			}
		}
		return nil
	})
	return out, coded(err)
}

func (z managed) Write(ctx context.Context, s records.Set) error {
	there, err := z.Sets(ctx, s.Name, s.Type)
	if err != nil {
		return err
	}
	r := &gcp.RecordSet{Name: s.Name + ".", Type: s.Type, TTL: records.Seconds, Data: slices.Clone(s.Values)}
	if s.Type == "TXT" {
		for i, v := range r.Data {
			r.Data[i] = `"` + v + `"`
		}
	}
	if len(there) > 0 {
		err = z.api.PatchRecordSet(ctx, z.project, z.name, r)
	} else {
		err = z.api.CreateRecordSet(ctx, z.project, z.name, r)
	}
	if err = coded(err); app.CodeOf(err) == app.ENotFound || app.CodeOf(err) == app.EConflict {
		return app.Errorf(app.ETransient, "something else is changing the records of %s right now: %s", s.Name, app.AsError(err).Message)
	}
	return err
}

func (z managed) Remove(ctx context.Context, name, kind string) error {
	there, err := z.Sets(ctx, name, kind)
	if err != nil || len(there) == 0 {
		return err
	}
	err = z.api.DeleteRecordSet(ctx, z.project, z.name, name+".", kind)
	if err = coded(err); app.CodeOf(err) == app.ENotFound {
		return nil
	}
	return err
}

// dnsZone looks whether the account's zone is there; whether it may be written, its permissions tell.
func (s *survey) dnsZone(ctx context.Context) {
	if s.p.NameZone() == "" {
		return
	}
	z, err := s.p.managedZone(ctx)
	if err != nil {
		s.failed(family.AboutNetwork, s.p.NameZone(), err, app.AsError(err).Message, app.AsError(err).Hint)
		return
	}
	s.good(family.AboutNetwork, s.p.NameZone(), "Machine names go to managed zone %s.", z.name)
}
