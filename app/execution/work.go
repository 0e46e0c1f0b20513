package execution

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/catalog"
	appcluster "muster/app/cluster"
	"muster/app/family"
	"muster/app/observe"
	"muster/app/operation"
	"muster/app/plan"
	"muster/app/providervalue"
)

// stepTime is how long one attempt may take where its service says nothing.
const (
	machineStepTime = 10 * time.Minute
	serviceStepTime = 30 * time.Minute
	// leastDrainTime is how long a service has at least to stop before its machine is taken away.
	leastDrainTime = 15 * time.Second
)

// nodeUpdate is what a success means for the node.
func (r Report) nodeUpdate() *NodeUpdate {
	if r.Err != nil {
		return nil
	}
	switch r.Action {
	case app.ActionCreate:
		return &NodeUpdate{Status: app.NodeCreated, Machine: r.Machine}
	case app.ActionConfirm:
		return &NodeUpdate{Status: app.NodeReady, Machine: r.Machine, HostKey: r.HostKey, Owned: true}
	case app.ActionWake:
		return &NodeUpdate{Machine: r.Machine}
	case app.ActionDelete:
		return &NodeUpdate{Status: app.NodeDeleted, Deleted: true}
	}
	return nil
}

var _ Coordinator = (*Service)(nil)

// ClaimFor is how long a claim holds without a heartbeat. A worker that was not heard of for so long is taken for dead.
const ClaimFor = 15 * time.Second

// Claim implements Coordinator. A step that cannot be handed out (say, its configuration does not expand) fails at
// once, with the reason for the person who asked, and others are tried.
func (a *Service) Claim(ctx context.Context, w app.WorkerID, most int) ([]*Assignment, error) {
	return a.claimExcept(ctx, w, most, nil)
}

// claimExcept is Claim for a worker that may not take the steps of some providers.
func (a *Service) claimExcept(ctx context.Context, w app.WorkerID, most int, except []string) ([]*Assignment, error) {
	var all []*Assignment
	ctx = oneMessage(ctx)
	for most = min(max(most, 1), MaxClaims); len(all) < most; {
		claimed, err := a.Steps.ClaimSteps(ctx, ClaimQuery{Worker: w, Now: a.Now(), For: ClaimFor, Most: most - len(all), Except: except})
		if err != nil || len(claimed) == 0 {
			return all, claimError(all, err)
		}
		rejected := 0
		for _, c := range claimed {
			as, err := a.assign(ctx, w, c)
			if err == nil {
				all = append(all, as)
				continue
			}
			rejected++
			if err := a.reject(ctx, w, c, err); err != nil {
				return all, claimError(all, err)
			}
		}
		if rejected == 0 {
			break
		}
	}
	return all, nil
}

// oneMessage returns a context in which what the steps of a message have in common is read once.
func oneMessage(ctx context.Context) context.Context {
	return providervalue.HoldValues(catalog.HoldCatalog(ctx))
}

// claimError keeps an error from hiding steps that were claimed: their worker must learn of them.
func claimError(claimed []*Assignment, err error) error {
	if len(claimed) > 0 {
		return nil
	}
	return err
}

// reject ends the attempt of a claimed step that cannot be handed out. What is not for people is given back, for the
// worker's log.
func (a *Service) reject(ctx context.Context, w app.WorkerID, c *ClaimedStep, cause error) error {
	var e *app.Error
	if !errors.As(cause, &e) {
		e = &app.Error{Code: app.EInternal, Message: "Muster couldn't prepare this step.", Err: cause}
	}
	f := Finish{Fence: fenceOf(c.Step), Now: a.Now(), Err: e}
	if e.Code == app.EInternal || e.Code == app.ETransient {
		f.Retry = app.Retry{Again: c.Step.Tries < 3, After: time.Second}
	}
	done, err := a.Steps.FinishSteps(ctx, w, []Finish{f})
	if err != nil {
		return err
	}
	if err := done[0].Err; err != nil {
		return err
	}
	if e.Code == app.EInternal {
		return fmt.Errorf("can't hand out step %s of %s: %w", c.Step.ID, c.Cluster.ID, cause)
	}
	return nil
}

