package execution

import (
	"fmt"
	"slices"

	"muster/app"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/store/storetest/kit"
)

// keepsFacts: what a step reported is there for the next, from the node itself or from the first that reported it, as long as the fence held.
func (t *storeTest) keepsFacts() {
	t.Create("web", 3)
	claimed := map[string]*execution.ClaimedStep{}
	for c := t.Claim("w"); c != nil; c = t.Claim("w") {
		if c.Step.Service == "" {
			t.Finish(c, false)
		} else {
			claimed[c.Node.Name+"."+c.Step.Service] = c
		}
	}
	w := app.WorkerID{Tenant: kit.Tenant, Name: "w"}
	keep := func(w app.WorkerID, f app.Fence, e *app.Error, facts map[string]app.AnswerValue) {
		t.Helper()
		_, err := t.Store.FinishSteps(t.Ctx, w, []execution.Finish{{Fence: f, Now: t.Clock.Now(), Err: e, Retry: app.Retry{Again: true}, Facts: facts}})
		t.Must(err)
	}
	token := func(value string) map[string]app.AnswerValue {
		return map[string]app.AnswerValue{"join_token": {Text: value, Secret: true}}
	}
	var held []string
	for at := range claimed {
		held = append(held, at)
	}
	slices.Sort(held)
	if len(held) < 2 {
		t.Fatalf("two nodes at least should have a service step in progress, there are %v", held)
	}
	first, second := claimed[held[0]], claimed[held[1]]
	service := first.Step.Service
	if second.Step.Service != service {
		t.Fatalf("the steps in progress are %v", held)
	}
	other := app.WorkerID{Tenant: kit.Tenant, Name: "w2"}
	stale := kit.Fence(first)
	stale.Attempt++
	keep(other, kit.Fence(first), nil, token("another worker's"))
	keep(w, stale, nil, token("of another attempt"))
	keep(app.WorkerID{Tenant: "t2", Name: "w"}, kit.Fence(first), nil, token("another tenant's"))
	keep(w, kit.Fence(first), &app.Error{Code: app.EScript, Message: "it broke"}, token("old"))
	if first = t.Claim("w"); first == nil || first.Step.Attempt != 2 {
		t.Fatalf("there is %+v, want a second attempt", first)
	}
	facts := token("hunter2") // the later one counts
	facts["port"] = app.AnswerValue{Text: "1"}
	keep(w, kit.Fence(first), nil, facts)
	keep(w, kit.Fence(second), nil, map[string]app.AnswerValue{"port": {Text: "2"}})
	names := []app.FactName{{Service: service, Name: "join_token"}, {Service: service, Name: "port"}, {Service: "unknown", Name: "port"}}
	get := func(nodes ...string) (said []string) {
		t.Helper()
		list, err := t.Store.FactsNamed(t.Ctx, kit.Tenant, "web-1", names, nodes)
		t.Must(err)
		for _, f := range list {
			said = append(said, fmt.Sprintf("%s %s=%s %v", f.Node, f.Name, f.Value, f.Secret))
		}
		slices.Sort(said)
		return slices.Compact(said)
	}
	one, two := first.Node.Name, second.Node.Name
	want := []string{one + " join_token=hunter2 true", one + " port=1 false"}
	if got := get(one); !slices.Equal(got, want) {
		t.Errorf("on %s: %q, want %q", one, got, want)
	}
	want = []string{one + " join_token=hunter2 true", one + " port=1 false", two + " port=2 false"}
	if got := get(two); !slices.Equal(got, want) {
		t.Errorf("on %s: %q, want %q", two, got, want)
	}
	if got := get(); len(got) != 0 {
		t.Errorf("on no node: %q", got)
	}
	if list, err := t.Store.FactsNamed(t.Ctx, "t2", "web-1", names, []string{one}); err != nil || len(list) != 0 {
		t.Errorf("another tenant reads %v, %v", list, err)
	}
	list, err := t.Store.FactList(t.Ctx, kit.Tenant, "web-1", 100)
	t.Must(err)
	if len(list) != 3 || list[0].Node != one || !list[0].At.Equal(t.Clock.Now()) {
		t.Errorf("all that was reported is %+v", list)
	}
	many := make([]app.FactName, 120)
	for i := range many {
		many[i] = app.FactName{Service: service, Name: fmt.Sprintf("port_%d", i)}
	}
	many[110].Name = "port"
	if list, err = t.Store.FactsNamed(t.Ctx, kit.Tenant, "web-1", many, []string{one}); err != nil || len(list) != 2 || list[0].Value != "1" {
		t.Errorf("among many names: %+v, %v", list, err)
	}
	for _, at := range held {
		if c := claimed[at]; kit.Fence(c) != kit.Fence(second) && c.Node.Name != one {
			t.Finish(c, false)
		}
	}
	t.Drain()
	t.Submit(app.OperationDelete, "web-1", apptest.Remove(3), true)
	t.Drain()
	if list, err = t.Store.FactList(t.Ctx, kit.Tenant, "web-1", 100); err != nil || len(list) != 0 {
		t.Errorf("of a cluster that is gone there is %+v, %v", list, err)
	}
}
