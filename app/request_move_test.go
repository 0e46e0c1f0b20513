package app_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	apppolicy "muster/app/policy"
)

var begun = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func person(name string, role app.Role, groups ...string) app.Actor {
	return app.Actor{Tenant: "t", User: name, Role: role, Groups: groups, ProvenAt: begun}
}

// waitingRequest is one of ada's that waits.
func waitingRequest(needs ...apppolicy.RequiredApproval) cluster.Request {
	r := cluster.Request{ID: 7, Tenant: "t", Kind: app.OperationCreate, Requester: "ada", Owner: "ada", Status: cluster.RequestWaiting, RequestedAt: begun,
		ExpiresAt: begun.Add(72 * time.Hour), Approvals: needs, Terms: cluster.Terms{PlanHash: "h1", Layout: layout.Layout{Groups: []layout.NodeGroup{{Count: 4}}}}}
	return r
}

func need(policy string, count int, group string) apppolicy.RequiredApproval {
	return apppolicy.RequiredApproval{Policy: policy, Approval: apppolicy.Approval{Count: count, Group: group}}
}

func TestPermissionsOnWaitingRequests(t *testing.T) {
	fin := need("money", 2, "finance")
	high := fin
	high.Approval.High = true
	glass := fin
	glass.Approval.BreakGlass = "oncall"
	byRole := apppolicy.RequiredApproval{Policy: "big", Approval: apppolicy.Approval{Count: 1, Role: app.RoleApprover}}
	escalated := fin
	escalated.Approval.EscalateTo, escalated.EscalatedAt = "heads", begun
	offered := waitingRequest(fin)
	offered.Status, offered.Offer = cluster.RequestOffered, &cluster.Offer{Terms: cluster.Terms{PlanHash: "h2"}, By: "bob"}
	once := waitingRequest(fin)
	once.Reviews = []cluster.Review{{Reviewer: "bob", Decision: cluster.VerdictApprove, Counts: []string{"money"}}}
	ended := waitingRequest(fin)
	ended.Status = cluster.RequestDenied
	stale := person("bob", app.RoleUser, "finance")
	stale.ProvenAt = begun.Add(-6 * time.Minute)
	token := person("bob", app.RoleUser, "finance")
	token.ProvenAt = time.Time{}
	home := person("ada", app.RoleSuperadmin)
	home.Home = "other"
	bob, ada := person("bob", app.RoleUser, "finance"), person("ada", app.RoleUser, "finance")
	for _, c := range []struct {
		name   string
		r      cluster.Request
		act    cluster.RequestAct
		who    app.Actor
		hash   string
		reason string
		status cluster.RequestStatus // afterwards
		wrong  string                // the Reason or, where there is none, the Code of the refusal
	}{
		{"a member approves", waitingRequest(fin), cluster.RequestApprove, bob, "h1", "", cluster.RequestWaiting, ""},
		{"the last one", waitingRequest(need("m", 1, "finance")), cluster.RequestApprove, bob, "h1", "", cluster.RequestAccepted, ""},
		{"who asked does not", waitingRequest(fin), cluster.RequestApprove, ada, "h1", "", "", "own_request"},
		{"nor does he deny", waitingRequest(fin), cluster.RequestDeny, ada, "h1", "no no", "", "own_request"},
		{"of another tenant he is another", waitingRequest(byRole), cluster.RequestApprove, home, "h1", "", cluster.RequestAccepted, ""},
		{"an admin outside of the group does not", waitingRequest(fin), cluster.RequestApprove, person("root", app.RoleAdmin), "h1", "", "", "not_approver"},
		{"nor does an approver", waitingRequest(fin), cluster.RequestApprove, person("eve", app.RoleApprover), "h1", "", "", "not_approver"},
		{"where a role is named he does", waitingRequest(byRole), cluster.RequestApprove, person("eve", app.RoleApprover), "h1", "", cluster.RequestAccepted, ""},
		{"and so does a mightier one", waitingRequest(byRole), cluster.RequestApprove, person("root", app.RoleAdmin), "h1", "", cluster.RequestAccepted, ""},
		{"but no user", waitingRequest(byRole), cluster.RequestApprove, person("joe", app.RoleUser), "h1", "", "", "not_approver"},
		{"nor a robot", waitingRequest(byRole), cluster.RequestApprove, person("joe", app.RoleRobot), "h1", "", "", "not_approver"},
		{"after the escalation others do", waitingRequest(escalated), cluster.RequestApprove, person("joe", app.RoleUser, "heads"), "h1", "", cluster.RequestWaiting, ""},
		{"no one twice", once, cluster.RequestApprove, bob, "h1", "", "", "reviewed"},
		{"not even the other way", once, cluster.RequestDeny, bob, "h1", "changed my mind", "", "reviewed"},
		{"another one is enough then", once, cluster.RequestApprove, person("cy", app.RoleUser, "finance"), "h1", "", cluster.RequestAccepted, ""},
		{"one no wins over a yes", once, cluster.RequestDeny, person("cy", app.RoleUser, "finance"), "h1", "too dear", cluster.RequestDenied, ""},
		{"a no needs a reason", waitingRequest(fin), cluster.RequestDeny, bob, "h1", " ", "", "invalid"},
		{"a yes needs to say to what", waitingRequest(fin), cluster.RequestApprove, bob, "", "", "", "invalid"},
		{"and to the current plan", waitingRequest(fin), cluster.RequestApprove, bob, "h0", "", "", "plan_changed"},
		{"a no to what is gone neither", waitingRequest(fin), cluster.RequestDeny, bob, "h0", "too dear", "", "plan_changed"},
		{"high risk takes a proof", waitingRequest(high), cluster.RequestApprove, stale, "h1", "", "", "step_up"},
		{"which tokens have not", waitingRequest(high), cluster.RequestApprove, token, "h1", "", "", "step_up"},
		{"a fresh one will do", waitingRequest(high), cluster.RequestApprove, bob, "h1", "", cluster.RequestWaiting, ""},
		{"a no takes none", waitingRequest(high), cluster.RequestDeny, stale, "h1", "too dear", cluster.RequestDenied, ""},
		{"what is offered is not reviewed", offered, cluster.RequestApprove, bob, "h1", "", "", "offered"},
		{"who asked confirms", offered, cluster.RequestConfirm, ada, "h2", "", cluster.RequestWaiting, ""},
		{"but nothing else than what was offered", offered, cluster.RequestConfirm, ada, "h1", "", "", "plan_changed"},
		{"no one else does", offered, cluster.RequestConfirm, bob, "h2", "", "", "not_requester"},
		{"without an offer there is nothing to confirm", waitingRequest(fin), cluster.RequestConfirm, ada, "h1", "", "", "not_offered"},
		{"who asked withdraws", waitingRequest(fin), cluster.RequestWithdraw, ada, "", "", cluster.RequestWithdrawn, ""},
		{"also what was offered", offered, cluster.RequestWithdraw, ada, "", "", cluster.RequestWithdrawn, ""},
		{"an admin, too", waitingRequest(fin), cluster.RequestWithdraw, person("root", app.RoleAdmin), "", "", cluster.RequestWithdrawn, ""},
		{"no one else", waitingRequest(fin), cluster.RequestWithdraw, bob, "", "", "", "not_requester"},
		{"an admin uses the emergency override", waitingRequest(fin), cluster.RequestBreak, person("root", app.RoleAdmin), "h1", "the shop is down", cluster.RequestAccepted, ""},
		{"for himself, too", waitingRequest(fin), cluster.RequestBreak, person("ada", app.RoleAdmin), "h1", "the shop is down", cluster.RequestAccepted, ""},
		{"so do members of the group", waitingRequest(glass), cluster.RequestBreak, person("joe", app.RoleUser, "oncall"), "h1", "the shop is down", cluster.RequestAccepted, ""},
		{"but of no other", waitingRequest(glass), cluster.RequestBreak, bob, "h1", "the shop is down", "", "not_breaker"},
		{"nine letters are no emergency", waitingRequest(fin), cluster.RequestBreak, person("root", app.RoleAdmin), "h1", "  shop down ", "", "invalid"},
		{"it takes a proof", waitingRequest(glass), cluster.RequestBreak, func() app.Actor { a := stale; a.Groups = []string{"oncall"}; return a }(), "h1", "the shop is down", "", "step_up"},
		{"and to have seen what runs", waitingRequest(fin), cluster.RequestBreak, person("root", app.RoleAdmin), "h0", "the shop is down", "", "plan_changed"},
		{"nothing happens to what has ended", ended, cluster.RequestApprove, bob, "h1", "", "", "request_ended"},
		{"not even this", ended, cluster.RequestBreak, person("root", app.RoleAdmin), "h1", "the shop is down", "", "request_ended"},
		{"an unknown act", waitingRequest(fin), "bless", bob, "h1", "", "", "invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.r
			r.Reviews = slices.Clone(r.Reviews)
			r.Approvals = slices.Clone(r.Approvals)
			o, err := r.Move(cluster.RequestMove{Act: c.act, Who: c.who, Now: begun, PlanHash: c.hash, Reason: c.reason})
			wrong := ""
			if err != nil {
				if wrong = app.AsError(err).Reason; wrong == "" {
					wrong = string(app.CodeOf(err))
				}
			}
			if wrong != c.wrong {
				t.Fatalf("got %v, want %q", err, c.wrong)
			}
			if err != nil {
				return
			}
			if r.Status != c.status || o.Run != (c.status == cluster.RequestAccepted) {
				t.Errorf("is %s, run %v; want %s", r.Status, o.Run, c.status)
			}
			if (c.act == cluster.RequestBreak) != r.Override {
				t.Errorf("broken: %v", r.Override)
			}
			if r.Override && (len(o.Notices) != 1 || o.Notices[0].Kind != app.NoticeAlarm || !strings.Contains(o.Notices[0].Text, c.reason)) {
				t.Errorf("no alarm: %+v", o.Notices)
			}
		})
	}
}

