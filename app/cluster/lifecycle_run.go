package cluster

import (
	"context"
	"slices"

	"muster/app"
)

// OperationHookStore keeps what hooks have to do with operations. That hooks are told and asked is up to the store: it is part
// of the transaction that accepts or ends an operation, whoever asked for it.
type OperationHookStore interface {
	// OperationHooks gives the hooks whose scripts an operation runs.
	OperationHooks(ctx context.Context, tenant string, operation int64) ([]app.OperationHook, error)
}

// Scripts are the hooks whose scripts an operation of the tenant would run now: those of the tenant, then those of the template.
func (a *Service) Scripts(ctx context.Context, tenant string, k app.OperationKind, d app.Definition) ([]app.OperationHook, error) {
	if !k.RunsScripts() {
		return nil, nil
	}
	hooks, err := a.Store.Hooks(ctx, tenant)
	return app.HooksOf(k, hooks, d.Hooks), err
}

// AssignHook gives a step the script of its hook, as it was when the plan was made. It gets none of the cluster's configuration:
// it may run before the addresses are known that this speaks of.
func (a *Service) AssignHook(ctx context.Context, as *app.Assignment, c *app.ClaimedStep) error {
	hooks, err := a.Store.OperationHooks(ctx, c.Tenant, c.Step.Operation)
	if err != nil {
		return err
	}
	name := app.HookOfStep(c.Step)
	i := slices.IndexFunc(hooks, func(h app.OperationHook) bool { return h.Name == name })
	if i < 0 {
		return app.Errorf(app.EInternal, "operation %d has no hook %q", c.Step.Operation, name)
	}
	h := hooks[i]
	as.Service = "hook." + h.Name
	as.Call = &app.ServiceAction{Automator: "shell", Fields: map[string]string{"script": h.Script}, Timeout: h.Timeout}
	if as.Timeout = h.Timeout; as.Timeout == 0 {
		as.Timeout = app.ServiceStepTime
	}
	return nil
}
