package digitalocean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/providers/internal/account"

	"github.com/digitalocean/godo"
)

// survey is what one look at an account finds. What could not be looked at for want of a scope is nil.
type survey struct {
	c        *cloud
	needs    family.AccountNeeds
	found    []family.Finding
	readable []string // scopes that showed
	regions  map[string]godo.Region
	sizes    map[string]godo.Size
}

// CheckAccount implements family.AccountChecker. All calls read; what they are refused tells which scopes the token lacks.
func (c *cloud) CheckAccount(ctx context.Context, needs family.AccountNeeds) ([]family.Finding, error) {
	s := &survey{c: c, needs: needs}
	if !s.account(ctx) {
		return s.found, ctx.Err()
	}
	s.regional(ctx)
	s.machines(ctx)
	s.networks(ctx)
	s.scopes(ctx)
	return s.found, ctx.Err()
}

func (s *survey) ok(about, subject, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, OK: true, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) wrong(about, subject string, code app.Code, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

func (s *survey) warn(about, subject, hint, format string, args ...any) {
	s.found = append(s.found, family.Finding{About: about, Subject: subject, Warning: true, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// could notes what a call that reads says of the token; it reports whether there is an answer to look at.
func (s *survey) could(scope string, err error) bool {
	err = failure(scope, err)
	var e *app.Error
	switch {
	case err == nil:
		if !slices.Contains(s.readable, scope) {
			s.readable = append(s.readable, scope)
		}
		return true
	case forbidden(err):
		s.wrong(family.AboutPermissions, scope, app.ECredentials, hintScopes, "The token lacks the scope %s.", scope)
	case errors.As(err, &e):
		s.wrong(family.AboutCredentials, scope, e.Code, cmp.Or(e.Hint, "Check again in a while; status.digitalocean.com reports outages."), "Can't check %s: %s", scope, e.ForPeople())
	default:
		s.wrong(family.AboutCredentials, scope, app.ETransient, "Check that this host can reach the API, directly or through a proxy.", "Can't connect to DigitalOcean: %v.", err)
	}
	return false
}

// account looks at the token and at the account's state; false where nothing more can be looked at.
func (s *survey) account(ctx context.Context) bool {
	a, _, err := s.c.api.Account.Get(ctx)
	if err = failure("account:read", err); forbidden(err) {
		s.warn(family.AboutPermissions, "account:read", hintScopes, "The token lacks the scope account:read, so the account's state and droplet limit are unknown.")
		return true
	}
	var e *app.Error
	if errors.As(err, &e) && e.Code == app.ECredentials {
		s.wrong(family.AboutCredentials, "", e.Code, e.Hint, "%s", e.ForPeople())
		return false
	}
	if !s.could("account:read", err) {
		return false
	}
	subject := a.Email
	if a.Team != nil {
		subject = cmp.Or(a.Team.Name, subject)
	}
	switch a.Status {
	case "locked":
		s.wrong(family.AboutCredentials, subject, app.ECredentials, "Contact DigitalOcean's support.", "The account is locked%s.", because(a.StatusMessage))
	case "warning":
		s.warn(family.AboutCredentials, subject, "See the control panel's billing page.", "DigitalOcean shows a warning for the account%s.", because(a.StatusMessage))
	default:
		s.ok(family.AboutCredentials, subject, "DigitalOcean accepts the token for account %s.", subject)
	}
	if !a.EmailVerified {
		s.warn(family.AboutCredentials, subject, "Follow the link in DigitalOcean's e-mail.", "The account's e-mail address isn't verified.")
	}
	s.limits(ctx, a)
	return true
}

func because(why string) string {
	if why = strings.TrimSpace(why); why == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(why, ".")
}

// limits compares what is there and what is needed with what may be.
func (s *survey) limits(ctx context.Context, a *godo.Account) {
	droplets, volumes := 0, 0
	var kinds []account.Kind
	for _, n := range s.needs.Machines {
		if s.needs.Each && n.Flavor.Flavor == "" {
			continue // only its image is asked about
		}
		takes := map[string]float64{"droplets": 1}
		droplets += n.Count
		if s.dataDisk(n) > 0 {
			takes["volumes"] = 1
			volumes += n.Count
		}
		kinds = append(kinds, account.Kind{Name: "size " + n.Flavor.Flavor, Takes: takes})
	}
	var quotas []account.Quota
	_, r, err := s.c.api.Droplets.List(ctx, &godo.ListOptions{PerPage: 1})
	if s.could("droplet:read", err) && r.Meta != nil && a.DropletLimit > 0 {
		quotas = append(quotas, s.limit("droplets", r.Meta.Total, droplets, a.DropletLimit))
	}
	_, r, err = s.c.api.Storage.ListVolumes(ctx, &godo.ListVolumeParams{ListOptions: &godo.ListOptions{PerPage: 1}})
	switch {
	case volumes == 0 && forbidden(failure("block_storage:read", err)):
		s.warn(family.AboutPermissions, "block_storage:read", hintScopes, "The token lacks the scope block_storage:read, so clusters can't have volumes.")
	case volumes > 0:
		if s.could("block_storage:read", err) && r.Meta != nil && a.VolumeLimit > 0 {
			quotas = append(quotas, s.limit("volumes", r.Meta.Total, volumes, a.VolumeLimit))
		}
	}
	if s.needs.Each {
		s.found = append(s.found, account.Apart(kinds, quotas, hintLimit)...)
	}
}

// limit tells of what is needed in all; of kinds of which there may be one each, only what is left.
func (s *survey) limit(what string, have, more, limit int) account.Quota {
	switch {
	case s.needs.Each && more > 0:
		s.ok(family.AboutQuota, what, "The account has %[3]d of %[1]d %[2]s; %[4]d more available.", limit, what, have, max(limit-have, 0))
	case have+more > limit || have >= limit:
		s.wrong(family.AboutQuota, what, app.EQuota, hintLimit, "The account has %[3]d of %[1]d %[2]s, but %[4]d more are needed.", limit, what, have, more)
	default:
		s.ok(family.AboutQuota, what, "The account has %[3]d of %[1]d %[2]s; %[4]d more are needed.", limit, what, have, more)
	}
	return account.Quota{Name: what, Limit: float64(limit), Used: float64(have)}
}

// dataDisk returns how large a machine's volume is to be; what cannot be read is reported with its machine.
func (s *survey) dataDisk(n family.MachineNeed) int {
	o, err := read(s.c.raw.With(n.Flavor.Extra))
	if err != nil {
		return 0
	}
	return o.dataDisk
}

// zones are all regions that matter: the account's own, and those that machines are meant for.
func (s *survey) zones() []string {
	all := map[string]bool{s.c.region: true}
	for _, n := range s.needs.Machines {
		all[cmp.Or(n.Zone, s.c.region)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// regional looks at regions, and whether they have volumes where some are needed.
func (s *survey) regional(ctx context.Context) {
	list, err := pages(ctx, "regions:read", s.c.api.Regions.List)
	if !s.could("regions:read", err) {
		return
	}
	s.regions = make(map[string]godo.Region, len(list))
	for _, r := range list {
		s.regions[r.Slug] = r
	}
	for _, slug := range s.zones() {
		switch r, ok := s.regions[slug]; {
		case !ok:
			s.wrong(family.AboutRegion, slug, app.EInvalid, humanize.Suggest(slug, slices.Sorted(maps.Keys(s.regions))), "DigitalOcean region %s doesn't exist.", slug)
		case !r.Available:
			s.wrong(family.AboutRegion, slug, app.ECapacity, "Choose another region.", "Region %s (%s) doesn't accept new droplets.", slug, r.Name)
		default:
			s.ok(family.AboutRegion, slug, "Region %s (%s) accepts new droplets.", slug, r.Name)
		}
	}
	for _, n := range s.needs.Machines {
		zone := cmp.Or(n.Zone, s.c.region)
		if r, ok := s.regions[zone]; ok && s.dataDisk(n) > 0 && !slices.Contains(r.Features, "storage") {
			s.wrong(family.AboutRegion, zone, app.EInvalid, "Choose another region, or set data_disk_gb to 0.", "Region %s has no volumes, but machines of size %s need one.", zone, n.Flavor.Flavor)
		}
	}
}