func fenceOf(s app.Step) app.Fence {
	return app.Fence{Operation: s.Operation, Index: s.Index, Attempt: s.Attempt}
}

func (a *Service) Heartbeat(ctx context.Context, w app.WorkerID, held []app.Fence) ([]Directive, error) {
	if len(held) > MaxHeld {
		return nil, app.Errorf(app.ETooLarge, "A heartbeat can have at most %d fences, not %d.", MaxHeld, len(held))
	}
	all, err := a.Steps.ExtendClaims(ctx, w, held, a.Now(), ClaimFor)
	for _, d := range all {
		if d.Lost {
			observe.MeterOf(a.Meter).Add(observe.MetricFencedWrites, 1, "heartbeat")
		}
	}
	return all, err
}

func (a *Service) Report(ctx context.Context, w app.WorkerID, reports []Report) ([]Reported, error) {
	if len(reports) > MaxClaims {
		return nil, app.Errorf(app.ETooLarge, "A message can have at most %d reports, not %d.", MaxClaims, len(reports))
	}
	ctx = oneMessage(ctx)
	now := a.Now()
	fs := make([]Finish, len(reports))
	for i, r := range reports {
		facts := factsOf(&r) // which may fail the step
		fs[i] = Finish{Fence: r.Fence, Now: now, Err: r.Err, Retry: r.Retry, Node: r.nodeUpdate(), Seen: r.Seen, Unasked: r.Unasked && r.Err != nil, Pooled: r.Pooled,
			Contract: r.Contract.Bounded(), Facts: facts, Changes: comparedBy(r), Exit: exitOf(r), Cut: r.Cut, Volumes: r.Volumes, Image: imageOf(r)}
		if r.WantNext {
			fs[i].ClaimFor = ClaimFor
		}
		fs[i].Fallbacks = a.fallbacks(ctx, w, r)
		fs[i].Keep = a.keepUnconfirmed(ctx, w, r)
	}
	done, err := a.Steps.FinishSteps(ctx, w, fs)
	if err != nil {
		return nil, err
	}
	answers := make([]Reported, len(done))
	for i, d := range done {
		answers[i].Err = d.Err
		if d.Err != nil && d.Err.Code == app.EStale {
			observe.MeterOf(a.Meter).Add(observe.MetricFencedWrites, 1, "report")
		}
		if d.Next == nil {
			continue
		}
		as, err := a.assign(ctx, w, d.Next)
		if err == nil {
			answers[i].Next = as
		} else if err := a.reject(ctx, w, d.Next, err); err != nil {
			answers[i].Err = app.AsError(err)
		}
	}
	return answers, nil
}

// fallbacks returns the other hardware that a node's machine may be asked for next, where a create has failed for want of room or by a limit
// of the account, and the cluster's template names any. After the last of them all are asked again, from the first, as the retry says that
// the worker decided on; until then none of it counts as a try. Where it cannot be found out, the attempt ends as if there were none: the
// other reports of the message must not wait for that.
func (a *Service) fallbacks(ctx context.Context, w app.WorkerID, r Report) (list []appcluster.HardwareFallback) {
	if r.Action != app.ActionCreate || r.Err == nil || r.Err.Code != app.ECapacity && r.Err.Code != app.EQuota {
		return nil
	}
	step, cluster, node, err := a.Steps.HeldStep(ctx, w, r.Fence)
	if err != nil {
		return nil // a stale one is refused by FinishSteps
	}
	oc, err := a.configs.get(ctx, a, &ClaimedStep{Tenant: w.Tenant, Step: step, Cluster: cluster})
	if err != nil {
		return nil
	}
	asked, was := node.AskedHardware(), oc.definition.Hardware[node.Hardware]
	for _, next := range oc.definition.NextOf(node) {
		is := oc.definition.Hardware[next]
		h := appcluster.HardwareFallback{From: node.Hardware, To: next, InsteadOf: asked, CPU: is.CPU, More: is.CostPerHour - was.CostPerHour, MoreCPU: is.CPU - was.CPU,
			Retry: app.Retry{Again: true, Free: true}}
		if next == asked { // once round
			all := *r.Err
			all.Message = fmt.Sprintf("No capacity for %s, %s. Last error: %s", asked, strings.Join(oc.definition.FallbackHardware[asked], ", "), all.Message)
			h.InsteadOf, h.Retry, h.Err = "", r.Retry, &all
		}
		list = append(list, h)
	}
	return list
}

