package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"muster/app"
	appfamily "muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
)

// dns is the account's hosted zone, and the names of machines in it.
type dns struct {
	settings    account.Settings
	tuning      tuning
	records     recordCalls
	hostedZones ttlCache[hostedZone]
	naming      chan struct{} // held while working on the zone
	sets        keptSets      // of the zone
	pace        pace          // of Route 53
}

func (d *dns) NameZone() string { return records.Plain(d.settings.Text("dns_zone")) }

func (d *dns) SetName(ctx context.Context, m appfamily.Machine) error {
	return d.inZone(ctx, func(ctx context.Context, z *hosted) error { return records.Keep(ctx, z, d.NameZone(), m) })
}

// dropNames removes the records of a machine that is going. A zone that is gone has none.
func (c *cloud) dropNames(ctx context.Context, id string) error {
	if c.NameZone() == "" {
		return nil
	}
	i, err := c.instance(ctx, id)
	if app.CodeOf(err) == app.ENotFound {
		return nil
	}
	if err != nil {
		return err
	}
	err = c.inZone(ctx, func(ctx context.Context, z *hosted) error { return records.Drop(ctx, z, machine(i).Tags) })
	if because(err, reasonNoZone) {
		return nil
	}
	return err
}

// sharedNames returns the names that are claimed with all of the tags.
func (d *dns) sharedNames(ctx context.Context, tags map[string]string) (out []appfamily.SharedThing, err error) {
	if d.NameZone() == "" {
		return nil, nil
	}
	err = d.inZone(ctx, func(ctx context.Context, z *hosted) (err error) { out, err = records.Shared(ctx, z, tags); return err })
	if because(err, reasonNoZone) {
		return nil, nil
	}
	return out, err
}

// dropShared removes a name whose machine does not stand any more.
func (c *cloud) dropShared(ctx context.Context, id string) error {
	if c.NameZone() == "" {
		return nil
	}
	err := c.inZone(ctx, func(ctx context.Context, z *hosted) error {
		_, err := records.DropShared(ctx, z, id, func(tags map[string]string) (bool, error) {
			found, err := c.List(ctx, tags)
			return len(found) > 0, err
		})
		return err
	})
	if because(err, reasonNoZone) {
		return nil
	}
	return err
}

// inZone does something with the account's zone, one thing at a time, since Route 53 takes one change of a zone at a time. Its time counts from its
// turn: many may wait
// for theirs. A zone that was made again has another ID, so it is looked for once more; and what came of sets that were read before is seen to once more.
func (d *dns) inZone(ctx context.Context, do func(context.Context, *hosted) error) error {
	came := time.Now()
	select {
	case d.naming <- struct{}{}:
		defer func() { <-d.naming }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, d.tuning.turn)
	defer cancel()
	for again, reread := false, false; ; {
		z, err := d.hosted(ctx)
		if err != nil {
			return err
		}
		z.came, z.reread = came, reread
		switch err = do(ctx, z); {
		case because(err, reasonNoZone) && !again:
			again = true
			d.hostedZones.forget()
		case z.doubtful(err) && !reread:
			reread = true
		default:
			return err
		}
	}
}

// hostedZone is what is known of a zone.
type hostedZone struct {
	id      string
	private bool
}

func (z hostedZone) kind() string {
	if z.private {
		return "private"
	}
	return "public"
}

// reasonNoZone is Route 53's own word for a zone that is not there.
const reasonNoZone = "NoSuchHostedZone"

// hosted finds the zone that the settings name. EInvalid, reason reasonNoZone, where there is none; EInvalid where several have the name and no ID is set.
func (d *dns) hosted(ctx context.Context) (*hosted, error) {
	z, err := d.hostedZones.get(d.NameZone(), func() (hostedZone, error) {
		if id := d.settings.Text("dns_zone_id"); id != "" {
			return d.zoneByID(ctx, id)
		}
		return d.zoneByName(ctx)
	})
	if err != nil {
		return nil, err
	}
	return &hosted{hostedZone: z, dns: d}, nil
}

func (d *dns) zoneByID(ctx context.Context, id string) (hostedZone, error) {
	out, err := d.records.getHostedZone(ctx, &route53.GetHostedZoneInput{Id: &id})
	switch {
	case because(err, reasonNoZone):
		return hostedZone{}, noZone("dns_zone_id", reasonNoZone, "Use an ID listed by aws route53 list-hosted-zones, or leave dns_zone_id empty.",
			"Hosted zone %s doesn't exist in this account.", id)
	case err != nil:
		return hostedZone{}, err
	case out.HostedZone == nil:
		return hostedZone{}, app.Errorf(app.ETransient, "Route 53's response doesn't contain hosted zone %s.", id)
	}
	if has := records.Plain(value(out.HostedZone.Name)); has != d.NameZone() {
		return hostedZone{}, noZone("dns_zone_id", "", "Correct dns_zone or dns_zone_id.", "Hosted zone %s is for %s, not %s.", id, has, d.NameZone())
	}
	return zoneFrom(*out.HostedZone), nil
}

func (d *dns) zoneByName(ctx context.Context) (hostedZone, error) {
	var found []hostedZone
	in := &route53.ListHostedZonesByNameInput{DNSName: ref(d.NameZone() + ".")}
	for more := true; more; { // they come in the order of their names, those with this one first
		page, err := d.records.listHostedZonesByName(ctx, in)
		if err != nil {
			return hostedZone{}, err
		}
		more = page.IsTruncated && records.Plain(value(page.NextDNSName)) == d.NameZone()
		for _, z := range page.HostedZones {
			if records.Plain(value(z.Name)) == d.NameZone() {
				found = append(found, zoneFrom(z))
			}
		}
		in = &route53.ListHostedZonesByNameInput{DNSName: page.NextDNSName, HostedZoneId: page.NextHostedZoneId}
	}
	switch len(found) {
	case 0:
		return hostedZone{}, noZone("dns_zone", reasonNoZone, "Create it (aws route53 create-hosted-zone), or correct the setting dns_zone.",
			"Route 53 hosted zone %s doesn't exist in this account.", d.NameZone())
	case 1:
		return found[0], nil
	}
	var each []string
	for _, z := range found {
		each = append(each, fmt.Sprintf("%s (%s)", z.id, z.kind()))
	}
	slices.Sort(each)
	return hostedZone{}, noZone("dns_zone_id", "", "Set dns_zone_id to one of them: a public zone if everyone must be able to resolve the names.",
		"The account has %d hosted zones %s: %s.", len(found), d.NameZone(), strings.Join(each, ", "))
}

func zoneFrom(z types.HostedZone) hostedZone {
	return hostedZone{id: strings.TrimPrefix(value(z.Id), "/hostedzone/"), private: z.Config != nil && z.Config.PrivateZone}
}

func noZone(field, reason, hint, format string, args ...any) *app.Error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field, e.Reason, e.Hint = "settings."+field, reason, hint
	return e
}
