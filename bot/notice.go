package bot

import (
	"context"
	"strings"

	"muster/app"
)

// notices sends notifications as direct messages.
type notices struct {
	leases   Leases
	idle     Idle
	requests Requests
}

// message is a notice as a message to one person.
func (ns notices) message(ctx context.Context, r request, n app.Notice) Answer {
	a := Answer{Title: n.Title}
	if n.Text != "" {
		a.Lines = strings.Split(n.Text, "\n")
	}
	if at := r.Page(n.About); at != "" {
		a.Links = append(a.Links, Link{"View details", at})
	}
	switch {
	case n.Kind == app.NoticeLease && n.Cluster != "":
		o, err := ns.leases.LeaseOutlook(ctx, r.actor, n.Cluster)
		if err != nil {
			break // it can be extended in the portal
		}
		a.Buttons = r.leaseButtons(o, false)
		if len(a.Buttons) == 0 && o.Offer.Refusal != "" {
			a.Lines = append(a.Lines, o.Offer.Refusal)
		}
	case n.Kind == app.NoticeIdle && n.Act.Kind == app.SubjectKeep:
		v, err := ns.idle.ClusterIdle(ctx, r.actor, n.Cluster)
		if err != nil {
			break // it can be kept in the portal
		}
		a.Buttons = r.keepButtons(v, false)
	case n.Kind == app.NoticeApproval && n.ActionName != "" && n.Request > 0:
		q, err := ns.requests.Request(ctx, r.actor, n.Request)
		if err != nil {
			break // the link leads to it
		}
		a.Buttons = requestButtons(q, r.actor, "")
		if len(a.Buttons) > 0 { // a button must not hide what it approves
			a.Lines = append(a.Lines, r.terms(q)...)
		}
	case n.Kind == app.NoticeManualStep && n.Act != app.Subject{} && n.Cluster != "":
		a.Buttons = []Button{action{Do: doManualSteps, Cluster: n.Cluster, Beside: true}.button("Answer…", false)}
	case r.Page(n.Act) != "" && n.ActionName != "" && n.Act != n.About:
		a.Links = append(a.Links, Link{n.ActionName, r.Page(n.Act)})
	}
	return a
}
