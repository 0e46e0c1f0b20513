package rackspace

import (
	"context"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/records"
)

// cacheTTL is how long others may keep an answer, in s: Cloud DNS takes no shorter time.
const cacheTTL = max(records.Seconds, 300)

// remark is next to our records, for people.
const remark = "Created by Muster, and deleted with its machine."

// zone is one of the account's domains. It lives for one verb: its records are read once, since only 60 calls a minute may read.
type zone struct {
	dns  cloudDNS
	id   string
	held []record
	read bool
}

var _ records.Zone = (*zone)(nil)

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
		return nil, records.Keep(ctx, z, p.NameZone(), m)
	})
	return err
}

const reasonNoZone = "dns_zone"

// dns finds the account's domain; EInvalid, reason dns_zone, where there is none.
func (p *Provider) dns(ctx context.Context, s *stack.Session) (*zone, error) {
	if err := s.Needs("DNS", s.DNS); err != nil {
		return nil, err
	}
	dns := cloudDNS{s.DNS, p.pace}
	id, err := dns.domain(ctx, p.NameZone())
	if err == nil && id == "" {
		e := app.Errorf(app.EInvalid, "DNS domain %s doesn't exist in the account", p.NameZone())
		e.Field, e.Reason, e.Hint = "settings.dns_zone", reasonNoZone, "Create it in the control panel (Networking, Cloud DNS), or correct the setting."
		err = e
	}
	return &zone{dns: dns, id: id}, err
}

// inZone does something with the account's domain, where there is one: none has no records of ours.
func (p *Provider) inZone(ctx context.Context, s *stack.Session, do func(*zone) error) error {
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
	return do(z)
}