func TestRequestsRemindEscalateAndExpire(t *testing.T) {
	n := need("money", 1, "finance")
	n.Approval.RemindAfter, n.Approval.EscalateAfter, n.Approval.EscalateTo = time.Hour, 2*time.Hour, "heads"
	r := waitingRequest(n)
	at := func(after time.Duration) cluster.RequestOutcome {
		t.Helper()
		o, err := r.Move(cluster.RequestMove{Act: cluster.RequestReconcile, Now: begun.Add(after)})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := at(0); !o.Nothing || !r.DueAt.Equal(begun.Add(time.Hour)) {
		t.Errorf("at once: %+v, due %s", o, r.DueAt)
	}
	if o := at(time.Hour); len(o.Notices) != 1 || !slices.Equal(o.Notices[0].Groups, []string{"finance"}) || o.Notices[0].ActionName != "Decide" {
		t.Errorf("no reminder: %+v", o)
	}
	if o := at(time.Hour + time.Minute); !o.Nothing || !r.DueAt.Equal(begun.Add(2*time.Hour)) {
		t.Errorf("reminded twice: %+v, due %s", o, r.DueAt)
	}
	if o := at(2 * time.Hour); len(o.Notices) != 1 || !slices.Equal(o.Notices[0].Groups, []string{"heads"}) {
		t.Errorf("not escalated: %+v", o)
	}
	if !r.WaitsFor(person("joe", app.RoleUser, "heads")) {
		t.Error("it does not wait for those it was escalated to")
	}
	if o := at(72 * time.Hour); r.Status != cluster.RequestExpired || len(o.Notices) != 1 || !slices.Equal(o.Notices[0].Users, []string{"ada"}) || !r.DueAt.IsZero() {
		t.Errorf("not expired: %s %+v", r.Status, o)
	}
	if o := at(73 * time.Hour); !o.Nothing {
		t.Errorf("expired twice: %+v", o)
	}
}

func TestApprovalsOfOtherTermsLapse(t *testing.T) {
	r := waitingRequest(need("money", 2, "finance"))
	move := func(act cluster.RequestAct, who app.Actor, hash string, offer *cluster.Offer) cluster.RequestOutcome {
		t.Helper()
		o, err := r.Move(cluster.RequestMove{Act: act, Who: who, Now: begun, PlanHash: hash, Reason: "because", Offer: offer, Kept: &cluster.RequestPayload{}})
		if err != nil {
			t.Fatalf("%s by %s: %v", act, who.User, err)
		}
		return o
	}
	fin := func(name string) app.Actor { return person(name, app.RoleUser, "finance") }
	move(cluster.RequestApprove, fin("bob"), "h1", nil)
	move(cluster.RequestOffer, fin("cy"), "h1", &cluster.Offer{Terms: cluster.Terms{PlanHash: "h2"}, By: "cy"})
	if o := move(cluster.RequestConfirm, fin("ada"), "h2", nil); o.Run || r.Status != cluster.RequestWaiting || len(r.Approvals[0].Approved) != 1 || r.Approvals[0].Approved[0] != "cy" {
		t.Fatalf("after the confirmation: %s, approved by %v", r.Status, r.Approvals[0].Approved)
	}
	if _, err := r.Move(cluster.RequestMove{Act: cluster.RequestApprove, Who: fin("bob"), Now: begun, PlanHash: "h1"}); app.AsError(err).Reason != "plan_changed" {
		t.Errorf("bob approves what he saw before: %v", err)
	}
	if _, err := r.Move(cluster.RequestMove{Act: cluster.RequestApprove, Who: fin("cy"), Now: begun, PlanHash: "h2"}); app.AsError(err).Reason != "reviewed" {
		t.Errorf("cy counts twice: %v", err)
	}
	if o := move(cluster.RequestApprove, fin("bob"), "h2", nil); !o.Run || r.Status != cluster.RequestAccepted || r.Terms.PlanHash != "h2" {
		t.Errorf("bob approves the new terms: %+v, %s", o, r.Status)
	}
}

// Whatever people and time do, in whatever order: a request runs at most once, and then either the emergency override was used or enough
// different people who may, none of them who asked, have approved just what runs; after a no it never runs.
func TestARequestRunsOnceAndWithEnoughApprovers(t *testing.T) {
	const tries = 20000
	ran := 0
	for seed := range uint64(tries) {
		rng := rand.New(rand.NewPCG(seed, 7))
		groups := []string{"finance", "security", "heads", "oncall"}
		var needs []apppolicy.RequiredApproval
		for i := range 1 + rng.IntN(3) {
			n := need(fmt.Sprintf("p%d", i), 1+rng.IntN(3), groups[rng.IntN(3)])
			if rng.IntN(3) == 0 {
				n.Approval.Group, n.Approval.Role = "", app.RoleApprover
			}
			n.Approval.High = rng.IntN(4) == 0
			if rng.IntN(2) == 0 {
				n.Approval.EscalateAfter, n.Approval.EscalateTo = time.Hour, "heads"
			}
			needs = append(needs, n)
		}
		r := waitingRequest(needs...)
		var people []app.Actor
		for i := range 6 {
			a := person([]string{"ada", "bob", "cy", "dee", "eve", "fay"}[i], app.Roles[rng.IntN(len(app.Roles))])
			for _, g := range groups {
				if rng.IntN(2) == 0 {
					a.Groups = append(a.Groups, g)
				}
			}
			if rng.IntN(5) == 0 {
				a.ProvenAt = time.Time{}
			}
			people = append(people, a)
		}
		runs, denied, hashes := 0, false, []string{"h1"}
		yes := map[string]map[string]bool{} // by hash, who said yes to it
		agree := func(hash, who string) {
			if yes[hash] == nil {
				yes[hash] = map[string]bool{}
			}
			yes[hash][who] = true
		}
		now := begun
		for step := range 30 {
			if rng.IntN(6) == 0 {
				now = now.Add(time.Duration(rng.IntN(120)) * time.Minute)
			}
			who := people[rng.IntN(len(people))]
			if !who.ProvenAt.IsZero() && rng.IntN(2) == 0 {
				who.ProvenAt = now
			}
			acts := []cluster.RequestAct{cluster.RequestApprove, cluster.RequestApprove, cluster.RequestApprove, cluster.RequestDeny, cluster.RequestOffer, cluster.RequestConfirm, cluster.RequestConfirm, cluster.RequestReconcile, cluster.RequestBreak, cluster.RequestWithdraw}
			act := acts[rng.IntN(len(acts))]
			if (act == cluster.RequestBreak || act == cluster.RequestWithdraw || act == cluster.RequestDeny) && rng.IntN(8) > 0 {
				act = cluster.RequestApprove
			}
			m := cluster.RequestMove{Act: act, Who: who, Now: now, PlanHash: hashes[rng.IntN(len(hashes))], Reason: "a reason long enough"}
			if act == cluster.RequestOffer {
				m.Offer, m.Kept = &cluster.Offer{Terms: cluster.Terms{PlanHash: fmt.Sprintf("h%d", 2+step)}, By: who.User}, &cluster.RequestPayload{}
			}
			before := r
			o, err := r.Move(m)
			if err != nil {
				if r.Status != before.Status || len(r.Reviews) != len(before.Reviews) || r.Round != before.Round {
					t.Fatalf("seed %d: a refused %s changed the request", seed, act)
				}
				continue
			}
			switch act {
			case cluster.RequestApprove:
				agree(m.PlanHash, who.User)
			case cluster.RequestOffer:
				hashes = append(hashes, m.Offer.PlanHash)
				agree(m.Offer.PlanHash, who.User)
			case cluster.RequestDeny:
				denied = true
			}
			if !o.Run {
				continue
			}
			runs++
			if denied {
				t.Fatalf("seed %d: it runs after a no", seed)
			}
			if r.Override {
				continue
			}
			if act != cluster.RequestApprove && act != cluster.RequestConfirm {
				t.Fatalf("seed %d: it runs by %s", seed, act)
			}
			for _, n := range r.Approvals {
				may := 0
				for _, p := range people {
					fits := slices.Contains(p.Groups, n.Group) || n.Role != "" && slices.Contains([]app.Role{app.RoleApprover, app.RoleAdmin, app.RoleSuperadmin}, p.Role) ||
						!n.EscalatedAt.IsZero() && slices.Contains(p.Groups, n.EscalateTo)
					if p.User != "ada" && fits && yes[r.Terms.PlanHash][p.User] {
						may++
					}
				}
				if may < n.Count {
					t.Fatalf("seed %d: %s ran with %d approvals of %d for plan %s", seed, n.Policy, may, n.Count, r.Terms.PlanHash)
				}
			}
		}
		if runs > 1 {
			t.Fatalf("seed %d: ran %d times", seed, runs)
		}
		ran += runs
	}
	if ran < tries/20 {
		t.Errorf("only %d of %d ran: the test tries too little", ran, tries)
	}
	t.Logf("%d of %d requests ran", ran, tries)
}

// TestMissingApprovalsAreCounted reads how many approvals are missing after each one.
func TestMissingApprovalsAreCounted(t *testing.T) {
	r := waitingRequest(need("money", 3, "finance"))
	for i, want := range []string{"Still waiting for 2 more approvals from the group finance.", "Still waiting for 1 more approval from the group finance.", "It's running now"} {
		who := fmt.Sprint("bob", i)
		o, err := r.Move(cluster.RequestMove{Act: cluster.RequestApprove, Who: person(who, app.RoleUser, "finance"), Now: begun, PlanHash: "h1"})
		if err != nil || len(o.Notices) != 1 || !strings.Contains(o.Notices[0].Text, want) {
			t.Errorf("after %d: %+v, %v", i+1, o.Notices, err)
		}
	}
}
