package aws

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"muster/app"
	"muster/providers/internal/account"
	"muster/providers/internal/records"
)

// hosted is the account's hosted zone for the current turn. What was read of it is kept for those who come next: changes name what they begin
// with, so that Route 53
// refuses them where someone else has changed that since it was read.
type hosted struct {
	hostedZone
	dns     *dns
	came    time.Time // when the one came whose turn it is
	reread  bool      // what was read before is not to be used
	using   bool      // the sets that are kept
	older   bool      // which were read before the one came
	changed bool      // a batch was carried out
}

var _ records.Batcher = (*hosted)(nil)

// keptSets are a zone's sets as they were read, with what this process has changed since. They may only be used during the zone's turn. The zero
// value has none.
type keptSets struct {
	zone  string
	sets  []types.ResourceRecordSet
	begun time.Time // when reading did
	until time.Time // for those who came after it had begun; those who came before may use it as if they had read it themselves
}

// all returns every set of the zone. Names cannot be looked for by how they begin, nor types without a name.
func (z *hosted) all(ctx context.Context) ([]types.ResourceRecordSet, error) {
	k := &z.dns.sets
	older := k.begun.Before(z.came)
	if k.zone == z.id && (z.using || !older || !z.reread && time.Now().Before(k.until)) {
		z.using, z.older = true, older
		return k.sets, nil
	}
	read := keptSets{zone: z.id, begun: time.Now()}
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: &z.id}
	for n := 0; ; n++ {
		if n == account.MaxPages {
			return nil, account.EndlessList("Route 53")
		}
		page, err := z.dns.records.listResourceRecordSets(ctx, in)
		if err != nil {
			return nil, err
		}
		read.sets = append(read.sets, page.ResourceRecordSets...)
		if !page.IsTruncated || page.NextRecordName == nil {
			break
		}
		in = &route53.ListResourceRecordSetsInput{HostedZoneId: &z.id, StartRecordName: page.NextRecordName, StartRecordType: page.NextRecordType, StartRecordIdentifier: page.NextRecordIdentifier}
	}
	read.until = time.Now().Add(z.dns.tuning.sets)
	*k, z.using, z.older = read, true, false
	return k.sets, nil
}