func (a *Service) Hosts(ctx context.Context, w app.WorkerID, f app.Fence) ([]family.HostEntry, error) {
	step, cluster, node, err := a.Steps.HeldStep(ctx, w, f)
	if err != nil {
		return nil, err
	}
	oc, err := a.configs.get(ctx, a, &ClaimedStep{Tenant: w.Tenant, Step: step, Cluster: cluster})
	if err != nil {
		return nil, err
	}
	if step.Action == app.ActionNames {
		hosts, _, err := oc.everyone(ctx, a, cluster, node)
		return hosts, err
	}
	_, hosts, _, err := oc.expand(ctx, a, cluster, node, plan.Drains(step.ID, step.Node, step.Service, step.Action))
	return hosts, err
}

func (a *Service) Log(ctx context.Context, w app.WorkerID, lines []app.LogLine) error {
	if len(lines) > MaxLogs {
		return app.Errorf(app.ETooLarge, "A message can have at most %d lines, not %d.", MaxLogs, len(lines))
	}
	return a.Steps.AppendLogs(ctx, w.Tenant, lines)
}

// assign gathers all that a claimed step needs.
func (a *Service) assign(ctx context.Context, w app.WorkerID, c *ClaimedStep) (*Assignment, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	observe.MeterOf(a.Meter).Add(observe.MetricClaimed, 1, string(c.Step.Action))
	oc, err := a.configs.get(ctx, a, c)
	if err != nil {
		return nil, err
	}
	as := &Assignment{
		Fence: fenceOf(c.Step), Tenant: c.Tenant, Worker: w.Name, Epoch: c.Epoch, StepID: c.Step.ID, Tries: c.Step.Tries,
		Action: c.Step.Action, Service: c.Step.Service, Node: c.Node, Cluster: c.Cluster, Deadline: c.Deadline, Timeout: machineStepTime, Trace: c.Trace,
	}
	if !c.TriedAt.IsZero() {
		as.Age = max(a.Now().Sub(c.TriedAt), 0)
	}
	switch as.Action {
	case app.ActionCreate, app.ActionConfirm, app.ActionDelete, app.ActionSleep, app.ActionWake, app.ActionIsolate, app.ActionAttach, app.ActionDetach, app.ActionBake:
		if err := a.assignMachine(ctx, as, c, oc); err != nil {
			return nil, err
		}
		if err := a.assignVolumes(ctx, as, c, oc); err != nil {
			return nil, err
		}
	}
	assignBaked(as, oc.definition)
	as.KeepFailed = keepsUnconfirmed(c, oc.definition) && (!as.VolumesFirst || len(as.Volumes) == 0)
	if err := a.assignFromPool(ctx, as); err != nil {
		return nil, err
	}
	if as.Action != app.ActionCreate && (as.Action != app.ActionDelete || len(as.Volumes) > 0) { // volumes that stay are unmounted
		as.SSHKey = oc.secrets.PrivateKey
		if as.Guarded, err = a.guards(ctx, c.Tenant, c.Cluster, oc); err != nil {
			return nil, err
		}
	}
	switch {
	case as.Action == app.ActionBootstrap:
		as.Automators = oc.automators(c.Node)
	case as.Action == app.ActionNames:
		as.Automators, as.HostsWhole = oc.automators(c.Node), true
		if as.Hosts, as.HostsHash, err = oc.everyone(ctx, a, c.Cluster, c.Node); err != nil {
			return nil, err
		}
	case as.Action == app.ActionCheck:
		if err := a.assignCheck(ctx, as, c, oc); err != nil {
			return nil, err
		}
	case as.Action == app.ActionHook:
		if err := a.assignHook(ctx, as, c); err != nil {
			return nil, err
		}
	case as.Action == app.ActionRun:
		return as, a.assignRun(ctx, as, c, oc)
	case !as.Action.OnMachine():
		if service := oc.definition.Services[as.Service]; service != nil {
			action := as.Action
			if action == app.ActionCompare {
				action = operation.Compared(a.DryRuns, service)
				as.Compared = action
			}
			as.Call = service.Actions[action]
		}
		if as.Call == nil {
			return nil, app.Errorf(app.EInternal, "service %s has no action %s", as.Service, as.Action)
		}
		if as.Timeout = as.Call.Timeout; as.Timeout == 0 {
			as.Timeout = serviceStepTime
		}
		drains := plan.Drains(c.Step.ID, c.Step.Node, c.Step.Service, c.Step.Action)
		if drains && as.Action == app.ActionStop {
			as.Timeout = min(as.Timeout, max(c.Node.LeavesAt.Sub(a.Now()), leastDrainTime))
		}
		if as.Config, as.Hosts, as.Secrets, err = oc.expand(ctx, a, c.Cluster, c.Node, drains); err != nil {
			return nil, err
		}
		as.HostsHash, as.HostsWhole = hostsHash(as.Hosts), oc.tooMany()
	}
	return as, a.giveSecrets(ctx, as, oc)
}

