package execution

import (
	"context"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// assignHook adds the script of its hook to a step, as it was when the plan was made. It gets none of the cluster's configuration:
// it may run before the addresses are known that this speaks of.
func (a *Service) assignHook(ctx context.Context, as *Assignment, c *ClaimedStep) error {
	hooks, err := a.Inputs.OperationHooks(ctx, c.Tenant, c.Step.Operation)
	if err != nil {
		return err
	}
	name := template.HookOfStep(c.Step)
	i := slices.IndexFunc(hooks, func(h template.OperationHook) bool { return h.Name == name })
	if i < 0 {
		return app.Errorf(app.EInternal, "operation %d has no hook %q", c.Step.Operation, name)
	}
	h := hooks[i]
	as.Service = "hook." + h.Name
	as.Call = &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": h.Script}, Timeout: h.Timeout}
	if as.Timeout = h.Timeout; as.Timeout == 0 {
		as.Timeout = serviceStepTime
	}
	return nil
}

// assignFromPool tells the worker that a node's machine was a pool's, and by which key it was opened there.
func (a *Service) assignFromPool(ctx context.Context, as *Assignment) error {
	if as.Node.TakenFrom == "" || as.Action != app.ActionCreate && as.Action != app.ActionConfirm {
		return nil
	}
	as.FromPool = &FromPool{Pool: as.Node.Pool}
	if as.Action != app.ActionConfirm {
		return nil
	}
	secrets, err := a.Inputs.ClusterSecrets(ctx, as.Tenant, as.Node.TakenFrom)
	as.FromPool.Key = secrets.PrivateKey
	return err
}

// comparedBy returns what a comparison found, by our own rules, whatever the sender; nil where there was none.
func comparedBy(r Report) *family.Changes {
	if r.Changes == nil || r.Err != nil {
		return nil
	}
	c := &family.Changes{}
	for _, text := range r.Changes.Texts {
		c.Add(text)
	}
	c.More += max(r.Changes.More, 0)
	return c
}
