package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/humanize"
)

// Limits of a home.
const (
	homeEvery    = 10 * time.Second // minimum time between updates of a home
	homeClusters = 20
	homeRequests = 10
	homeEnds     = 8
	homeLooked   = 60 // clusters, including deleted ones
)

// homes shows people their home in the chat.
type homes struct {
	homes     Homes
	questions ManualSteps
	requests  Requests
	clusters  Clusters
}

func (b *Bot) Home(ctx context.Context, p Person) Home {
	since := b.now()
	h, who := b.home(ctx, p)
	b.homes.noted(ctx, b.request(p, who), h, since, since)
	return h
}

// noted has a home kept up to date.
func (hs homes) noted(ctx context.Context, r request, h Home, since, opened time.Time) {
	team, person, ok := strings.Cut(r.person.External, "/")
	if !ok {
		return
	}
	err := hs.homes.HomeShown(ctx, chat.Home{Kind: r.person.Kind, Team: team, Person: person, Tenant: r.actor.Tenant, User: r.actor.User, Shown: h.digest(),
		ShownAt: r.now(), OpenedAt: opened}, since)
	if err != nil {
		r.log.Warn("bot: a home couldn't be recorded", "error", err)
	}
}

// digest identifies a home's content.
func (h Home) digest() string {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // texts only
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// home makes a person's home; the actor is empty if they have no linked account.
func (b *Bot) home(ctx context.Context, p Person) (Home, app.Actor) {
	actor, err := b.accounts.actor(ctx, p)
	if err != nil {
		return b.unlinkedHome(p, err), app.Actor{}
	}
	h, err := b.homes.of(ctx, b.request(p, actor))
	if err != nil {
		a := b.sorry(p, err)
		h = Home{Parts: []Part{{Title: a.Title, Lines: a.Lines, Links: []Link{{"Open the portal", b.Page(app.Subject{Kind: app.SubjectHome})}}}}}
	}
	return h, actor
}

func (s *site) unlinkedHome(p Person, err error) Home {
	a := s.sorry(p, err)
	part := Part{Title: a.Title, Lines: a.Lines, Links: []Link{{"Open the portal", s.Page(app.Subject{Kind: app.SubjectHome})}}}
	if app.AsError(err).Reason == "not_linked" {
		part.Lines = []string{"Create and manage clusters from Slack. Link your Muster account to get started."}
		part.Buttons = []Button{action{Do: doLink, Beside: true}.button("Link account", false)}
	}
	return Home{Parts: []Part{part}}
}

func (hs homes) of(ctx context.Context, r request) (h Home, err error) {
	start := Part{Title: "Muster", Lines: []string{"Signed in as " + r.actor.Name() + " (tenant " + r.actor.Tenant + ")"}, Links: []Link{{"Open the portal", r.Page(app.Subject{Kind: app.SubjectHome})}}}
	if r.actor.May("Ask") {
		start.Buttons = []Button{action{Do: doCreate, Beside: true}.button("New cluster…", false)}
	}
	h.Parts = append(h.Parts, start)
	asked, err := hs.questions.ManualSteps(ctx, r.actor, execution.ManualStepQuery{Mine: true})
	if err != nil {
		return h, err
	}
	for i, q := range asked[:min(len(asked), homeRequests)] {
		p := Part{Lines: r.manualStepLines(q), Buttons: []Button{manualStepButton(q, true)}, Links: []Link{{"View in portal", r.Page(q.Subject())}}}
		if i == 0 {
			p.Title = "Manual steps waiting for you"
		}
		h.Parts = append(h.Parts, p)
	}
	waiting, err := hs.waiting(ctx, r)
	if err != nil {
		return h, err
	}
	h.Parts = append(h.Parts, waiting...)
	list, err := hs.clusters.Clusters(ctx, r.actor, app.ClusterFilter{Owner: r.actor.User, Deleted: true, Limit: homeLooked})
	if err != nil {
		return h, err
	}
	h.Parts = append(h.Parts, r.homeOfClusters(list)...)
	return h, nil
}

func (hs homes) waiting(ctx context.Context, r request) (parts []Part, err error) {
	for _, l := range []struct {
		title string
		f     cluster.RequestFilter
	}{
		{"Waiting for your approval", cluster.RequestFilter{View: cluster.RequestsInbox, Limit: homeRequests}},
		{"Your open requests", cluster.RequestFilter{View: cluster.RequestsMine, Status: cluster.RequestWaiting, Limit: homeRequests}},
	} {
		list, err := hs.requests.Requests(ctx, r.actor, l.f)
		if err != nil {
			return nil, err
		}
		for i, q := range list {
			p := Part{Lines: append([]string{fmt.Sprintf("Request %d", q.ID)}, r.terms(q)...)}
			if i == 0 {
				p.Title = l.title
			}
			if q.Status == cluster.RequestOffered && q.Offer != nil {
				p.Lines = append(p.Lines, r.offerLine(q))
			}
			// Decisions are made after a look at the request, one click away.
			if q.Status.Open() {
				p.Buttons = []Button{action{Do: doApproveAsk, Request: q.ID, Beside: true}.button("View request", false)}
			}
			p.Links = []Link{{"View in portal", r.Page(app.RequestSubject(q.ID))}}
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// homeOfClusters shows existing clusters and recent results.
func (r reader) homeOfClusters(list []app.ClusterSummary) (parts []Part) {
	live, shown := 0, 0
	for _, c := range list {
		if c.Status == app.ClusterDeleted {
			continue
		}
		if live++; live > homeClusters {
			continue
		}
		facts := []string{c.StatusWord(c.Operation), humanize.Count(c.Size, "node"), "from " + c.Template, r.leaseEnd(c.Cluster)}
		if price := perHour(c.CostPerHour, c.Currency); price != "" {
			facts = append(facts, price)
		}
		p := Part{Lines: []string{c.Name + " – " + strings.Join(facts, ", ")}, Links: []Link{{"View cluster", r.Page(app.ClusterSubject(c.ID))}}}
		if c.Message != "" && c.Status == app.ClusterFailed {
			p.Lines = append(p.Lines, c.Message)
		}
		if shown++; shown == 1 {
			p.Title = "Your clusters"
		}
		if !c.ExpiresAt.IsZero() {
			extend := action{Do: doLease, Cluster: c.ID, Beside: true}.button("Extend lease…", false)
			extend.Quiet = true
			p.Buttons = append(p.Buttons, extend)
		}
		p.Buttons = append(p.Buttons, deleteButton(c.Cluster, true))
		parts = append(parts, p)
	}
	switch {
	case live == 0:
		parts = append(parts, Part{Title: "Your clusters", Lines: []string{"No clusters yet."}})
	case live > homeClusters:
		parts = append(parts, Part{Quiet: true, Lines: []string{fmt.Sprintf("%d more in the portal.", live-homeClusters)}, Links: []Link{{"View all clusters", r.Page(app.Subject{Kind: app.SubjectClusters})}}})
	}
	if lines := r.latest(list); len(lines) > 0 {
		parts = append(parts, Part{Title: "Recent activity", Lines: lines})
	}
	return parts
}

// latest lists how the latest operations ended, newest first.
func (v voice) latest(list []app.ClusterSummary) (lines []string) {
	list = slices.DeleteFunc(slices.Clone(list), func(c app.ClusterSummary) bool { return c.Operation == nil || c.Operation.EndedAt.IsZero() })
	slices.SortStableFunc(list, func(x, y app.ClusterSummary) int { return y.Operation.EndedAt.Compare(x.Operation.EndedAt) })
	for _, c := range list[:min(len(list), homeEnds)] {
		lines = append(lines, c.Operation.Headline(c.Cluster)+" – "+v.moment(c.Operation.EndedAt))
	}
	return lines
}
