package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	appbuild "muster/app/build"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/store/storetest/kit"
	"muster/app/template"
)

// buildHookTest makes clusters for builds: a store, and the use cases on top of it with everything else made up.
type buildHookTest struct {
	*storeTest
	a     *all.Services
	hook  appbuild.BuildHook
	crash bool // the next create breaks down before it is asked for
	sent  int
}

// oneNode solves and plans clusters of one node that are all alike.
type oneNode struct{}

func (oneNode) Solve(_ context.Context, _ *template.Catalog, r layout.Request) (layout.Layout, error) {
	return layout.Layout{Provider: kit.Cloud, Groups: []layout.NodeGroup{{Count: 1, Hardware: "small", Image: "host", Services: []string{"web"}}}}, nil
}

func (oneNode) Plan(r plan.Request) (plan.Plan, error) {
	if r.Kind == app.OperationDelete {
		return apptest.Remove(len(r.Nodes)), nil
	}
	return kit.Steps(app.OperationCreate, "n1.create", "n1.confirm"), nil
}

func (oneNode) NewKey(string) ([]byte, string, error) { return []byte("private"), "public", nil }

func (oneNode) SignCertificate([]byte, app.CertificateOrder) (app.SignedCertificate, error) {
	return app.SignedCertificate{}, errors.New("no one signs here")
}

// wordSystem is a build system whose signature is its secret, and whose deliveries are events as they are.
type wordSystem struct{}

func (wordSystem) Systems() []appbuild.System {
	return []appbuild.System{{Name: "words", Title: "Words"}}
}

func (wordSystem) Verify(system string, header func(string) string, body []byte, secrets []string, now time.Time) (appbuild.Delivery, error) {
	for _, s := range secrets {
		if header("Signature") == s {
			return appbuild.Delivery{System: system, Event: "build", ID: header("Number"), Unique: header("Number"), Body: body}, nil
		}
	}
	return appbuild.Delivery{}, app.Errorf(app.EUnauthorized, "the signature is wrong")
}

func (wordSystem) Read(d appbuild.Delivery) (e app.BuildEvent, err error) {
	if err := json.Unmarshal(d.Body, &e); err != nil {
		return e, app.Errorf(app.EInvalid, "body: not JSON")
	}
	return e, nil
}

// wordRules match events of the action that they name.
type wordRules struct{}

func (wordRules) EventWords() []policy.Variable { return nil }

func (wordRules) CheckRule(appbuild.Rule) error { return nil }

func (wordRules) KeyOf(_ context.Context, _ appbuild.Rule, e app.BuildEvent) (string, error) {
	return e.DefaultKey(), nil
}

func (wordRules) JudgeRule(_ context.Context, r appbuild.Rule, e app.BuildEvent) (appbuild.Judgement, error) {
	return appbuild.Judgement{Applies: r.When == e.Action, Key: e.DefaultKey(),
		Callback: r.Callback, Ask: appbuild.Spec{Template: r.Template, Lease: r.LeaseTime(), WaitFor: r.WaitTime(), Concurrency: r.AtOnce()}}, nil
}

const buildSecret = "a-secret-of-some-length"

func (t *storeTest) building(rules ...appbuild.Rule) *buildHookTest {
	t.Helper()
	b := &buildHookTest{storeTest: t}
	c := template.NewCatalog()
	c.Providers[kit.Cloud] = &template.ProviderSpec{About: template.About{Name: kit.Cloud}, Type: "fake"}
	c.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{kit.Cloud: {Flavor: "small"}}}
	c.Images["host"] = &template.ImageType{About: template.About{Name: "host"}, Providers: map[string]template.Image{kit.Cloud: {Image: "host"}}}
	c.Services["web"] = &template.Service{About: template.About{Name: "web"}}
	c.Templates["web"] = &template.Template{About: template.About{Name: "web"}}
	b.a = all.New(all.Config{Store: t.Store, Solver: oneNode{}, Planner: oneNode{}, Keys: oneNode{}, Catalog: func() *template.Catalog { return c },
		Now:    t.Clock.Now,
		Builds: wordSystem{}, BuildRules: wordRules{}, Policies: always{},
		Faults: func(string) error {
			if b.crash {
				b.crash = false
				return errors.New("the server was killed")
			}
			return nil
		}})
	t.Must(t.Store.CreateUser(t.Ctx, identity.User{Tenant: kit.Tenant, Name: "ci", Role: app.RoleRobot, CreatedAt: t.Clock.Now()}))
	owner := "ci"
	saved, err := b.a.Build.Hooks.SaveBuildHook(t.Ctx, kit.Boss, appbuild.BuildHookRequest{Name: "ci", System: "words", Owner: &owner, Rules: &rules,
		Secret: buildSecret})
	t.Must(err)
	b.hook = saved.BuildHook
	return b
}

