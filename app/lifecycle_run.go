package app

import (
	"context"
	"slices"
)

// OperationHookStore keeps what hooks have to do with operations. That hooks are told and asked is up to the store: it is part
// of the transaction that accepts or ends an operation, whoever asked for it.
type OperationHookStore interface {
	// OperationHooks gives the hooks whose scripts an operation runs.
	OperationHooks(ctx context.Context, tenant string, operation int64) ([]OperationHook, error)
}

// scripts are the hooks whose scripts an operation of the tenant would run now: those of the tenant, then those of the template.
func (a *App) scripts(ctx context.Context, tenant string, k OperationKind, d Definition) ([]OperationHook, error) {
	if !k.runsScripts() {
		return nil, nil
	}
	hooks, err := a.Store.Hooks(ctx, tenant)
	return hooksOf(k, hooks, d.Hooks), err
}

// assignHook gives a step the script of its hook, as it was when the plan was made. It gets none of the cluster's configuration:
// it may run before the addresses are known that this speaks of.
func (a *App) assignHook(ctx context.Context, as *Assignment, c *ClaimedStep) error {
	hooks, err := a.Store.OperationHooks(ctx, c.Tenant, c.Step.Operation)
	if err != nil {
		return err
	}
	name := hookOfStep(c.Step)
	i := slices.IndexFunc(hooks, func(h OperationHook) bool { return h.Name == name })
	if i < 0 {
		return Errorf(EInternal, "operation %d has no hook %q", c.Step.Operation, name)
	}
	h := hooks[i]
	as.Service = "hook." + h.Name
	as.Call = &ServiceAction{Automator: "shell", Fields: map[string]string{"script": h.Script}, Timeout: h.Timeout}
	if as.Timeout = h.Timeout; as.Timeout == 0 {
		as.Timeout = serviceStepTime
	}
	return nil
}
