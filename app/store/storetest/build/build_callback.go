package build

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"muster/app"
	"muster/app/build"
	"muster/app/store/storetest/kit"
	"muster/app/webhook"
)

const buildCallURL = "https://ci:hunter2@ci.example.com/told?token=also-secret"

// told claims what builds are to be sent now, and returns it as "KEY STATE".
func (b *buildHookTest) notified(want ...string) map[string]webhook.DueDelivery {
	b.Helper()
	due, _, err := b.Store.BuildCallbacks().ClaimDeliveries(b.Ctx, webhook.DeliveryClaim{Holder: "x", Now: b.Clock.Now(), For: 30 * time.Second, Most: 100, PerTenant: 100})
	b.Must(err)
	all := map[string]webhook.DueDelivery{}
	var got []string
	for _, d := range due {
		b.Must(d.Err)
		if d.URL != buildCallURL || len(d.Secrets) != 1 || string(d.Secrets[0]) != buildSecret || d.Tenant != kit.Tenant {
			b.Errorf("a callback leads to %q, signed with %q, for %q", d.URL, d.Secrets, d.Tenant)
		}
		what := d.BuildNews.Key + " " + string(d.BuildNews.State)
		got = append(got, what)
		all[what] = d
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		b.Fatalf("sent is %q, want %q", got, want)
	}
	return all
}

// answered says how a callback went: taken where code is "", tried again where again is not 0.
func (b *buildHookTest) answered(d webhook.DueDelivery, code app.Code, again time.Duration, stop string) error {
	e := webhook.DeliveryEnd{Delivery: d.ID, Holder: "x", Attempt: d.Attempts, At: b.Clock.Now(), Duration: 20 * time.Millisecond, Status: 200, Stop: stop}
	if code != "" {
		e.Err, e.Status = &app.Error{Code: code, Message: "It answered 500 Internal Server Error."}, 500
	}
	if again > 0 {
		e.Again = b.Clock.Now().Add(again)
	}
	return b.Store.BuildCallbacks().EndDelivery(b.Ctx, e)
}

// outcome looks how the callbacks of a build stand, as people see them.
func (b *buildHookTest) outcome(id int64, want string) build.Callbacks {
	b.Helper()
	list, err := b.Store.Builds(b.Ctx, kit.Tenant, build.Filter{Limit: 100})
	b.Must(err)
	var got []string
	for _, v := range list {
		if v.ID != id {
			continue
		}
		for _, c := range v.Callback.Deliveries {
			got = append(got, fmt.Sprintf("%s %s %d", c.State, c.Outcome, c.Attempts))
		}
		if all := strings.Join(got, "; "); all != want {
			b.Fatalf("the callbacks of build %d are %q, want %q", id, all, want)
		}
		one, err := b.Store.Build(b.Ctx, kit.Tenant, id)
		b.Must(err)
		if a, c := fmt.Sprintf("%+v", *one.Callback), fmt.Sprintf("%+v", *v.Callback); a != c {
			b.Errorf("alone they are %s, in a list %s", a, c)
		}
		return *v.Callback
	}
	b.Fatalf("there is no build %d", id)
	return build.Callbacks{}
}

func calledRule(concurrency, queue int) build.Rule {
	r := createRule(concurrency, queue)
	r.Callback = buildCallURL
	return r
}

// calling sets rules that hold a user's password, which are not let in by the front door.
func (t *storeTest) calling(rules ...build.Rule) *buildHookTest {
	b := t.building()
	_, _, err := b.Store.SaveBuildHook(b.Ctx, kit.Boss, build.BuildHookChange{Name: "ci", Rules: &rules}, b.Clock.Now())
	b.Must(err)
	return b
}

