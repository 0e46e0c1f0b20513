package openstack

import (
	"context"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/dns/v2/recordsets"
	"github.com/gophercloud/gophercloud/v2/openstack/dns/v2/zones"
	"github.com/gophercloud/gophercloud/v2/pagination"
	"muster/app"
	"muster/app/family"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/records"
)

// zone is one of Designate's. Names there end with a dot.
type zone struct {
	s  *stack.Session
	id string
}

var _ records.Zone = zone{}

func (p *Provider) NameZone() string { return records.Plain(p.settings.Text("dns_zone")) }

func (p *Provider) SetName(ctx context.Context, m family.Machine) error {
	done, err := p.turns.Take(ctx, "name "+m.Hostname)
	if err != nil {
		return err
	}
	defer done()
	_, err = stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) {
		z, err := p.dns(ctx, s)
		if err != nil {
			return nil, err
		}
		return nil, records.Keep(ctx, zone{s, z.ID}, p.NameZone(), m)
	})
	return err
}

const reasonNoZone = "dns_zone"

// dns finds the account's zone; EInvalid, reason dns_zone, where there is none.
func (p *Provider) dns(ctx context.Context, s *stack.Session) (zones.Zone, error) {
	if err := s.Needs("dns", s.DNS); err != nil {
		return zones.Zone{}, err
	}
	var found []zones.Zone
	err := stack.Whole(func() error {
		found = nil
		return zones.List(s.DNS, zones.ListOpts{Name: p.NameZone() + "."}).EachPage(ctx, stack.Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
			some, err := zones.ExtractZones(page)
			found = append(found, some...)
			return true, err
		}))
	})
	if err != nil {
		return zones.Zone{}, err
	}
	i := slices.IndexFunc(found, func(z zones.Zone) bool { return records.Plain(z.Name) == p.NameZone() })
	if i < 0 {
		e := app.Errorf(app.EInvalid, "DNS zone %s doesn't exist in the project", p.NameZone())
		e.Field, e.Reason, e.Hint = "settings.dns_zone", reasonNoZone, "Create it (openstack zone create), or choose one that openstack zone list shows."
		return zones.Zone{}, e
	}
	return found[i], nil
}

// inZone does something with the account's zone, where there is one: none has no records of ours.
func (p *Provider) inZone(ctx context.Context, s *stack.Session, do func(zone) error) error {
	if p.NameZone() == "" {
		return nil
	}
	z, err := p.dns(ctx, s)
	if err != nil {
		if app.AsError(err).Reason == reasonNoZone {
			return nil
		}
		return err
	}
	return do(zone{s, z.ID})
}

// dropNames removes the records of a machine that is going.
func (p *Provider) dropNames(ctx context.Context, s *stack.Session, id string) error {
	return p.inZone(ctx, s, func(z zone) error {
		one, err := stack.Get(ctx, s, id)
		if stack.Absent(err) {
			return nil
		}
		if err != nil {
			return err
		}
		return records.Drop(ctx, z, one.Tags())
	})
}

// list returns the sets of a zone that are not on their way out.
func (z zone) list(ctx context.Context, name, kind string) ([]recordsets.RecordSet, error) {
	o := recordsets.ListOpts{Type: kind}
	if name != "" {
		o.Name = name + "."
	}
	var all []recordsets.RecordSet
	err := stack.Whole(func() error {
		all = nil
		return recordsets.ListByZone(z.s.DNS, z.id, o).EachPage(ctx, stack.Bounded(func(_ context.Context, page pagination.Page) (bool, error) {
			some, err := recordsets.ExtractRecordSets(page)
			all = append(all, some...)
			return true, err
		}))
	})
	return slices.DeleteFunc(all, func(r recordsets.RecordSet) bool {
		return r.Action == "DELETE" || name != "" && records.Plain(r.Name) != name || kind != "" && r.Type != kind
	}), err
}

func (z zone) Sets(ctx context.Context, name, kind string) ([]records.Set, error) {
	all, err := z.list(ctx, name, kind)
	out := make([]records.Set, 0, len(all))
	for _, r := range all {
		s := records.Set{Name: records.Plain(r.Name), Type: r.Type}
		for _, v := range r.Records {
			s.Values = append(s.Values, strings.Trim(v, `"`))
		}
		out = append(out, s)
	}
	return out, err
}

func (z zone) Write(ctx context.Context, s records.Set) error {
	there, err := z.list(ctx, s.Name, s.Type)
	if err != nil {
		return err
	}
	values, ttl := slices.Clone(s.Values), records.Seconds
	if s.Type == "TXT" {
		for i, v := range values {
			values[i] = `"` + v + `"`
		}
	}
	if len(there) > 0 {
		err = recordsets.Update(ctx, z.s.DNS, z.id, there[0].ID, recordsets.UpdateOpts{TTL: &ttl, Records: values}).Err
	} else {
		err = recordsets.Create(ctx, z.s.DNS, z.id, recordsets.CreateOpts{Name: s.Name + ".", Type: s.Type, TTL: ttl, Records: values}).Err
	}
	if err != nil && (stack.Absent(err) || app.CodeOf(stack.Coded(err)) == app.EConflict) && !stack.Expired(err) {
		// One that was just removed keeps its name occupied until the name servers have heard of it.
		return app.Errorf(app.ETransient, "something else is changing the records of %s: %s", s.Name, app.AsError(stack.Coded(err)).Message)
	}
	return err
}

func (z zone) Remove(ctx context.Context, name, kind string) error {
	all, err := z.list(ctx, name, kind)
	for _, r := range all {
		if err := recordsets.Delete(ctx, z.s.DNS, z.id, r.ID).ExtractErr(); err != nil && !stack.Absent(err) {
			return err
		}
	}
	return err
}

// nameable looks whether the account's zone is there and may be written.
func (p *Provider) nameable(ctx context.Context, s *stack.Session, f *stack.Findings) {
	if p.NameZone() == "" {
		return
	}
	z, err := p.dns(ctx, s)
	switch {
	case err != nil:
		f.Bad(family.AboutNetwork, p.NameZone(), err)
	case z.Type == "SECONDARY":
		e := app.Errorf(app.EInvalid, "DNS zone %s is a secondary zone and can't be changed", p.NameZone())
		e.Hint = "Set dns_zone to a primary zone."
		f.Bad(family.AboutPermissions, p.NameZone(), e)
	case z.Status == "ERROR":
		f.Doubt(family.AboutNetwork, p.NameZone(), "Ask the cloud's operator to check Designate.", "DNS zone %s is in the state ERROR.", p.NameZone())
	default:
		f.Good(family.AboutNetwork, p.NameZone(), "Machine names go to DNS zone %s.", p.NameZone())
	}
}