func createRule(concurrency, queue int) appbuild.Rule {
	return appbuild.Rule{Name: "web", When: "go", Do: appbuild.ActionCreate, Template: "web", Concurrency: concurrency, Queue: &queue, Lease: "2h", WaitFor: "1h"}
}

// send delivers an event under a number; 0 is a fresh one.
func (b *buildHookTest) send(number int, e app.BuildEvent) (appbuild.IntakeResponse, error) {
	if b.sent++; number == 0 {
		number = 1_000_000 + b.sent
	}
	body, err := json.Marshal(e)
	b.Must(err)
	header := func(name string) string {
		return map[string]string{"Signature": buildSecret, "Number": fmt.Sprint(number)}[name]
	}
	return b.a.Build.Intake.IngestBuild(b.Ctx, b.hook.ID, header, body, "192.0.2.7")
}

func (b *buildHookTest) begins(build string) appbuild.IntakeResponse {
	b.Helper()
	r, err := b.send(0, app.BuildEvent{Action: "go", Phase: appbuild.PhaseRunning, Build: build})
	b.Must(err)
	return r
}

func (b *buildHookTest) ends(build string) appbuild.IntakeResponse {
	b.Helper()
	r, err := b.send(0, app.BuildEvent{Action: "done", Phase: appbuild.PhaseEnded, Build: build, Result: "success"})
	b.Must(err)
	return r
}

// tend continues with builds until nothing moves any more.
func (b *buildHookTest) tend() {
	b.Helper()
	for range 100 {
		n, _, err := b.a.Build.Reconciler.ReconcileBuilds(b.Ctx)
		if b.Must(err); n == 0 {
			return
		}
	}
	b.Fatal("builds move forever")
}

// settle does all that is to be done now, by workers too.
func (b *buildHookTest) settle() {
	b.Helper()
	for range 20 {
		b.tend()
		if len(b.Drain()) == 0 {
			return
		}
	}
}

func (b *buildHookTest) is(id int64, want app.BuildState) appbuild.Build {
	b.Helper()
	v, err := b.Store.Build(b.Ctx, kit.Tenant, id)
	b.Must(err)
	if v.State != want {
		b.Fatalf("build %d (%s) is %s, want %s: %s", id, v.Key, v.State, want, v.Message)
	}
	return v
}

