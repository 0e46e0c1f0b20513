package apptest

import (
	"fmt"
	"slices"

	"muster/app"
)

// keepsFacts: what a step told is there for the next, from the node itself or from the first that told it, as long as the fence held.
func (t *storeTest) keepsFacts() {
	t.create("web", 3)
	claimed := map[string]*app.ClaimedStep{}
	for c := t.claim("w"); c != nil; c = t.claim("w") {
		if c.Step.Service == "" {
			t.finish(c, false)
		} else {
			claimed[c.Node.Name+"."+c.Step.Service] = c
		}
	}
	w := app.WorkerID{Tenant: tenant, Name: "w"}
	keep := func(w app.WorkerID, f app.Fence, e *app.Error, facts map[string]app.AnswerValue) {
		t.Helper()
		_, err := t.s.FinishSteps(t.ctx, w, []app.Finish{{Fence: f, Now: t.clock.Now(), Err: e, Retry: app.Retry{Again: true}, Facts: facts}})
		t.must(err)
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
		t.Fatalf("two nodes at least should have a service step under way, there are %v", held)
	}
	first, second := claimed[held[0]], claimed[held[1]]
	service := first.Step.Service
	if second.Step.Service != service {
		t.Fatalf("the steps under way are %v", held)
	}
	other := app.WorkerID{Tenant: tenant, Name: "w2"}
	stale := fence(first)
	stale.Attempt++
	keep(other, fence(first), nil, token("another worker's"))
	keep(w, stale, nil, token("of another attempt"))
	keep(app.WorkerID{Tenant: "t2", Name: "w"}, fence(first), nil, token("another tenant's"))
	keep(w, fence(first), &app.Error{Code: app.EScript, Message: "it broke"}, token("old"))
	if first = t.claim("w"); first == nil || first.Step.Attempt != 2 {
		t.Fatalf("there is %+v, want a second attempt", first)
	}
	facts := token("hunter2") // the later one counts
	facts["port"] = app.AnswerValue{Text: "1"}
	keep(w, fence(first), nil, facts)
	keep(w, fence(second), nil, map[string]app.AnswerValue{"port": {Text: "2"}})
	names := []app.FactName{{Service: service, Name: "join_token"}, {Service: service, Name: "port"}, {Service: "nobody", Name: "port"}}
	get := func(nodes ...string) (said []string) {
		t.Helper()
		list, err := t.s.FactsNamed(t.ctx, tenant, "web-1", names, nodes)
		t.must(err)
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
	if list, err := t.s.FactsNamed(t.ctx, "t2", "web-1", names, []string{one}); err != nil || len(list) != 0 {
		t.Errorf("another tenant reads %v, %v", list, err)
	}
	list, err := t.s.FactList(t.ctx, tenant, "web-1", 100)
	t.must(err)
	if len(list) != 3 || list[0].Node != one || !list[0].At.Equal(t.clock.Now()) {
		t.Errorf("all that was told is %+v", list)
	}
	many := make([]app.FactName, 120)
	for i := range many {
		many[i] = app.FactName{Service: service, Name: fmt.Sprintf("port_%d", i)}
	}
	many[110].Name = "port"
	if list, err = t.s.FactsNamed(t.ctx, tenant, "web-1", many, []string{one}); err != nil || len(list) != 2 || list[0].Value != "1" {
		t.Errorf("among many names: %+v, %v", list, err)
	}
	for _, at := range held {
		if c := claimed[at]; fence(c) != fence(second) && c.Node.Name != one {
			t.finish(c, false)
		}
	}
	t.drain()
	t.submit(app.OperationDelete, "web-1", Remove(3), true)
	t.drain()
	if list, err = t.s.FactList(t.ctx, tenant, "web-1", 100); err != nil || len(list) != 0 {
		t.Errorf("of a cluster that is gone there is %+v, %v", list, err)
	}
}
