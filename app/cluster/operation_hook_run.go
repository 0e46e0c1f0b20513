package cluster

import (
	"context"

	"muster/app"
	"muster/app/template"
	"muster/app/webhook"
)

// Scripts are the hooks whose scripts an operation of the tenant would run now: those of the tenant, then those of the template.
func (a *Plans) Scripts(ctx context.Context, tenant string, k app.OperationKind, d Definition) ([]template.OperationHook, error) {
	if !k.RunsScripts() {
		return nil, nil
	}
	hooks, err := a.Store.Hooks(ctx, tenant)
	return webhook.HooksOf(k, hooks, d.Hooks), err
}