// builds: one from its first event to its last.
func (t *storeTest) builds() {
	b := t.building(createRule(1, 1))
	r := b.begins("web/1")
	if r.Outcome != appbuild.OutcomeStarted || r.Token == "" {
		b.Fatalf("the answer is %+v", r)
	}
	if again := b.begins("web/1"); again.Outcome != appbuild.OutcomeDuplicate || again.Build != r.Build || again.Token != r.Token {
		b.Errorf("sent again it is %+v", again)
	}
	second := b.begins("web/2")
	b.is(second.Build, app.BuildWaiting)
	if full := b.begins("web/3"); full.Outcome != appbuild.OutcomeRefused || !strings.Contains(full.Message, "queue") {
		b.Errorf("beyond the queue: %+v", full)
	}
	b.tend()
	b.is(r.Build, app.BuildCreating)
	b.is(second.Build, app.BuildWaiting)
	b.settle()
	first := b.is(r.Build, app.BuildReady)
	key := appbuild.Key{Hook: b.hook.ID, Build: r.Build, Token: r.Token}
	v, err := b.a.Build.Access.AwaitBuildBy(b.Ctx, key, 0)
	b.Must(err)
	if v.Cluster != first.Cluster || len(v.Nodes) != 1 {
		b.Errorf("with its token it is %+v", v)
	}
	key.Build = second.Build
	_, err = b.a.Build.Access.AwaitBuildBy(b.Ctx, key, 0)
	b.Code(err, app.EUnauthorized)
	if e := b.ends("web/1"); e.Outcome != appbuild.OutcomeEnded || e.Build != r.Build {
		b.Errorf("its end is %+v", e)
	}
	b.settle()
	b.is(r.Build, app.BuildOver)
	b.is(second.Build, app.BuildReady)
	c, err := b.Store.Cluster(b.Ctx, kit.Tenant, first.Cluster)
	b.Must(err)
	if c.Status != app.ClusterDeleted {
		b.Errorf("its cluster is %s", c.Status)
	}
	// What comes late begins nothing.
	if late := b.begins("web/1"); late.Outcome != appbuild.OutcomeIgnored {
		b.Errorf("after its end: %+v", late)
	}
	b.ends("web/9")
	if late := b.begins("web/9"); late.Outcome != appbuild.OutcomeIgnored || late.Build != 0 {
		b.Errorf("ended before it began: %+v", late)
	}
	// The same delivery counts once.
	e := app.BuildEvent{Action: "go", Phase: appbuild.PhaseQueued, Build: "web/10"}
	_, err = b.send(77, e)
	b.Must(err)
	_, err = b.send(77, e)
	if app.AsError(err).Reason != "replayed" {
		b.Errorf("a replay is %v", err)
	}
	_, err = b.a.Build.Intake.IngestBuild(b.Ctx, b.hook.ID, func(string) string { return "" }, nil, "")
	b.Code(err, app.EUnauthorized)
	_, err = b.a.Build.Intake.IngestBuild(b.Ctx, "unknown", func(string) string { return "" }, nil, "")
	b.Code(err, app.EUnauthorized)
	list, err := b.a.Build.Intake.BuildDeliveries(b.Ctx, kit.Boss, "ci", 0, 100)
	b.Must(err)
	d, err := b.a.Build.Intake.BuildDelivery(b.Ctx, kit.Boss, "ci", list[0].ID)
	b.Must(err)
	if !strings.Contains(d.Body, "web/10") {
		b.Errorf("the newest delivery is %+v", d)
	}
	// A build that exists gets no second cluster by a replay, and one that has ended none.
	for _, one := range list {
		if one.Build == "web/1" || one.Build == "web/2" {
			replayed, err := b.a.Build.Intake.ReplayBuild(b.Ctx, kit.Boss, "ci", one.ID)
			b.Must(err)
			if replayed.Outcome == appbuild.OutcomeStarted {
				b.Errorf("replayed: %+v", replayed)
			}
		}
	}
	// With its hook everything goes.
	b.Must(b.a.Build.Hooks.DeleteBuildHook(b.Ctx, kit.Boss, "ci"))
	b.settle()
	live, err := b.Store.Clusters(b.Ctx, kit.Tenant, app.ClusterFilter{})
	b.Must(err)
	if len(live) != 0 {
		b.Errorf("%d clusters are left", len(live))
	}
}

// buildsWait: a cluster that is not made in time, an owner who is gone, a queue that moves on.
func (t *storeTest) buildsWait() {
	b := t.building(createRule(1, 10))
	one, two := b.begins("web/1"), b.begins("web/2")
	b.tend()
	b.Clock.Move(61 * time.Minute)
	b.tend()
	b.is(one.Build, app.BuildEnding)
	b.is(two.Build, app.BuildFailed)
	b.settle()
	b.is(one.Build, app.BuildFailed)
	at, yes := b.Clock.Now(), true
	_, err := b.Store.ChangeUser(b.Ctx, kit.Boss, "ci", identity.UserChange{Disabled: &yes}, at)
	b.Must(err)
	r := b.begins("web/3")
	if r.Outcome != appbuild.OutcomeRefused || !strings.Contains(r.Message, "disabled") {
		b.Errorf("with an owner who is disabled: %+v", r)
	}
	n, err := b.Store.ForgetBuilds(b.Ctx, at.Add(appbuild.DeliveryRetention+time.Hour))
	b.Must(err)
	if list, err := b.Store.Builds(b.Ctx, kit.Tenant, appbuild.Filter{Limit: 10}); err != nil || len(list) != 0 || n == 0 {
		b.Errorf("%d builds are remembered forever, %v", len(list), err)
	}
}

