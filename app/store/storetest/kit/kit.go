package kit

import (
	"context"
	"testing"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/store"
)

var Ada = app.Actor{Tenant: Tenant, User: "ada", Role: app.RoleUser}

const Cloud = "cloud" // the provider of every cluster of the suite

func (t *T) Intents() map[string]app.LiveIntent {
	t.Helper()
	live, err := t.Store.IntentsOf(t.Ctx, Cloud)
	t.Must(err)
	return live
}

var Boss = app.Actor{Tenant: Tenant, User: "boss", Role: app.RoleAdmin}

// Err is the error of a call that returns a value too.
func Err[T any](_ T, err error) error { return err }

const Tenant = "t1"

// A T is one case that is tried on a store of its own, with what the cases of all nouns share.
type T struct {
	*testing.T
	Ctx     context.Context
	Store   *store.Store
	Servers []*store.Store // all that share the database; Store is the first of them
	Clock   *apptest.Clock
}

// A Case is tried on every store.
type Case struct {
	Name string
	Try  func(*T)
}

// Cases makes cases of those of a noun whose own helpers are methods of C.
func Cases[C any](of func(*T) C, rows []struct {
	Name string
	Try  func(C)
}) []Case {
	cases := make([]Case, len(rows))
	for i, r := range rows {
		cases[i] = Case{Name: r.Name, Try: func(t *T) { r.Try(of(t)) }}
	}
	return cases
}

// Run tries cases, each on a fresh, empty database. open returns the servers that share it; the test closes them.
func Run(t *testing.T, open func(t *testing.T) []*store.Store, cases []Case) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			servers := open(t)
			c.Try(&T{T: t, Ctx: t.Context(), Store: servers[0], Servers: servers, Clock: apptest.NewClock()})
		})
	}
}

func (t *T) Must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (t *T) Code(err error, want app.Code) {
	t.Helper()
	if got := app.CodeOf(err); got != want {
		t.Fatalf("error %v has code %q, want %q", err, got, want)
	}
}

func (t *T) Create(name string, nodes int) app.Operation {
	t.Helper()
	op, err := t.Store.CreateCluster(t.Ctx, apptest.NewCluster(Tenant, name, nodes, t.Clock.Now(), apptest.Chain(nodes)))
	t.Must(err)
	return op
}

func (t *T) Claim(worker string) *execution.ClaimedStep {
	t.Helper()
	return t.ClaimAs(app.WorkerID{Tenant: Tenant, Name: worker})
}

// ClaimAs claims one step, or returns nil.
func (t *T) ClaimAs(w app.WorkerID) *execution.ClaimedStep {
	t.Helper()
	cs, err := t.Store.ClaimSteps(t.Ctx, execution.ClaimQuery{Worker: w, Now: t.Clock.Now(), For: execution.ClaimFor})
	t.Must(err)
	if len(cs) == 0 {
		return nil
	}
	if len(cs) > 1 {
		t.Fatalf("%d steps were claimed, one was asked for", len(cs))
	}
	return cs[0]
}

// End finishes one attempt as a worker of the tenant.
func (t *T) End(worker string, f execution.Finish) (*execution.ClaimedStep, error) {
	t.Helper()
	done, err := t.Store.FinishSteps(t.Ctx, app.WorkerID{Tenant: Tenant, Name: worker}, []execution.Finish{f})
	t.Must(err)
	if len(done) != 1 {
		t.Fatalf("%d answers to one report", len(done))
	}
	if done[0].Err != nil {
		return nil, done[0].Err
	}
	return done[0].Next, nil
}

func Fence(c *execution.ClaimedStep) app.Fence {
	return app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}
}

func (t *T) Finish(c *execution.ClaimedStep, chain bool) *execution.ClaimedStep {
	t.Helper()
	f := execution.Finish{Fence: Fence(c), Now: t.Clock.Now()}
	if chain {
		f.ClaimFor = execution.ClaimFor
	}
	switch c.Step.Action {
	case app.ActionCreate:
		f.Node = &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-" + c.Node.Name,
			Addresses: map[string]string{app.AddressAccess: "10.0.0.1"}}}
	case app.ActionDelete:
		f.Node = &execution.NodeUpdate{Status: app.NodeDeleted, Deleted: true}
	}
	next, err := t.End(c.Step.Worker, f)
	t.Must(err)
	return next
}

func (t *T) FailStep(c *execution.ClaimedStep, r app.Retry) {
	t.Helper()
	t.FailStepWith(c, &app.Error{Code: app.EScript, Message: "it broke"}, r)
}

func (t *T) FailStepWith(c *execution.ClaimedStep, e *app.Error, r app.Retry) {
	t.Helper()
	_, err := t.End(c.Step.Worker, execution.Finish{Fence: Fence(c), Now: t.Clock.Now(), Err: e, Retry: r})
	t.Must(err)
}

// Drain carries out all there is, and returns the ids in the order in which they were claimed.
func (t *T) Drain() (ids []string) {
	t.Helper()
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		for ; c != nil; c = t.Finish(c, true) {
			ids = append(ids, c.Step.ID)
		}
	}
	return ids
}

func (t *T) Status(cluster string, want app.ClusterStatus, op app.OperationStatus) {
	t.Helper()
	c, err := t.Store.Cluster(t.Ctx, Tenant, cluster)
	t.Must(err)
	ops, err := t.Store.Operations(t.Ctx, Tenant, cluster)
	t.Must(err)
	if c.Status != want || ops[0].Status != op {
		t.Fatalf("cluster is %s (%s) and its latest operation %s (%s), want %s and %s", c.Status, c.Message, ops[0].Status, ops[0].Message, want, op)
	}
}
