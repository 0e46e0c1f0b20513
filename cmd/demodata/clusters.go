package demodata

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/layout"
	"muster/app/operation"
	"muster/app/schedule"
	"muster/app/webhook"
)

// fate is what happens to a cluster.
type fate int

const (
	alive fate = iota
	deleted
	breaks      // its create fails on one node
	runs        // its create is running
	held        // the same, and someone has paused it
	asks        // a person is asked something
	sleeps      // it was put to sleep
	grows       // it is being made larger
	upForReview // it waits for approval
	denied
	undone // its create failed and was rolled back
	misset // a change of its configuration failed
	bereft // the same, since a machine is gone
	loses  // one of its machines is gone
)

// asked is one request for a cluster, so many days ago.
type asked struct {
	days     float64
	owner    string
	template string
	name     string
	size     int
	lease    time.Duration
	fate     fate
	days2    float64 // after so many days it was deleted
}

const day = 24 * time.Hour

// story is what was asked for within a month.
var story = []asked{
	{33, "elif", "kafka", "events", 6, 60 * day, alive, 0},
	{32, user, "web-shop", "staging", 7, 30 * day, deleted, 12},
	{30, "farid", "spark", "churn-q3", 9, 3 * day, deleted, 2.6},
	{28.6, "hiro", "accounting", "books-2025", 2, 60 * day, deleted, 21},
	{27.1, "greta", "web-shop", "load-test-1", 15, 3 * day, deleted, 1.2},
	{25.2, "jonas", "kafka", "clicks", 5, 30 * day, deleted, 9},
	{23, "builds", "build-runners", "runners-main", 8, 14 * day, deleted, 13},
	{21.3, "farid", "spark", "recommendations", 12, 3 * day, deleted, 2.9},
	{20, user, "web-shop", "integration", 5, 30 * day, alive, 0},
	{18.4, "ines", "web-shop", "translations", 4, 12 * day, deleted, 8},
	{16.5, "greta", "web-shop", "load-test-2", 14, 3 * day, deleted, 2},
	{14.2, "elif", "spark", "fraud-model", 10, 3 * day, deleted, 2.5},
	{13, "jonas", "kafka", "clicks-v2", 5, 30 * day, alive, 0},
	{11.6, "greta", "web-shop", "winter-sale-preview", 22, 3 * day, denied, 0},
	{11.2, "greta", "web-shop", "winter-sale", 12, 30 * day, alive, 0},
	{9.5, "builds", "build-runners", "runners-main", 10, 14 * day, alive, 0},
	{8.1, "ines", "web-shop", "accessibility", 4, 12 * day, sleeps, 0},
	{6.3, "farid", "spark", "basket-analysis", 8, 3 * day, undone, 0},
	{6.1, "farid", "spark", "basket-analysis", 8, 3 * day, deleted, 2.7},
	{5.2, "jonas", "spark", "page-speed", 6, 3 * day, deleted, 2},
	{3.8, user, "web-shop", "payments", 6, 12 * day, alive, 0},
	{2.2, "elif", "spark", "attribution", 9, 3 * day, alive, 0},
	{1.2, "hiro", "accounting", "books-2026", 2, 60 * day, asks, 0},
	{0.9, "greta", "web-shop", "checkout-fix", 5, 3 * day, breaks, 0},
	{0.8, "ines", "web-shop", "search-tuning", 4, 3 * day, misset, 0},
	{0.7, "ines", "web-shop", "gift-cards", 5, 3 * day, bereft, 0},
	{0.6, "ines", "web-shop", "wishlist", 4, 3 * day, loses, 0},
	{0.5, "jonas", "kafka", "clicks-replay", 4, 7 * day, held, 0},
	{0.3, "farid", "spark", "pricing-study", 18, 3 * day, upForReview, 0},
	{0.2, user, "web-shop", "black-friday", 24, 12 * day, upForReview, 0},
	{0.1, "elif", "kafka", "events", 9, 0, grows, 0},
	{0.02, user, "web-shop", "demo-for-sales", 7, 3 * day, runs, 0},
}

// Populate fills an empty instance: people, rules, and what was asked for in the month before now. The clock is stopped at now afterwards.
func (h *Instance) Populate(ctx context.Context, now time.Time) error {
	h.Clock.Set(now.Add(-34 * day))
	if err := h.addPeople(ctx); err != nil {
		return err
	}
	w := &worker{h: h, id: workerOf("fra-1")}
	ends := map[string]time.Time{} // of clusters to delete
	for _, q := range story {
		at := now.Add(-time.Duration(q.days * float64(day)))
		if err := h.clear(ctx, w, ends, at); err != nil {
			return err
		}
		h.Clock.Set(at)
		id, err := h.ask(ctx, w, q)
		if err != nil {
			return fmt.Errorf("demodata: %s: %w", q.name, err)
		}
		if q.fate == deleted {
			ends[id] = at.Add(time.Duration(q.days2 * float64(day)))
		}
	}
	if err := h.finish(ctx, now); err != nil {
		return err
	}
	h.Clock.Set(now.Add(-2 * time.Minute))
	if err := h.builds(ctx, h.actor(Admin)); err != nil {
		return fmt.Errorf("demodata: %w", err)
	}
	h.Clock.Set(now)
	return h.staff(ctx, "fra-2", "dub-1")
}