// buildsAtRandom: whatever comes in whatever order, a build never has two clusters, none is left after its end, and never are there more
// than the rule says.
func (t *storeTest) buildsAtRandom() {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	const most = 3
	b := t.building(createRule(most, 5))
	over := map[string]bool{}
	for step := range 300 {
		build := fmt.Sprintf("web/%d", r.IntN(12))
		number := 0
		if r.IntN(4) == 0 {
			number = 1 + r.IntN(40) // which may have been sent before
		}
		var err error
		switch r.IntN(10) {
		case 0, 1, 2:
			_, err = b.send(number, app.BuildEvent{Action: "go", Phase: appbuild.PhaseQueued, Build: build})
		case 3:
			_, err = b.send(number, app.BuildEvent{Action: "go", Phase: appbuild.PhaseRunning, Build: build})
		case 4, 5:
			if _, err = b.send(number, app.BuildEvent{Action: "done", Phase: appbuild.PhaseEnded, Build: build}); err == nil {
				over[build] = true
			}
		case 6:
			b.crash = r.IntN(2) == 0
			_, _, _ = b.a.Build.Reconciler.ReconcileBuilds(b.Ctx)
		case 7:
			if c := b.Claim("w"); c != nil {
				b.Finish(c, r.IntN(10) > 0)
			}
		case 8:
			b.Clock.Move(time.Duration(r.IntN(20)) * time.Minute)
			_, _ = b.Store.SweepSteps(b.Ctx, b.Clock.Now())
		case 9:
			list, e := b.Store.BuildDeliveries(b.Ctx, kit.Tenant, "ci", 0, 50)
			if b.Must(e); len(list) > 0 {
				_, err = b.a.Build.Intake.ReplayBuild(b.Ctx, kit.Boss, "ci", list[r.IntN(len(list))].ID)
			}
		}
		if err != nil && app.AsError(err).Reason != "replayed" {
			b.Fatalf("step %d: %v", step, err)
		}
		b.asPromised(step, most)
	}
	for n := range 12 {
		build := fmt.Sprintf("web/%d", n)
		_, err := b.send(0, app.BuildEvent{Action: "done", Phase: appbuild.PhaseEnded, Build: build})
		b.Must(err)
	}
	for range 30 {
		b.Clock.Move(10 * time.Minute)
		_, _ = b.Store.SweepSteps(b.Ctx, b.Clock.Now())
		_, err := b.a.Upkeep.Expire(b.Ctx)
		b.Must(err)
		b.settle()
	}
	live, err := b.Store.Clusters(b.Ctx, kit.Tenant, app.ClusterFilter{})
	b.Must(err)
	for _, c := range live {
		b.Errorf("cluster %s is left, %s: %s", c.ID, c.Status, c.Message)
	}
	list, err := b.Store.Builds(b.Ctx, kit.Tenant, appbuild.Filter{Live: true, Limit: 100})
	b.Must(err)
	for _, v := range list {
		b.Errorf("build %d is still %s: %s", v.ID, v.State, v.Message)
	}
}

// asPromised looks at everything that exists.
func (b *buildHookTest) asPromised(step, most int) {
	b.Helper()
	list, err := b.Store.Builds(b.Ctx, kit.Tenant, appbuild.Filter{Live: true, Limit: 200})
	b.Must(err)
	clusters, keys := map[string]bool{}, map[string]bool{}
	for _, v := range list {
		if keys[v.Key] {
			b.Fatalf("step %d: %s has two that live", step, v.Key)
		}
		keys[v.Key] = true
		if v.Cluster != "" {
			clusters[v.Cluster] = true
		}
	}
	if len(clusters) > most {
		b.Fatalf("step %d: %d clusters at once, at most %d may be", step, len(clusters), most)
	}
	live, err := b.Store.Clusters(b.Ctx, kit.Tenant, app.ClusterFilter{})
	b.Must(err)
	for _, c := range live {
		if !clusters[c.ID] {
			b.Fatalf("step %d: cluster %s (%s) is for no build", step, c.ID, c.Status)
		}
	}
}
