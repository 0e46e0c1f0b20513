package jobs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/plan"
	"muster/app/program"
	"muster/jobs/remote"
)

// bootstrap prepares the node for every tool that its services use, and checks that it is what they may assume.
func (w *actions) bootstrap(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	return w.onNode(ctx, as, func(sh family.Shell) error {
		if err := ensureHosts(ctx, as, sh); err != nil {
			return err
		}
		if err := ensureAccess(ctx, as, sh, out); err != nil {
			return err
		}
		for _, name := range as.Automators {
			a, err := w.automator(name)
			if err != nil {
				return err
			}
			if err := a.Bootstrap(ctx, sh, nodeContext(as), out); err != nil {
				return err
			}
		}
		if err := installBaked(ctx, w, as, sh, out); err != nil {
			return err
		}
		return w.checkNode(ctx, as, sh, out, r)
	})
}

// names lets the node know all of its peers and no others, and checks that it does.
func (w *actions) names(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	if !as.Node.OwnRoot {
		out(family.StreamSystem, "Host names not written: "+sharesHost+".")
		return nil
	}
	return w.onNode(ctx, as, func(sh family.Shell) error {
		if err := ensureHosts(ctx, as, sh); err != nil {
			return err
		}
		out(family.StreamSystem, fmt.Sprintf("Wrote %s to /etc/hosts.", humanize.Count(len(as.Hosts), "node")))
		return w.checkNode(ctx, as, sh, out, r)
	})
}

// ensureHosts lets the node know its peers, as far as they are known. Where machines share this host's file system,
// /etc/hosts is not ours to write.
func ensureHosts(ctx context.Context, as *execution.Assignment, sh family.Shell) error {
	if !as.Node.OwnRoot || as.Hosts == nil && (as.Action == app.ActionBootstrap || as.Action == app.ActionHook) {
		return nil
	}
	write := remote.AddHosts
	switch {
	case as.Action == app.ActionNames:
		write = remote.RewriteHosts
	case as.HostsWhole:
		write = remote.SetHosts
	}
	return write(ctx, sh, as.Hosts, as.Node.SSHUser != "root")
}

// service carries out one service action.
func (w *actions) service(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	err := w.action(ctx, as, out, r)
	if err == nil || as.Action != app.ActionStop || !plan.Drains(as.StepID, as.Node.Name, as.Service, as.Action) {
		return err
	}
	e := *w.failure(ctx, as, err)
	if retry := retryOf(&e, as); e.Code == app.ECancelled || retry.Free || retry.Again && as.Tries < drainTries && e.Reason != reasonTimeLimit {
		return err
	}
	out(family.StreamSystem, fmt.Sprintf("%s didn't stop: %s Continuing, since the machine is taken away in any case.", as.Service, e.ForPeople()))
	return nil
}

// drainTries is how often it is tried to stop a service whose machine is about to be taken away.
const drainTries = 2

func (w *actions) action(ctx context.Context, as *execution.Assignment, out family.Output, r *execution.Report) error {
	return w.call(ctx, as, out, func(sh family.Shell, a family.Automator, call family.ServiceCall) error {
		said := map[string]string{}
		call.Tell = func(facts map[string]string) { maps.Copy(said, facts) }
		if err := a.Run(ctx, sh, call, out); err != nil || len(said) == 0 {
			return err
		}
		if err := execution.CheckFacts(said); err != nil {
			return err
		}
		r.Facts = said
		return nil
	})
}

// call has f act on a step's node by the automator of its action, once names and resources are there.
func (w *actions) call(ctx context.Context, as *execution.Assignment, out family.Output, f func(sh family.Shell, a family.Automator, call family.ServiceCall) error) error {
	a, err := w.automator(as.Call.Automator)
	if err != nil {
		return err
	}
	action := as.Action
	if as.Compared != "" {
		action = as.Compared
	}
	return w.onNode(ctx, as, func(sh family.Shell) error {
		if err := ensureHosts(ctx, as, sh); err != nil {
			return err
		}
		resources, err := w.bring(ctx, as, sh, out)
		if err != nil {
			return err
		}
		services := slices.Clone(as.Node.Services)
		slices.Sort(services)
		return f(sh, a, family.ServiceCall{NodeContext: nodeContext(as), Operation: as.Fence.Operation, Step: as.StepID,
			Service: as.Service, Action: action, Fields: as.Call.Fields, Config: as.Config, Resources: resources, Refs: as.Call.Resources,
			Services: services, Peers: as.Hosts})
	})
}

func (w *actions) automator(name string) (family.Automator, error) {
	if a := w.Automators[name]; a != nil {
		return a, nil
	}
	if err := program.CheckRemoved(program.AutomatorPrefix + name); err != nil {
		return nil, err
	}
	return nil, app.Errorf(app.EInvalid, "This worker has no automator %q.", name)
}
