package build

import (
	"context"
	"fmt"
	"strings"
	"time"

	"muster/app"
	appbuild "muster/app/build"
	"muster/app/cluster"
	"muster/app/operation"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
)

// always are policies that apply to everything.
type always struct{}

func (always) Variables() []policy.Variable { return nil }

func (always) Check(policy.Policy) error { return nil }

func (always) Judge(_ context.Context, p policy.Policy, _ policy.Input) (policy.Judgement, error) {
	return policy.Judgement{Applies: true, Reason: p.Reason}, nil
}

// asking is a rule whose clusters people have to approve.
func (t *storeTest) asking() *buildHookTest {
	t.Helper()
	b := t.calling(calledRule(2, 5))
	_, err := b.a.Policy.Policies.SavePolicy(b.Ctx, kit.Boss, policy.Policy{Name: "eyes", Enabled: true, When: "true", Effect: policy.EffectApprove,
		Approval: &policy.Approval{Count: 1, Role: app.RoleApprover}})
	b.Must(err)
	return b
}

// asked begins a build, and returns it with its request once that waits for people.
func (b *buildHookTest) asked(build string) (appbuild.Build, cluster.Request) {
	b.Helper()
	r := b.begins(build)
	b.settle()
	v := b.is(r.Build, app.BuildAsking)
	q, err := b.Store.Request(b.Ctx, kit.Tenant, v.Request)
	b.Must(err)
	if q.Status != cluster.RequestWaiting || v.Cluster != "" || q.Requester != "ci" {
		b.Fatalf("build %d waits for request %+v, its cluster is %q", v.ID, q, v.Cluster)
	}
	return v, q
}

func (b *buildHookTest) review(q cluster.Request, verdict cluster.ReviewDecision, reason string) error {
	_, err := b.a.Operation.Requests.Review(b.Ctx,
		app.Actor{Tenant: kit.Tenant, User: "eve", Role: app.RoleApprover, Via: app.ViaPortal, ProvenAt: b.Clock.Now()}, q.ID,
		operation.ReviewRequest{Verdict: verdict, PlanHash: q.Terms.PlanHash, Reason: reason})
	return err
}

// made looks how many clusters were ever made.
func (b *buildHookTest) made(want int) {
	b.Helper()
	all, err := b.Store.Clusters(b.Ctx, kit.Tenant, app.ClusterFilter{Deleted: true})
	b.Must(err)
	if len(all) != want {
		b.Fatalf("%d clusters were made, want %d", len(all), want)
	}
}

func (b *buildHookTest) request(id int64, want cluster.RequestStatus, words string) {
	b.Helper()
	q, err := b.Store.Request(b.Ctx, kit.Tenant, id)
	b.Must(err)
	if q.Status != want || !strings.Contains(q.Message, words) {
		b.Fatalf("the request is %s: %q; want %s: %q", q.Status, q.Message, want, words)
	}
}

// buildsAsk: a build whose cluster people have to approve gets it when they do, and nothing when they do not, when it ends, or when it has
// waited for long enough; then nothing is left to be approved.
func (t *storeTest) buildsAsk() {
	b := t.asking()
	// approved
	one, q := b.asked("web/1")
	b.notified()
	b.Must(b.review(q, cluster.VerdictApprove, ""))
	if v := b.is(one.ID, app.BuildCreating); v.Cluster == "" {
		b.Fatal("it has no cluster")
	}
	b.settle()
	b.is(one.ID, app.BuildReady)
	b.Must(b.answered(b.notified("web/1 ready")["web/1 ready"], "", 0, ""))
	// denied: said in words, and begun again by another event
	two, q := b.asked("web/2")
	b.Must(b.review(q, cluster.VerdictDeny, "not on a Friday"))
	b.settle()
	if v := b.is(two.ID, app.BuildRefused); !strings.Contains(v.Message, "Denied: not on a Friday") || v.Cluster != "" {
		b.Errorf("denied it is %+v", v)
	}
	if d := b.notified("web/2 refused")["web/2 refused"]; !strings.Contains(d.BuildNews.Message, "not on a Friday") {
		b.Errorf("sent is %+v", d.BuildNews)
	} else {
		b.Must(b.answered(d, "", 0, ""))
	}
	again, q := b.asked("web/2")
	if again.ID == two.ID {
		b.Error("the refused one asks again")
	}
	b.made(1)
	// ended while it asks: no one is bothered any more
	if e := b.ends("web/2"); e.Outcome != appbuild.OutcomeEnded || e.Build != again.ID {
		b.Errorf("its end is %+v", e)
	}
	b.settle()
	if v := b.is(again.ID, app.BuildOver); !strings.Contains(v.Message, "Ended while waiting for approval") {
		b.Errorf("ended it is %+v", v)
	}
	b.request(q.ID, cluster.RequestWithdrawn, "The build has ended")
	b.Code(b.review(q, cluster.VerdictApprove, ""), app.EConflict)
	b.settle()
	b.made(1)
	b.Must(b.answered(b.notified("web/2 ended")["web/2 ended"], "", 0, ""))
	// waited for too long
	three, q := b.asked("web/3")
	b.Clock.Move(61 * time.Minute)
	b.settle()
	if v := b.is(three.ID, app.BuildFailed); !strings.Contains(v.Message, "Not approved in time") {
		b.Errorf("after its time it is %+v", v)
	}
	b.request(q.ID, cluster.RequestWithdrawn, "Not approved in time")
	b.Code(b.review(q, cluster.VerdictApprove, ""), app.EConflict)
	b.made(1)
	// approved at the same moment as it ends: what was made goes again
	four, q := b.asked("web/4")
	b.Must(b.review(q, cluster.VerdictApprove, ""))
	b.ends("web/4")
	b.settle()
	b.is(four.ID, app.BuildOver)
	b.made(2)
	// the request is withdrawn by an admin
	five, q := b.asked("web/5")
	_, err := b.a.Operation.Requests.Withdraw(b.Ctx, kit.Boss, q.ID, "the budget is used up")
	b.Must(err)
	b.settle()
	if v := b.is(five.ID, app.BuildRefused); !strings.Contains(v.Message, "the budget is used up") {
		b.Errorf("withdrawn it is %+v", v)
	}
	// with its hook
	six, q := b.asked("web/6")
	b.Must(b.a.Build.Hooks.DeleteBuildHook(b.Ctx, kit.Boss, "ci"))
	b.settle()
	b.is(six.ID, app.BuildOver)
	b.request(q.ID, cluster.RequestWithdrawn, "")
	live, err := b.Store.Clusters(b.Ctx, kit.Tenant, app.ClusterFilter{})
	b.Must(err)
	if len(live) != 0 {
		b.Errorf("left is %s", fmt.Sprint(live))
	}
}
