package digitalocean

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/digitalocean/godo"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/records"
)

// zone is the account's domain at DigitalOcean.
type zone struct {
	api  *godo.Client
	name string
}

var _ records.Zone = zone{}

func (c *cloud) NameZone() string { return c.zone }

func (c *cloud) SetName(ctx context.Context, m family.Machine) error {
	release, err := c.locks.Lock(ctx, "name "+m.Hostname)
	if err != nil {
		return err
	}
	defer release()
	err = records.Keep(ctx, c.domain(), c.zone, m)
	if absent(err) {
		return c.noZone()
	}
	return err
}

func (c *cloud) domain() zone { return zone{c.api, c.zone} }

func (c *cloud) noZone() *app.Error {
	e := app.Errorf(app.EInvalid, "Domain %s doesn't exist in the account.", c.zone)
	e.Hint = "Add it in the control panel (Networking, Domains), or correct the setting dns_zone."
	return e
}

// dropNames removes the records of a machine. A domain that is gone has none.
func (c *cloud) dropNames(ctx context.Context, tags map[string]string) error {
	if c.zone == "" {
		return nil
	}
	if err := records.Drop(ctx, c.domain(), tags); err != nil && !absent(err) {
		return err
	}
	return nil
}

func (z zone) Sets(ctx context.Context, name, kind string) ([]records.Set, error) {
	all, err := z.list(ctx, name, kind)
	if err != nil {
		return nil, err
	}
	var out []records.Set
	for _, r := range all {
		s := records.Set{Name: z.whole(r.Name), Type: r.Type}
		i := slices.IndexFunc(out, func(o records.Set) bool { return o.Name == s.Name && o.Type == s.Type })
		if i < 0 {
			i, out = len(out), append(out, s)
		}
		out[i].Values = append(out[i].Values, strings.Trim(r.Data, `"`))
	}
	return out, nil
}

func (z zone) list(ctx context.Context, name, kind string) ([]godo.DomainRecord, error) {
	all, err := pages(ctx, "domain:read", func(ctx context.Context, o *godo.ListOptions) ([]godo.DomainRecord, *godo.Response, error) {
		switch {
		case name != "" && kind != "":
			return z.api.Domains.RecordsByTypeAndName(ctx, z.name, kind, name, o)
		case name != "":
			return z.api.Domains.RecordsByName(ctx, z.name, name, o)
		case kind != "":
			return z.api.Domains.RecordsByType(ctx, z.name, kind, o)
		}
		return z.api.Domains.Records(ctx, z.name, o)
	})
	return slices.DeleteFunc(all, func(r godo.DomainRecord) bool {
		return name != "" && z.whole(r.Name) != name || kind != "" && r.Type != kind
	}), err
}

// whole returns the whole of a record's name, which DigitalOcean tells without the domain's.
func (z zone) whole(name string) string {
	if name == "@" || name == "" {
		return z.name
	}
	return strings.ToLower(name) + "." + z.name
}

// Write implements records.Zone. A record holds one value: existing ones are kept, then changed, and those that are too many removed.
func (z zone) Write(ctx context.Context, s records.Set) error {
	all, err := z.list(ctx, s.Name, s.Type)
	if err != nil {
		return err
	}
	missing := slices.Clone(s.Values)
	all = slices.DeleteFunc(all, func(r godo.DomainRecord) bool {
		i := slices.Index(missing, strings.Trim(r.Data, `"`))
		if i >= 0 {
			missing = slices.Delete(missing, i, i+1)
		}
		return i >= 0
	})
	for _, value := range missing {
		ask := &godo.DomainRecordEditRequest{Type: s.Type, Name: strings.TrimSuffix(s.Name, "."+z.name), Data: value, TTL: records.Seconds}
		if len(all) > 0 {
			_, _, err = z.api.Domains.EditRecord(ctx, z.name, all[0].ID, ask)
			all = all[1:]
			if err = failure("domain:update", err); absent(err) {
				err = app.Errorf(app.ETransient, "The record of %s was deleted while it was being changed.", s.Name)
			}
		} else {
			_, _, err = z.api.Domains.CreateRecord(ctx, z.name, ask)
			err = failure("domain:create", err)
		}
		if err != nil {
			return err
		}
	}
	return z.delete(ctx, all)
}

func (z zone) Remove(ctx context.Context, name, kind string) error {
	all, err := z.list(ctx, name, kind)
	if err != nil {
		return err
	}
	return z.delete(ctx, all)
}

func (z zone) delete(ctx context.Context, all []godo.DomainRecord) error {
	for _, r := range all {
		if _, err := z.api.Domains.DeleteRecord(ctx, z.name, r.ID); err != nil {
			if err = failure("domain:delete", err); !absent(err) {
				return err
			}
		}
	}
	return nil
}

// domain looks whether the account's domain is there and may be written.
func (s *survey) domain(ctx context.Context) {
	if s.c.zone == "" {
		return
	}
	_, _, err := s.c.api.Domains.Get(ctx, s.c.zone)
	if absent(failure("domain:read", err)) {
		e := s.c.noZone()
		s.wrong(family.AboutNetwork, s.c.zone, e.Code, e.Hint, "%s", e.Message)
		return
	}
	if !s.could("domain:read", err) {
		return
	}
	s.ok(family.AboutNetwork, s.c.zone, "Domain %s exists for machine names.", s.c.zone)
	// A record without a type cannot be made: how it is refused reports whether the token may make any.
	made, r, err := s.c.api.Domains.CreateRecord(ctx, s.c.zone, &godo.DomainRecordEditRequest{})
	switch {
	case err == nil:
		_, _ = s.c.api.Domains.DeleteRecord(ctx, s.c.zone, made.ID)
	case r != nil && (r.StatusCode == http.StatusUnprocessableEntity || r.StatusCode == http.StatusBadRequest):
		s.ok(family.AboutPermissions, "domain:create", "The token can create records in %s.", s.c.zone)
	case forbidden(failure("domain:create", err)):
		s.wrong(family.AboutPermissions, "domain:create", app.ECredentials, hintScopes, "The token can't create records in domain %s: it lacks the scope domain:create.", s.c.zone)
	default:
		s.could("domain:create", err)
	}
}
