package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/policy"
)

// Title says what is asked for: `web: 3 nodes of template shop`.
func (r Request) Title() string {
	if a := r.Terms.Amended; a != nil {
		return cmp.Or(r.Facts.Name, r.Cluster) + ": " + a.Title
	}
	name := cmp.Or(r.Asked.Name, "a cluster")
	return fmt.Sprintf("%s: %s of template %s", name, humanize.Count(r.Terms.Layout.Size(), "node"), r.Asked.Template)
}

// price says what it costs.
func (t Terms) price() string {
	if t.Layout.CostPerHour == 0 {
		return "no price is known"
	}
	text := strconv.FormatFloat(t.Layout.CostPerHour, 'f', 2, 64) + " an hour"
	if t.Lease > 0 {
		return text + fmt.Sprintf(", %.2f over %s", t.Cost, humanize.Duration(t.Lease))
	}
	return text + ", without end"
}

func (r Request) notice(kind app.NoticeKind, at time.Time, title, text string) app.Notice {
	return app.Notice{At: at, Tenant: r.Tenant, Kind: kind, Cluster: r.Cluster, Request: r.ID, Title: title, Text: text, About: app.RequestSubject(r.ID)}
}

// toRequester is told to who asked. Someone of another tenant is told under the name that stands in records.
func (r Request) toRequester(at time.Time, title, text string) app.Notice {
	n := r.notice(app.NoticeApproval, at, title, text)
	n.Users = []string{r.Requester}
	return n
}

// groups are those whose members may approve what is not approved yet.
func (r Request) groups() (all []string) {
	for _, n := range r.want() {
		all = append(all, n.Group)
		if !n.EscalatedAt.IsZero() {
			all = append(all, n.EscalateTo)
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(g string) bool { return g == "" })
}

// toApprovers asks them to decide.
func (r Request) toApprovers(at time.Time, title string, groups []string) app.Notice {
	n := r.notice(app.NoticeApproval, at, title, fmt.Sprintf("%s asks for %s (%s). It waits for %s.", r.Requester, r.Title(), r.Terms.price(), r.approvers()))
	n.Groups, n.Act, n.ActionName = groups, app.RequestSubject(r.ID), "Decide"
	return n
}

// TellOpened is what is told when a request begins to wait; it has its number by then.
func (r Request) TellOpened() []app.Notice {
	if r.Status != RequestWaiting {
		return nil
	}
	return []app.Notice{r.toApprovers(r.AskedAt, "A request waits for approval: "+r.Title(), r.groups())}
}

// tellReview is called when the review is written down, but before the request is accepted.
func (r Request) tellReview(m RequestMove) []app.Notice {
	who := m.Who.Name()
	switch {
	case m.Act == RequestDeny:
		return []app.Notice{r.toRequester(m.Now, "Denied: "+r.Title(), fmt.Sprintf("%s denied it: %s", who, m.Reason))}
	case m.Act == RequestOffer:
		n := r.toRequester(m.Now, "An offer for your request: "+r.Title(),
			fmt.Sprintf("%s would approve %s, lease %s (%s): %s", who, humanize.Count(r.Offer.Layout.Size(), "node"), policy.LeaseText(r.Offer.Lease), r.Offer.price(), m.Reason))
		n.Act, n.ActionName = app.RequestSubject(r.ID), "Confirm"
		return []app.Notice{n}
	case len(r.want()) == 0:
		return []app.Notice{r.toRequester(m.Now, "Approved: "+r.Title(), strings.TrimSpace(fmt.Sprintf("%s approved it, and it runs now. %s", who, m.Reason)))}
	}
	return []app.Notice{r.toRequester(m.Now, "One approval more: "+r.Title(), fmt.Sprintf("%s approved it. It still waits for %s.", who, r.approvers()))}
}

func (r Request) tellConfirm(m RequestMove, run bool) []app.Notice {
	if run {
		return []app.Notice{r.toRequester(m.Now, "Confirmed: "+r.Title(), "It runs now, as it was offered.")}
	}
	return []app.Notice{r.toApprovers(m.Now, "A request waits for approval, with new terms: "+r.Title(), r.groups())}
}

func (r Request) tellWithdrawn(m RequestMove) []app.Notice {
	return []app.Notice{r.toRequester(m.Now, "Withdrawn: "+r.Title(), strings.TrimSpace(fmt.Sprintf("%s has withdrawn it. %s", m.Who.Name(), m.Reason)))}
}

func (r Request) tellBroken(m RequestMove) []app.Notice {
	n := r.notice(app.NoticeAlarm, m.Now, "Somebody broke the glass: "+r.Title(),
		fmt.Sprintf("%s let it run without the approvals that it waited for (%s): %s", m.Who.Name(), r.approvers(), m.Reason))
	n.Users, n.Groups = []string{r.Requester}, r.groups()
	return []app.Notice{n}
}

func (r Request) tellExpired(now time.Time) []app.Notice {
	return []app.Notice{r.toRequester(now, "Expired: "+r.Title(), r.Message+" Ask again if you still want it.")}
}

func (r Request) tellReminder(n policy.Need, now time.Time) app.Notice {
	groups := []string{}
	if n.Group != "" {
		groups = append(groups, n.Group)
	}
	return r.toApprovers(now, "Still waiting for approval: "+r.Title(), groups)
}

func (r Request) tellEscalated(n policy.Need, now time.Time) app.Notice {
	return r.toApprovers(now, "Nobody has decided yet: "+r.Title(), []string{n.EscalateTo})
}
