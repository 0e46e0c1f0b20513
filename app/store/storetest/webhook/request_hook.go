package webhook

import (
	"bytes"
	"time"

	"muster/app"
	"muster/app/store/storetest/kit"
	"muster/app/template"
	"muster/app/webhook"
)

// requestHooks: those of a tenant are read with address and secrets, and none of their operations wait for them.
func (t *storeTest) requestHooks() {
	t.OperationHook("b", template.HookRequest, func(c *webhook.EndpointChange) {
		kinds := []app.OperationKind{app.OperationCreate}
		c.Operations, c.OnTimeout = &kinds, template.HookContinue
	})
	t.OperationHook("a", template.HookRequest)
	t.OperationHook("off", template.HookRequest, func(c *webhook.EndpointChange) { off := false; c.Enabled = &off })
	t.OperationHook("before", template.HookAfter)
	list, err := t.Store.RequestHooks(t.Ctx, kit.HookAdmin.Tenant, t.Clock.Now())
	t.Must(err)
	if len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" || list[0].Address == "" || len(list[0].Secrets) != 1 || len(list[0].Secrets[0]) == 0 ||
		list[1].OnTimeout != template.HookContinue || !list[0].Wants(app.OperationResize) || list[1].Wants(app.OperationResize) ||
		!list[1].Wants(app.OperationCreate) {
		t.Fatalf("the hooks are %+v", list)
	}
	if other, err := t.Store.RequestHooks(t.Ctx, "other", t.Clock.Now()); err != nil || len(other) != 0 {
		t.Fatalf("another tenant has %+v, %v", other, err)
	}
	// After a new secret, both sign for a while.
	old := list[0].Secrets[0]
	t.Hook("a", func(c *webhook.EndpointChange) { c.Secret = bytes.Repeat([]byte("m"), 32) })
	list, err = t.Store.RequestHooks(t.Ctx, kit.HookAdmin.Tenant, t.Clock.Now().Add(time.Minute))
	t.Must(err)
	if len(list[0].Secrets) != 2 || !bytes.Equal(list[0].Secrets[1], old) || bytes.Equal(list[0].Secrets[0], old) {
		t.Fatalf("%d secrets sign", len(list[0].Secrets))
	}
	if op := t.Create("web", 1); op.Status != app.OperationRunning {
		t.Fatalf("creation is %s", op.Status)
	}
}