// clear deletes what is to be gone by a time, in the order of ends.
func (h *Instance) clear(ctx context.Context, w *worker, ends map[string]time.Time, until time.Time) error {
	for {
		first := ""
		for id, end := range ends {
			if end.Before(until) && (first == "" || end.Before(ends[first])) {
				first = id
			}
		}
		if first == "" {
			return nil
		}
		h.Clock.Set(ends[first])
		delete(ends, first)
		if _, err := h.Services.Cluster.Deletes.DeleteCluster(ctx, h.actor(Admin), first); err != nil {
			return fmt.Errorf("demodata: delete: %w", err)
		}
		if err := w.work(ctx, 0); err != nil {
			return err
		}
	}
}

func (h *Instance) owner(name string) app.Actor {
	if name == "builds" {
		return app.Actor{Tenant: Tenant, User: name, Role: app.RoleRobot, Via: app.ViaAPI, From: "198.51.100.9", Token: "build system"}
	}
	return h.actor(name)
}

// ask makes one request, and lets happen what happens to it.
func (h *Instance) ask(ctx context.Context, w *worker, q asked) (id string, err error) {
	who := h.owner(q.owner)
	if q.fate == grows {
		return "", h.grow(ctx, w, who, q)
	}
	answer, err := h.Services.Cluster.Creates.Ask(ctx, who,
		cluster.CreateRequest{Name: q.name, Lease: &q.lease, Request: layout.Request{Template: q.template, Size: q.size}})
	if err != nil {
		return "", err
	}
	for answer.Request.Status == cluster.RequestWaiting && q.fate != upForReview {
		if q.fate == denied {
			h.Clock.move(40 * time.Minute)
			_, err := h.Services.Operation.Requests.Review(ctx, h.actor(approver), answer.Request.ID,
				operation.ReviewRequest{Verdict: cluster.VerdictDeny, PlanHash: answer.Request.Terms.PlanHash,
					Reason: "Twelve nodes were enough last year. Request fewer."})
			return "", err
		}
		h.Clock.move(20 * time.Minute)
		reviewer := h.actor(approver)
		if who.User == approver {
			reviewer = h.actor(Admin)
		}
		if answer.Request, err = h.Services.Operation.Requests.Review(ctx, reviewer, answer.Request.ID,
			operation.ReviewRequest{Verdict: cluster.VerdictApprove, PlanHash: answer.Request.Terms.PlanHash,
				Reason: "Within budget."}); err != nil {
			return "", err
		}
	}
	if q.fate == upForReview {
		return "", nil
	}
	id = answer.Request.Cluster
	w.fails = nil
	rounds := 0
	switch q.fate {
	case breaks, undone:
		w.fails = func(as *execution.Assignment) *app.Error {
			if as.Cluster.ID == id && as.Node.Name == "n2" && as.Action == app.ActionInstall {
				return app.Errorf(app.EInternal, "E: Failed to fetch https://packages.example.com/pool/%s.deb: 503 Service Unavailable", as.Service)
			}
			return nil
		}
	case runs, held:
		rounds = 5
	}
	if err := w.work(ctx, rounds); err != nil {
		return "", err
	}
	w.fails, w.holds = nil, nil
	return id, h.after(ctx, w, q, id)
}

// after is what people do with a cluster that they have.
func (h *Instance) after(ctx context.Context, w *worker, q asked, id string) error {
	who := h.owner(q.owner)
	h.Clock.move(time.Hour)
	switch q.fate {
	case sleeps:
		p, err := h.Services.Operation.Sleeping.PreviewSleep(ctx, who, id)
		if err != nil {
			return err
		}
		if _, err := h.Services.Operation.Sleeping.SleepCluster(ctx, who, id, p.PlanHash); err != nil {
			return err
		}
		return w.work(ctx, 0)
	case held:
		_, err := h.Services.Operation.Controls.PauseOperation(ctx, who, id, 0)
		return err
	case undone:
		p, err := h.Services.Operation.RollBacks.PreviewRollBack(ctx, who, id, 0, "")
		if err != nil {
			return err
		}
		if _, err := h.Services.Operation.RollBacks.RollBack(ctx, who, id, 0, p.PlanHash, ""); err != nil {
			return err
		}
		return w.work(ctx, 0)
	case misset, bereft:
		return h.breakConfiguration(ctx, w, who, id, q.fate == bereft)
	case loses:
		// It's noticed like this where something ends well meanwhile.
		if _, err := h.Store.MarkNodes(ctx, Tenant, id, []string{"n3"}, nil, h.Clock.Now()); err != nil {
			return err
		}
		if _, err := h.Services.Operation.Updates.Update(ctx, who, id, cluster.Update{Kind: app.OperationRestart}); err != nil {
			return err
		}
		return w.work(ctx, 0)
	case alive:
		if q.template != "web-shop" {
			return nil
		}
		if _, err := h.Services.Operation.Schedules.SetSchedule(ctx, who, id, schedule.Schedule{Sleep: "0 20 * * 1-5", Wake: "0 7 * * 1-5",
			Zone: "Europe/Berlin"}); err != nil {
			return err
		}
		h.Clock.move(5 * time.Hour)
		if _, err := h.Services.Operation.Updates.Update(ctx, who, id,
			cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"workers": 16}, Batch: 2}); err != nil {
			return err
		}
		return w.work(ctx, 0)
	}
	return nil
}

