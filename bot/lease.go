package bot

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/lease"
	"muster/app/template"
)

// extensions are offered besides the lease's own suggestion.
var extensions = []time.Duration{4 * time.Hour, 24 * time.Hour}

// leases extends clusters' leases.
type leases struct{ leases Leases }

// move extends a lease; without a duration it offers some.
func (ls leases) move(ctx context.Context, r request) (Answer, error) {
	if len(r.words) < 1 || len(r.words) > 2 {
		return Answer{}, r.usage()
	}
	if len(r.words) == 1 {
		o, err := ls.leases.LeaseOutlook(ctx, r.actor, r.words[0])
		if err != nil {
			return Answer{}, err
		}
		return r.leaseShown(o, "Lease of "+o.Name, false), nil
	}
	by, err := template.ParseLength(r.words[1])
	if err != nil {
		return Answer{}, err
	}
	o, err := ls.leases.ExtendLease(ctx, r.actor, r.words[0], template.LeaseRequest{By: by})
	if err != nil {
		return Answer{}, err
	}
	return r.leaseShown(o, "Lease of "+o.Name+" extended", false), nil
}

// extend handles a button. A button shown before someone extended the lease doesn't extend it again.
func (ls leases) extend(ctx context.Context, r request, d action) (Answer, error) {
	o, err := ls.leases.LeaseOutlook(ctx, r.actor, d.Cluster)
	if err != nil {
		return Answer{}, err
	}
	if o.Deleted || o.Deleting || o.Until.Unix() != d.End && d.End != 0 {
		return r.leaseShown(o, "The lease of "+o.Name+" has already changed", d.Beside), nil
	}
	if o, err = ls.leases.ExtendLease(ctx, r.actor, d.Cluster, template.LeaseRequest{By: time.Duration(d.By) * time.Second}); err != nil {
		return Answer{}, err
	}
	return r.leaseShown(o, "Lease of "+o.Name+" extended", d.Beside), nil
}

// leaseShown shows a lease, with buttons that extend it.
func (r reader) leaseShown(o lease.Outlook, title string, beside bool) Answer {
	a := Answer{Title: title, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(o.Cluster))}}}
	switch {
	case o.Deleted:
		a.Title = o.Name + " is deleted"
	case o.Deleting:
		a.Lines = []string{o.Name + " is being deleted."}
	case o.Until.IsZero():
		a.Lines = []string{o.Name + " never expires."}
	default:
		a.Lines = []string{"Expires " + r.moment(o.Until) + "."}
		a.Buttons = r.leaseButtons(o, beside)
	}
	if o.Offer.Refusal != "" && !o.Deleted {
		a.Lines = append(a.Lines, o.Offer.Refusal)
	}
	return a
}

// leaseButtons extend a lease. Those that its rules don't allow are marked, and pressing one explains why.
func (r reader) leaseButtons(o lease.Outlook, beside bool) []Button {
	if o.Offer.Refusal != "" || o.Until.IsZero() || o.Deleted || o.Deleting {
		return nil
	}
	base := o.Until
	if now := r.now(); base.Before(now) {
		base = now
	}
	offers := extensions
	if by := o.Offer.By; by > 0 && by < extensions[0] {
		offers = append([]time.Duration{by}, offers...)
	}
	var list []Button
	for _, by := range offers {
		d := action{Do: doExtend, Cluster: o.Cluster, By: int64(by / time.Second), End: o.Until.Unix(), Beside: beside}
		name := "+" + strings.ReplaceAll(humanize.Duration(by), " ", "\u00a0")
		if o.Offer.Step > 0 && by > o.Offer.Step || !o.Offer.Latest.IsZero() && base.Add(by).After(o.Offer.Latest) {
			no := d.button(name+" (not allowed)", false)
			no.Quiet = true
			list = append(list, no)
			continue
		}
		list = append(list, d.button(name, false))
	}
	return list
}

// show is what a home's button shows: a cluster's lease and how to extend it.
func (ls leases) show(ctx context.Context, r request, d action) (Answer, error) {
	o, err := ls.leases.LeaseOutlook(ctx, r.actor, d.Cluster)
	if err != nil {
		return Answer{}, err
	}
	return r.leaseShown(o, "Lease of "+o.Name, d.Beside), nil
}