// dropNames removes the records of a machine that is going.
func (p *Provider) dropNames(ctx context.Context, s *stack.Session, id string) error {
	return p.inZone(ctx, s, func(z *zone) error {
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

// Shared returns the names in the account's domain, of machines that stand and of those that went by other means.
func (p *Provider) Shared(ctx context.Context, tags map[string]string) ([]family.SharedThing, error) {
	return stack.With(ctx, p.sessions, func(s *stack.Session) (out []family.SharedThing, err error) {
		err = p.inZone(ctx, s, func(z *zone) error {
			out, err = records.Shared(ctx, z, tags)
			return err
		})
		return out, err
	})
}

// DeleteShared removes one of them.
func (p *Provider) DeleteShared(ctx context.Context, thing string) error {
	_, err := stack.With(ctx, p.sessions, func(s *stack.Session) (any, error) {
		return nil, p.inZone(ctx, s, func(z *zone) error {
			_, err := records.DropShared(ctx, z, thing, func(tags map[string]string) (bool, error) {
				found, err := stack.All(ctx, s, tags)
				return len(found) > 0, err
			})
			return err
		})
	})
	return err
}

// list returns the records of a name, of a type or of both.
func (z *zone) list(ctx context.Context, name, kind string) ([]record, error) {
	if !z.read {
		all, err := z.dns.records(ctx, z.id)
		if err != nil {
			return nil, err
		}
		z.held, z.read = all, true
	}
	var some []record
	for _, r := range z.held {
		if (name == "" || records.Plain(r.Name) == name) && (kind == "" || r.Type == kind) {
			some = append(some, r)
		}
	}
	return some, nil
}

func (z *zone) Sets(ctx context.Context, name, kind string) ([]records.Set, error) {
	all, err := z.list(ctx, name, kind)
	var out []records.Set
	for _, r := range all {
		s := records.Set{Name: records.Plain(r.Name), Type: r.Type}
		i := slices.IndexFunc(out, func(o records.Set) bool { return o.Name == s.Name && o.Type == s.Type })
		if i < 0 {
			i, out = len(out), append(out, s)
		}
		out[i].Values = append(out[i].Values, strings.Trim(r.Data, `"`))
	}
	return out, err
}

// Write implements records.Zone. A call whose answer was lost may still be worked on, and then what is wanted is in its own way, or what is changed
// is gone: it is
// looked at again.
func (z *zone) Write(ctx context.Context, s records.Set) error {
	var err error
	for range 3 {
		if err = z.bring(ctx, s); app.CodeOf(err) != app.EConflict && !stack.Absent(err) {
			return err
		}
		z.read = false
		if err := z.dns.pace.Once(ctx); err != nil {
			return err
		}
	}
	return app.Errorf(app.ETransient, "something else is changing the records of %s: %s", s.Name, app.AsError(err).Message)
}

// bring changes what differs from the set: a record that is not wanted gets a value that is missing, before one is made or deleted.
func (z *zone) bring(ctx context.Context, s records.Set) error {
	have, err := z.list(ctx, s.Name, s.Type)
	if err != nil {
		return err
	}
	missing := slices.Clone(s.Values)
	var stale []record
	for _, r := range have {
		if i := slices.Index(missing, strings.Trim(r.Data, `"`)); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		} else {
			stale = append(stale, r)
		}
	}
	for _, v := range missing {
		r := record{Name: s.Name, Type: s.Type, Data: v, TTL: cacheTTL, Comment: remark}
		if len(stale) > 0 {
			r.ID, r.Name, stale = stale[0].ID, stale[0].Name, stale[1:]
			if err := z.dns.update(ctx, z.id, r); err != nil {
				return err
			}
			z.put(r)
			continue
		}
		made, err := z.dns.add(ctx, z.id, r)
		if err != nil {
			return err
		}
		z.held = append(z.held, made...)
		z.read = len(made) > 0 // else its id is to be read
	}
	return z.drop(ctx, stale)
}

// put takes note of a change of ours.
func (z *zone) put(r record) {
	for i := range z.held {
		if z.held[i].ID == r.ID {
			z.held[i] = r
		}
	}
}

func (z *zone) Remove(ctx context.Context, name, kind string) error {
	all, err := z.list(ctx, name, kind)
	if err != nil {
		return err
	}
	return z.drop(ctx, all)
}

// drop deletes records, one by one: several at once are not deleted together or not at all.
func (z *zone) drop(ctx context.Context, all []record) error {
	for _, r := range all {
		if err := z.dns.remove(ctx, z.id, r.ID); err != nil {
			return err
		}
		z.held = slices.DeleteFunc(z.held, func(h record) bool { return h.ID == r.ID })
	}
	return nil
}

// nameable looks whether the account's domain is there, has room for the machines' names, and may be written.
func (p *Provider) nameable(ctx context.Context, s *stack.Session, f *stack.Findings, machines int) {
	name := p.NameZone()
	if name == "" {
		return
	}
	z, err := p.dns(ctx, s)
	if err != nil {
		f.Bad(family.AboutNetwork, name, err)
		return
	}
	have, err := z.dns.records(ctx, z.id)
	if err != nil {
		f.Bad(family.AboutNetwork, name, err)
		return
	}
	f.Good(family.AboutNetwork, name, "Machine names go to DNS domain %s.", name)
	if roles := s.Token.Roles; !slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(writers, r) }) {
		f.Doubt(family.AboutPermissions, name, "Grant the user the role DNS: Admin.", "The roles %s may not allow deleting records with their machines.", strings.Join(roles, ", "))
	}
	// A name is an address and the record beside it.
	if most, err := z.dns.maxRecords(ctx); err != nil {
		f.Bad(family.AboutQuota, "records", err)
	} else if needed := 2 * max(machines, 1); most >= 0 && most-len(have) < needed {
		e := app.Errorf(app.EQuota, "the limit is %d records in DNS domain %s: %d are used, but %d more are needed", most, name, len(have), needed)
		e.Hint = hintRecords
		f.Bad(family.AboutQuota, "records", e)
	} else if most >= 0 {
		f.Good(family.AboutQuota, "records", "The limit is %d records in DNS domain %s; %d are used.", most, name, len(have))
	}
}

// writers are the roles that may delete records.
var writers = []string{"admin", "identity:user-admin", "dnsaas:admin"}
