package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/policy"
)

// Title says what is asked for: `web: 3 nodes of template shop`.
func (r Request) Title() string {
	if a := r.Terms.Updated; a != nil {
		return cmp.Or(r.Facts.Name, r.Cluster) + ": " + a.Title
	}
	name := cmp.Or(r.Spec.Name, "new cluster")
	return fmt.Sprintf("%s: %s from template %s", name, humanize.Count(r.Terms.Layout.Size(), "node"), r.Spec.Template)
}

// about is the title of a notice: "Approved for events: grow from 2 to 3 nodes".
func (r Request) about(what string) string {
	if a := r.Terms.Updated; a != nil {
		return what + " for " + cmp.Or(r.Facts.Name, r.Cluster) + ": " + humanize.LowerFirst(a.Title)
	}
	return what + " for " + r.Title()
}

// price says what it costs.
func (t Terms) price() string {
	if t.Layout.CostPerHour == 0 {
		return "price unknown"
	}
	text := humanize.PerHour(t.Layout.CostPerHour, t.Layout.Currency)
	if t.Lease > 0 {
		return text + fmt.Sprintf(", %s over %s", humanize.Money(t.Cost, t.Layout.Currency), humanize.Duration(t.Lease))
	}
	return text + ", no expiry"
}

func (r Request) notice(kind app.NoticeKind, at time.Time, title, text string) app.Notice {
	return app.Notice{At: at, Tenant: r.Tenant, Kind: kind, Cluster: r.Cluster, Request: r.ID, Title: title, Text: text, About: app.RequestSubject(r.ID)}
}

// toRequester goes to the requester. Someone of another tenant gets it under the name shown in records.
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
	n := r.notice(app.NoticeApproval, at, title, fmt.Sprintf("Requested by %s (%s). Waiting for %s.", r.Requester, r.Terms.price(), r.approvers()))
	n.Groups, n.Act, n.ActionName = groups, app.RequestSubject(r.ID), "Decide"
	return n
}

// OpenedNotices is the notice for when a request starts waiting; it has its number by then.
func (r Request) OpenedNotices() []app.Notice {
	switch r.Status {
	case RequestScheduled:
		return []app.Notice{r.toRequester(r.RequestedAt, r.about("Waiting for the maintenance window"), r.Window.Text()+".")}
	case RequestWaiting:
	default:
		return nil
	}
	return []app.Notice{r.toApprovers(r.RequestedAt, r.about("Approval required"), r.groups())}
}

// reviewNotices is called when the review is written down, but before the request is accepted.
func (r Request) reviewNotices(m RequestMove) []app.Notice {
	who := m.Who.Name()
	switch {
	case m.Act == RequestDeny:
		return []app.Notice{r.toRequester(m.Now, r.about("Denied"), fmt.Sprintf("%s denied your request: %s", who, m.Reason))}
	case m.Act == RequestOffer:
		n := r.toRequester(m.Now, r.about("Conditions offered"),
			fmt.Sprintf("%s would approve %s with lease %s (%s): %s", who, humanize.Count(r.Offer.Layout.Size(), "node"), policy.LeaseText(r.Offer.Lease), r.Offer.price(), m.Reason))
		n.Act, n.ActionName = app.RequestSubject(r.ID), "Confirm"
		return []app.Notice{n}
	case len(r.want()) == 0:
		return []app.Notice{r.toRequester(m.Now, r.about("Approved"), strings.TrimSpace(fmt.Sprintf("%s approved your request. It's running now. %s", who, m.Reason)))}
	}
	return []app.Notice{r.toRequester(m.Now, r.about("Partly approved"), fmt.Sprintf("%s approved your request. Still waiting for %s.", who, r.approvers()))}
}

func (r Request) confirmNotices(m RequestMove, run bool) []app.Notice {
	if run {
		return []app.Notice{r.toRequester(m.Now, r.about("Confirmed"), "Your request is running with the offered conditions.")}
	}
	return []app.Notice{r.toApprovers(m.Now, r.about("New approval required"), r.groups())}
}

func (r Request) withdrawnNotices(m RequestMove) []app.Notice {
	return []app.Notice{r.toRequester(m.Now, r.about("Withdrawn"), strings.TrimSpace(fmt.Sprintf("%s withdrew your request. %s", m.Who.Name(), m.Reason)))}
}

func (r Request) breakGlassNotices(m RequestMove) []app.Notice {
	n := r.notice(app.NoticeAlarm, m.Now, r.about("Emergency override"),
		fmt.Sprintf("%s started this request without the required approvals (%s): %s", m.Who.Name(), r.approvers(), m.Reason))
	n.Users, n.Groups = []string{r.Requester}, r.groups()
	return []app.Notice{n}
}

func (r Request) expiredNotices(now time.Time) []app.Notice {
	return []app.Notice{r.toRequester(now, r.about("Expired"), r.Message+" Submit a new request if you still need it.")}
}

func (r Request) reminderNotices(n policy.RequiredApproval, now time.Time) app.Notice {
	groups := []string{}
	if n.Group != "" {
		groups = append(groups, n.Group)
	}
	return r.toApprovers(now, r.about("Still waiting for approval"), groups)
}

func (r Request) escalatedNotices(n policy.RequiredApproval, now time.Time) app.Notice {
	return r.toApprovers(now, r.about("Escalated, still waiting for approval"), []string{n.EscalateTo})
}