// guards reports whether a cluster's machines are reached only where tenants may reach: those of an account of its users, or of a tenant's admin, who decide
// what address they have.
func (a *Service) guards(ctx context.Context, tenant string, c app.Cluster, oc *operationConfig) (bool, error) {
	if oc.ownAccount {
		return true, nil
	}
	return a.Catalogs.Guards(ctx, tenant, c.Provider)
}

func (a *Service) assignMachine(ctx context.Context, as *Assignment, c *ClaimedStep, oc *operationConfig) error {
	catalog, err := a.Catalogs.CatalogOf(ctx, c.Tenant)
	if err != nil {
		return err
	}
	spec := catalog.Providers[c.Cluster.Provider]
	if spec == nil {
		return &app.Error{Code: app.EInvalid, Message: "Provider " + c.Cluster.Provider + " is no longer in the catalog.",
			Hint: "Restore it, then resume the operation."}
	}
	var hidden []string
	if as.Provider, hidden, err = a.Values.With(ctx, c.Tenant, *spec, providervalue.Own{Cluster: c.Cluster.ID}); err != nil {
		return err
	}
	as.Secrets = append(as.Secrets, hidden...)
	installation, err := a.Inputs.Installation(ctx)
	if err != nil {
		return err
	}
	as.Unasked, as.Replacements = c.Unasked, c.Replacements
	as.Machine = family.MachineSpec{
		Intent: c.Intent, Hostname: c.Node.Hostname, Zone: c.Node.Zone,
		Flavor: oc.definition.Hardware[c.Node.Hardware], Image: oc.definition.Images[c.Node.Image],
		HostKey: c.HostKey, AuthorizedKey: oc.secrets.PublicKey, Firewall: oc.definition.Firewall,
		Tags: family.TagsFor(c.Cluster, installation, c.Node.Name, c.Intent),
	}
	if (as.Action == app.ActionCreate || as.Action == app.ActionConfirm) && a.Catalogs.OnHost(spec.Type) { // a confirm may have to create another
		tenants, err := a.Catalogs.TenantsSharingHost(ctx)
		if err != nil {
			return err
		}
		as.Machine.Isolated = tenants > 0
	}
	if as.Action == app.ActionCreate && as.Unasked {
		as.CreateBatch, err = oc.createBatch(ctx, a, c)
	}
	return err
}

// automators are those that a node's services use, sorted.
func (oc *operationConfig) automators(n app.Node) []string {
	var names []string
	for _, s := range n.Services {
		if svc := oc.definition.Services[s]; svc != nil {
			for _, act := range svc.Actions {
				if act.Person == nil {
					names = append(names, act.Automator)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