// buildsCalledBack: ready before ended, each once under one number; what fails is tried again, and holds up that build alone.
func (t *storeTest) buildsCalledBack() {
	b := t.calling(calledRule(2, 0))
	one, two := b.begins("web/1"), b.begins("web/2")
	full := b.begins("web/3")
	b.settle()
	b.is(one.Build, app.BuildReady)
	all := b.notified("web/3 refused", "web/1 ready", "web/2 ready")
	if n := all["web/1 ready"].BuildNews; len(n.Nodes) != 1 || n.Nodes[0].Name != "n1" || n.Build != one.Build || n.Cluster == "" || n.HookID == "" {
		b.Errorf("sent is %+v", n)
	}
	if n := all["web/3 refused"].BuildNews; !strings.Contains(n.Message, "queue") || n.Cluster != "" || len(n.Nodes) != 0 {
		b.Errorf("sent is %+v", n)
	}
	b.notified() // all of them are held
	b.Must(b.answered(all["web/3 refused"], "", 0, ""))
	b.Must(b.answered(all["web/2 ready"], "", 0, ""))
	b.Must(b.answered(all["web/1 ready"], app.ETransient, 5*time.Second, ""))
	b.Code(b.answered(all["web/1 ready"], "", 0, ""), app.EStale)
	b.ends("web/1")
	b.ends("web/2")
	b.settle()
	b.is(one.Build, app.BuildOver) // a callback that fails is no harm to it
	next := b.notified("web/2 ended")
	c := b.outcome(one.Build, "ready waiting 1; ended waiting 0")
	if c.URL != "https://ci.example.com/told?…" || c.Deliveries[0].Status != 500 || c.Deliveries[0].NextAt.IsZero() || c.Deliveries[0].Error == "" {
		b.Errorf("shown is %+v", c)
	}
	b.Must(b.answered(next["web/2 ended"], app.EInvalid, 0, ""))
	b.outcome(two.Build, "ready delivered 1; ended failed 1")
	b.Clock.Move(6 * time.Second)
	again := b.notified("web/1 ready")
	if was := all["web/1 ready"]; again["web/1 ready"].MessageID != was.MessageID || again["web/1 ready"].Attempts != 2 || !strings.HasPrefix(was.MessageID, app.BuildCallbackMark) {
		b.Errorf("it is %q again, was %q", again["web/1 ready"].MessageID, was.MessageID)
	}
	// A server that was killed between loses nothing.
	b.Clock.Move(31 * time.Second)
	again = b.notified("web/1 ready")
	b.Must(b.answered(again["web/1 ready"], "", 0, ""))
	b.Must(b.answered(b.notified("web/1 ended")["web/1 ended"], "", 0, ""))
	b.outcome(one.Build, "ready delivered 3; ended delivered 1")
	b.outcome(full.Build, "refused delivered 1")
	// Who answers 410 is sent nothing more.
	four := b.begins("web/4")
	b.settle()
	gone := b.notified("web/4 ready")["web/4 ready"]
	b.ends("web/4")
	b.settle()
	b.Must(b.answered(gone, app.ENotFound, 0, "The receiver answered 410 Gone."))
	b.notified()
	if c := b.outcome(four.Build, "ready failed 1; ended failed 0"); !strings.Contains(c.Reason, "410") {
		b.Errorf("shown is %+v", c)
	}
	// What is not ready in time is reported as failed, once it is gone.
	b.begins("web/5")
	b.tend()
	b.Clock.Move(61 * time.Minute)
	b.tend()
	b.settle()
	b.Must(b.answered(b.notified("web/5 failed")["web/5 failed"], "", 0, ""))
	for range 5 {
		b.Clock.Move(build.DeliveryRetention)
		_, err := b.Store.ForgetBuilds(b.Ctx, b.Clock.Now())
		b.Must(err)
	}
	b.notified()
}

// buildsCalledInSecret: nothing that people may see, and nothing in the audit, holds what may be secret of an address; callbacks of a hook
// that is deleted are still signed, and then its secret is forgotten.
func (t *storeTest) buildsCalledInSecret() {
	b := t.calling(calledRule(1, 5))
	r := b.begins("web/1")
	b.settle()
	b.notified("web/1 ready")
	v, err := b.a.Build.Access.AwaitBuildBy(b.Ctx, build.Key{Hook: b.hook.ID, Build: r.Build, Token: r.Token}, 0)
	b.Must(err)
	deliveries, err := b.Store.BuildDeliveries(b.Ctx, kit.Tenant, "ci", 0, 10)
	b.Must(err)
	audit, err := b.Store.Audit(b.Ctx, app.AuditFilter{Tenant: kit.Tenant, Limit: 100})
	b.Must(err)
	text, err := json.Marshal([]any{v, r, deliveries})
	b.Must(err)
	if words := string(text) + fmt.Sprintf("%+v", audit); strings.Contains(words, "also-secret") || strings.Contains(string(text), "hunter2") {
		b.Errorf("a secret is reported: %s", words)
	}
	b.Must(b.a.Build.Hooks.DeleteBuildHook(b.Ctx, kit.Boss, "ci"))
	b.Clock.Move(31 * time.Second)
	b.settle()
	b.Must(b.answered(b.notified("web/1 ready")["web/1 ready"], "", 0, ""))
	_, err = b.Store.ForgetBuilds(b.Ctx, b.Clock.Now())
	b.Must(err)
	b.Must(b.answered(b.notified("web/1 ended")["web/1 ended"], "", 0, ""))
	if n, err := b.Store.ForgetBuilds(b.Ctx, b.Clock.Now()); err != nil || n == 0 {
		b.Errorf("the secret of a hook that is gone stays: %d, %v", n, err)
	}
}
