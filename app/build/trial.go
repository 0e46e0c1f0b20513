package build

import (
	"cmp"
	"context"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/policy"
)

// Trial asks what rules would do with an event, or with a kept delivery.
type Trial struct {
	Rules    *[]Rule         `json:"rules,omitempty"`
	Delivery int64           `json:"delivery,omitempty"`
	Event    *app.BuildEvent `json:"event,omitempty"`
	// Payload is that of the made-up event.
	Payload map[string]any `json:"payload,omitempty"`
}

// RuleTrialResult is the answer. Nothing was done.
type RuleTrialResult struct {
	Event   app.BuildEvent `json:"event"`
	Rules   []RuleMatch    `json:"rules"`          // of each rule that was looked at
	Rule    string         `json:"rule,omitempty"` // that matched
	Action  string         `json:"action"`
	Key     string         `json:"key,omitempty"`
	Ask     *Spec          `json:"ask,omitempty"`
	Ends    []string       `json:"ends,omitempty"` // what would end
	Message string         `json:"message,omitempty"`
	Layout  *layout.Layout `json:"layout,omitempty"`  // of the cluster
	Refuse  string         `json:"refused,omitempty"` // why the cluster would not be made
	// Callback is the URL that would receive the build's status, without parts that may be secret. NoCallback says why no status would be
	// sent although the request asks for it.
	Callback   string `json:"callback,omitempty"`
	NoCallback string `json:"no_callback,omitempty"`
}

// TryBuild says what rules would do, without doing it.
func (a *Intake) TryBuild(ctx context.Context, actor app.Actor, name string, t Trial) (RuleTrialResult, error) {
	out := RuleTrialResult{Rules: []RuleMatch{}, Action: string(ActionNothing)}
	if err := actor.Authorize("TryBuild"); err != nil {
		return out, err
	}
	h, err := a.Store.BuildHook(ctx, actor.Tenant, name)
	if err != nil {
		return out, err
	}
	if t.Rules != nil {
		h.Rules = *t.Rules
		if err := a.Hooks.checkBuildRules(h.Rules); err != nil {
			return out, err
		}
	}
	switch {
	case (t.Delivery > 0) == (t.Event != nil):
		return out, &app.Error{Code: app.EInvalid, Field: "delivery", Message: "Set either a delivery or an event.", Hint: "The hook's page lists its deliveries."}
	case t.Event != nil:
		out.Event, out.Event.Payload = *t.Event, t.Payload
	default:
		_, d, err := a.keptBuild(ctx, h, t.Delivery)
		if err != nil {
			return out, err
		}
		if out.Event, err = a.Systems.Read(d); err != nil {
			return out, err
		}
	}
	w := a.evaluateDelivery(ctx, h, out.Event)
	out.Rules, out.Rule, out.Message = append(out.Rules, w.looks...), w.rule, w.words
	for _, e := range w.ends {
		out.Ends = append(out.Ends, cmp.Or(e.Key, e.Build))
	}
	switch {
	case w.begin != nil:
		out.Action, out.Key, out.Ask = string(ActionCreate), w.begin.Key, &w.begin.Ask
		out.Callback, out.NoCallback = w.begin.Call.Shown, w.begin.Call.Why
		a.tryAsk(ctx, h, w.begin.Ask, &out)
	case w.extend != "":
		out.Action, out.Key = string(ActionExtend), w.extend
	case len(w.ends) > 0:
		out.Action = string(ActionDelete)
	}
	return out, nil
}

// tryAsk says what the cluster would be, as the owner would see it.
func (a *Intake) tryAsk(ctx context.Context, h BuildHook, k Spec, out *RuleTrialResult) {
	owner, why, err := a.Hooks.buildOwner(ctx, h)
	if err == nil && why == "" {
		var p cluster.Preview
		if p, err = a.Creates.Preview(ctx, owner, k.Request()); err == nil {
			out.Layout = &p.Layout
			if d := p.Decision; d != nil && (d.Outcome == policy.OutcomeRefuse || d.Outcome == policy.OutcomeApprove) {
				out.Refuse = cmp.Or(d.Reason, "The request would wait for approval.")
			}
			return
		}
		why = app.AsError(err).Advised()
	}
	out.Refuse = cmp.Or(why, "The reason is unknown.")
}