// breakConfiguration has a change of a cluster's configuration fail on its fourth node, whose machine is gone then where that is wanted.
func (h *Instance) breakConfiguration(ctx context.Context, w *worker, who app.Actor, id string, gone bool) error {
	w.fails = func(as *execution.Assignment) *app.Error {
		switch {
		case as.Cluster.ID != id || as.Node.Name != "n4" || as.Service == "":
			return nil
		case gone:
			return app.Errorf(app.ETransient, "%s isn't responding: connect to port 22: no route to host", as.Node.Hostname)
		case as.Action == app.ActionStart || as.Action == app.ActionReload:
			return &app.Error{Code: app.EScript, Message: "The script failed with exit code 1.", Hint: "Check its log. Fix the cause on the node and resume, or change the configuration to finish the remaining steps."}
		}
		return nil
	}
	defer func() { w.fails = nil }()
	if _, err := h.Services.Operation.Updates.Update(ctx, who, id,
		cluster.Update{Kind: app.OperationReconfigure, Parameters: map[string]any{"workers": 24}}); err != nil {
		return err
	}
	if err := w.work(ctx, 0); err != nil || !gone {
		return err
	}
	h.Clock.move(40 * time.Second)
	_, err := h.Store.MarkNodes(ctx, Tenant, id, []string{"n4"}, nil, h.Clock.Now())
	return err
}

// grow makes a cluster larger, and stays in the middle of it.
func (h *Instance) grow(ctx context.Context, w *worker, who app.Actor, q asked) error {
	list, err := h.Services.Cluster.Views.Clusters(ctx, who, app.ClusterFilter{Name: q.name})
	if err != nil {
		return err
	}
	for _, c := range list {
		a, err := h.Services.Operation.Updates.Update(ctx, who, c.ID, cluster.Update{Kind: app.OperationResize, Size: q.size})
		if err != nil {
			return err
		}
		if a.Request.Status == cluster.RequestWaiting {
			if _, err := h.Services.Operation.Requests.Review(ctx, h.actor(approver), a.Request.ID,
				operation.ReviewRequest{Verdict: cluster.VerdictApprove, PlanHash: a.Request.Terms.PlanHash}); err != nil {
				return err
			}
		}
	}
	return w.work(ctx, 4)
}

// finish is what others found: orphaned machines, deliveries that did not arrive.
func (h *Instance) finish(ctx context.Context, now time.Time) error {
	h.Clock.Set(now.Add(-20 * time.Minute))
	at := h.Clock.Now()
	for _, account := range []app.Account{{Provider: "frankfurt", Machines: 74, Orphans: 1}, {Provider: "dublin", Machines: 13, Orphans: 1}} {
		if _, err := h.Store.HoldAccount(ctx, account.Provider, "demodata", at, time.Minute); err != nil {
			return err
		}
		o := fleet.Orphan{Provider: account.Provider, Machine: "i-5eee01a4", Hostname: "n4-load-test-2.shop.example.com", Tenant: Tenant, Cluster: "load-test-2", Node: "n4",
			Kind: fleet.OrphanEnded, Price: 0.12, CreatedAt: at.Add(-14 * day)}
		if account.Provider == "dublin" {
			o = fleet.Orphan{Provider: "dublin", Machine: "i-5eee0b77", Hostname: "scratch", Tenant: Tenant, Kind: fleet.OrphanUnknown, Price: 0.03, CreatedAt: at.Add(-3 * day)}
		}
		if _, err := h.Store.SeeOrphans(ctx, account.Provider, at, []fleet.Orphan{o}); err != nil {
			return err
		}
		account.BeganAt, account.EndedAt = at, at.Add(2*time.Second)
		if err := h.Store.EndPass(ctx, "demodata", account); err != nil {
			return err
		}
	}
	if _, err := h.Store.QueueDeliveries(ctx, at); err != nil {
		return err
	}
	due, _, err := h.Store.ClaimDeliveries(ctx, webhook.DeliveryClaim{Holder: "demodata", Now: at, For: time.Minute, Most: 40, PerTenant: 40})
	if err != nil {
		return err
	}
	for i, d := range due {
		end := webhook.DeliveryEnd{Delivery: d.ID, Hook: d.HookID, Holder: "demodata", Attempt: d.Attempts, At: at, Duration: time.Duration(80+13*i) * time.Millisecond, Status: 204}
		if i == len(due)-1 {
			end.Status, end.Err, end.Response = 503, app.Errorf(app.ETransient, "The receiver responded 503 Service Unavailable."), "try later"
		}
		if err := h.Store.EndDelivery(ctx, end); err != nil {
			return err
		}
	}
	return nil
}
