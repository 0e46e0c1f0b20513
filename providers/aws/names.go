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
	"muster/providers/internal/records"
)

// NameZone implements app.Namer.
func (c *cloud) NameZone() string { return records.Plain(c.settings.Text("dns_zone")) }

// SetName implements app.Namer.
func (c *cloud) SetName(ctx context.Context, m appfamily.Machine) error {
	return c.inZone(ctx, func(ctx context.Context, z *hosted) error { return records.Keep(ctx, z, c.NameZone(), m) })
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

// sharedNames gives the names that are claimed with all of the tags.
func (c *cloud) sharedNames(ctx context.Context, tags map[string]string) (out []appfamily.SharedThing, err error) {
	if c.NameZone() == "" {
		return nil, nil
	}
	err = c.inZone(ctx, func(ctx context.Context, z *hosted) (err error) { out, err = records.Shared(ctx, z, tags); return err })
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
// for theirs. A zone that was made anew has another ID, so it is looked for once more; and what came of sets that were read before is seen to once more.
func (c *cloud) inZone(ctx context.Context, do func(context.Context, *hosted) error) error {
	came := time.Now()
	select {
	case c.naming <- struct{}{}:
		defer func() { <-c.naming }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, c.tuning.turn)
	defer cancel()
	for again, anew := false, false; ; {
		z, err := c.hosted(ctx)
		if err != nil {
			return err
		}
		z.came, z.anew = came, anew
		switch err = do(ctx, z); {
		case because(err, reasonNoZone) && !again:
			again = true
			c.hostedZones.forget()
		case z.doubtful(err) && !anew:
			anew = true
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
func (c *cloud) hosted(ctx context.Context) (*hosted, error) {
	z, err := c.hostedZones.get(c.NameZone(), func() (hostedZone, error) {
		if id := c.settings.Text("dns_zone_id"); id != "" {
			return c.zoneByID(ctx, id)
		}
		return c.zoneByName(ctx)
	})
	if err != nil {
		return nil, err
	}
	return &hosted{hostedZone: z, c: c}, nil
}

func (c *cloud) zoneByID(ctx context.Context, id string) (hostedZone, error) {
	out, err := c.records.getHostedZone(ctx, &route53.GetHostedZoneInput{Id: &id})
	switch {
	case because(err, reasonNoZone):
		return hostedZone{}, noZone("dns_zone_id", reasonNoZone, "Take an ID that aws route53 list-hosted-zones shows, or leave dns_zone_id empty.",
			"There is no hosted zone %s in this account.", id)
	case err != nil:
		return hostedZone{}, err
	case out.HostedZone == nil:
		return hostedZone{}, app.Errorf(app.ETransient, "Route 53 answers without the hosted zone %s that it was asked for.", id)
	}
	if has := records.Plain(value(out.HostedZone.Name)); has != c.NameZone() {
		return hostedZone{}, noZone("dns_zone_id", "", "Correct dns_zone or dns_zone_id.", "The hosted zone %s is that of %s, not of %s.", id, has, c.NameZone())
	}
	return zoneFrom(*out.HostedZone), nil
}

func (c *cloud) zoneByName(ctx context.Context) (hostedZone, error) {
	var found []hostedZone
	in := &route53.ListHostedZonesByNameInput{DNSName: ref(c.NameZone() + ".")}
	for more := true; more; { // they come in the order of their names, those with this one first
		page, err := c.records.listHostedZonesByName(ctx, in)
		if err != nil {
			return hostedZone{}, err
		}
		more = page.IsTruncated && records.Plain(value(page.NextDNSName)) == c.NameZone()
		for _, z := range page.HostedZones {
			if records.Plain(value(z.Name)) == c.NameZone() {
				found = append(found, zoneFrom(z))
			}
		}
		in = &route53.ListHostedZonesByNameInput{DNSName: page.NextDNSName, HostedZoneId: page.NextHostedZoneId}
	}
	switch len(found) {
	case 0:
		return hostedZone{}, noZone("dns_zone", reasonNoZone, "Make it (aws route53 create-hosted-zone), or correct the setting dns_zone.",
			"The account has no hosted zone %s in Route 53.", c.NameZone())
	case 1:
		return found[0], nil
	}
	var each []string
	for _, z := range found {
		each = append(each, fmt.Sprintf("%s (%s)", z.id, z.kind()))
	}
	slices.Sort(each)
	return hostedZone{}, noZone("dns_zone_id", "", "Say in the setting dns_zone_id which of them is meant; what everybody shall find belongs into a public one.",
		"The account has %d hosted zones %s: %s.", len(found), c.NameZone(), strings.Join(each, ", "))
}

func zoneFrom(z types.HostedZone) hostedZone {
	return hostedZone{id: strings.TrimPrefix(value(z.Id), "/hostedzone/"), private: z.Config != nil && z.Config.PrivateZone}
}

func noZone(field, reason, hint, format string, args ...any) *app.Error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field, e.Reason, e.Hint = "settings."+field, reason, hint
	return e
}
