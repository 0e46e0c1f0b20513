package policy

import (
	"context"
	"fmt"

	"muster/app"
)

// Decide says what policies make of facts. It is pure but for the time that the engine may take. The rule:
//
//   - policies are looked at in order, and only those that are enabled; each sees the lease as those before it left it
//   - one that cannot be evaluated refuses, whatever it is for
//   - one that refuses ends it, whatever was said before it
//   - one that allows ends it too: nothing after it is looked at, but what was changed or is to be approved stands
//   - all others add up: the shortest cap holds, and every approval is needed
//   - a cap is for the lease that is asked for with a create; of a cluster that stands it changes nothing
func Decide(ctx context.Context, e PolicyEngine, policies []Policy, f app.Facts) app.Decision {
	d := app.Decision{Outcome: app.OutcomeAccept, Lease: f.Lease}
	refuse := func(p Policy, reason string) app.Decision {
		d.Said = append(d.Said, app.Said{Policy: p.Name, Version: p.Version, Effect: PolicyRefuse, Text: reason})
		d.Outcome, d.Policy, d.Reason, d.Needs = app.OutcomeRefuse, p.Name, reason, nil
		return d
	}
	for _, p := range policies {
		if !p.Enabled {
			continue
		}
		if e == nil {
			return refuse(p, "Policies cannot be evaluated on this server, so nothing is accepted.")
		}
		f.Lease = d.Lease
		j, err := e.Judge(ctx, p, f)
		switch {
		case err != nil:
			return refuse(p, fmt.Sprintf("The policy %s could not be evaluated, so nothing is accepted: %s", p.Name, app.AsError(err).ForPeople()))
		case !j.Applies:
			continue
		}
		switch p.Effect {
		case PolicyRefuse:
			return refuse(p, j.Reason)
		case PolicyAllow:
			d.Said = append(d.Said, app.Said{Policy: p.Name, Version: p.Version, Effect: p.Effect, Text: j.Reason})
			d.Policy = p.Name
			return d
		case PolicyRewrite:
			if f.Kind != app.OperationCreate && f.Kind != "" {
				continue
			}
			if d.Lease != 0 && d.Lease <= j.Lease {
				continue // it is short enough
			}
			d.Changes = append(d.Changes, app.Change{Policy: p.Name, From: d.Lease, To: j.Lease, Reason: j.Reason})
			d.Lease = j.Lease
		case PolicyApprove:
			if p.Approval == nil {
				return refuse(p, fmt.Sprintf("The policy %s does not say who has to approve.", p.Name))
			}
			d.Needs = append(d.Needs, app.Need{Policy: p.Name, Reason: j.Reason, Approval: *p.Approval})
			d.Outcome = app.OutcomeApprove
		default:
			return refuse(p, fmt.Sprintf("The policy %s has an effect that is not known: %q.", p.Name, p.Effect))
		}
		d.Said = append(d.Said, app.Said{Policy: p.Name, Version: p.Version, Effect: p.Effect, Text: j.Reason})
	}
	return d
}