// look reads what a name has again, where the rest is older: a batch that creates its A record is not refused for the AAAA record that someone else
// has made there, nor
// one that changes it for a claim that is gone.
func (z *hosted) look(ctx context.Context, name string) ([]types.ResourceRecordSet, error) {
	k := &z.dns.sets
	var now []types.ResourceRecordSet
	in := &route53.ListResourceRecordSetsInput{HostedZoneId: &z.id, StartRecordName: ref(name + "."), MaxItems: ref[int32](20)}
	for more := true; more; { // what has the name comes first
		page, err := z.dns.records.listResourceRecordSets(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, r := range page.ResourceRecordSets {
			if records.Plain(value(r.Name)) == name {
				now = append(now, r)
			}
		}
		more = page.IsTruncated && records.Plain(value(page.NextRecordName)) == name
		in = &route53.ListResourceRecordSetsInput{HostedZoneId: &z.id, StartRecordName: page.NextRecordName, StartRecordType: page.NextRecordType, StartRecordIdentifier: page.NextRecordIdentifier, MaxItems: in.MaxItems}
	}
	k.sets = append(slices.DeleteFunc(k.sets, func(r types.ResourceRecordSet) bool { return records.Plain(value(r.Name)) == name }), now...)
	return k.sets, nil
}

// forget has the zone be read again.
func (z *hosted) forget() { z.dns.sets, z.using = keptSets{}, false }

// doubtful reports whether what was done with the zone is to be done again with what it has now: sets that were read before are good for a change that
// Route 53 has
// carried out, and for nothing else.
func (z *hosted) doubtful(err error) bool {
	code := app.CodeOf(err)
	return z.older && !z.changed && (err == nil || code == app.EConflict || because(err, reasonMoved, reasonBatch) && code != app.EQuota)
}

func (z *hosted) Sets(ctx context.Context, name, kind string) ([]records.Set, error) {
	all, err := z.all(ctx)
	matches := func(r types.ResourceRecordSet) bool { return names(r, name, kind) }
	if err == nil && z.older && name != "" && (kind == "" || slices.ContainsFunc(all, matches)) {
		all, err = z.look(ctx, name)
	}
	var out []records.Set
	for _, r := range all {
		s := records.Set{Name: records.Plain(value(r.Name)), Type: string(r.Type), Routed: routed(r)}
		if name != "" && s.Name != name || kind != "" && s.Type != kind {
			continue
		}
		for _, v := range r.ResourceRecords {
			s.Values = append(s.Values, strings.Trim(value(v.Value), `"`))
		}
		out = append(out, s)
	}
	return out, err
}

// routed reports whether a set is an alias, or has a routing policy. Muster makes none of these.
func routed(r types.ResourceRecordSet) bool {
	return r.AliasTarget != nil || r.SetIdentifier != nil || r.TrafficPolicyInstanceId != nil
}

func (z *hosted) Write(ctx context.Context, s records.Set) error {
	return z.Change(ctx, []records.Set{s})
}

func (z *hosted) Remove(ctx context.Context, name, kind string) error {
	return z.Change(ctx, []records.Set{{Name: name, Type: kind}})
}

// Change implements records.Batcher. ETransient where someone else has changed the zone since it was read.
func (z *hosted) Change(ctx context.Context, all []records.Set) error {
	has, err := z.all(ctx)
	if err != nil {
		return err
	}
	batch := batchOf(has, all)
	for tries := 1; len(batch) > 0; tries++ {
		err := z.submit(ctx, batch)
		if err == nil {
			z.apply(batch)
			return nil
		}
		if code := app.CodeOf(err); code != app.ERateLimit && code != app.ECredentials && !because(err, reasonBusy) {
			z.forget() // it is not as it was, or no one knows whether it is
		}
		if !because(err, reasonMoved) || tries == 3 || slices.ContainsFunc(batch, func(c types.Change) bool { return c.Action != types.ChangeActionDelete }) {
			return err
		}
		// What was to go may be gone already. The rest is still to go as it was read: what is other by now may be someone else's, and Route 53 refuses that again.
		now, err := z.all(ctx)
		if err != nil {
			return err
		}
		batch = slices.DeleteFunc(batch, func(c types.Change) bool {
			r := c.ResourceRecordSet
			return !slices.ContainsFunc(now, func(n types.ResourceRecordSet) bool { return names(n, records.Plain(value(r.Name)), string(r.Type)) })
		})
	}
	return nil
}

// apply makes a batch that Route 53 has carried out in what is kept.
func (z *hosted) apply(batch []types.Change) {
	z.changed = true
	for _, c := range batch {
		r := *c.ResourceRecordSet
		if c.Action == types.ChangeActionDelete {
			z.dns.sets.sets = slices.DeleteFunc(z.dns.sets.sets, func(o types.ResourceRecordSet) bool {
				return names(o, records.Plain(value(r.Name)), string(r.Type)) && !routed(o)
			})
		} else {
			z.dns.sets.sets = append(z.dns.sets.sets, r)
		}
	}
}

// submit has Route 53 make a batch of changes, all of it or nothing. It takes one at a time for a zone.
func (z *hosted) submit(ctx context.Context, batch []types.Change) error {
	return z.dns.tuning.patiently(ctx, func() error {
		_, err := z.dns.records.changeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: &z.id, ChangeBatch: &types.ChangeBatch{Changes: batch}})
		return err
	}, reasonBusy)
}

// batchOf returns the changes from what a zone has to what is wanted. What is to go, or to become other, is deleted, which has to name it just as it
// exists; and what is
// new is created, for which nothing may stand there. UPSERT would write over what someone else has changed. Sets with a routing policy are someone else's.
func batchOf(has []types.ResourceRecordSet, wants []records.Set) (out []types.Change) {
	for _, want := range wants {
		i := slices.IndexFunc(has, func(r types.ResourceRecordSet) bool { return names(r, want.Name, want.Type) && !routed(r) })
		if i >= 0 {
			existing := has[i]
			out = append(out, types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: &existing})
		}
		if len(want.Values) > 0 {
			out = append(out, types.Change{Action: types.ChangeActionCreate, ResourceRecordSet: setOf(want)})
		}
	}
	return out
}

func names(r types.ResourceRecordSet, name, kind string) bool {
	return records.Plain(value(r.Name)) == name && string(r.Type) == kind
}

// setOf writes a set as Route 53 takes it.
func setOf(s records.Set) *types.ResourceRecordSet {
	r := &types.ResourceRecordSet{Name: ref(s.Name + "."), Type: types.RRType(s.Type), TTL: ref(int64(records.Seconds))}
	for _, v := range s.Values {
		if r.Type == types.RRTypeTxt {
			v = `"` + v + `"`
		}
		r.ResourceRecords = append(r.ResourceRecords, types.ResourceRecord{Value: &v})
	}
	return r
}
