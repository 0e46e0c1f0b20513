package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// Fields are the part of a request that a layout depends on and policies can change. No hardware: the solver chooses.
type Fields struct {
	Size     int
	Hardware string
	Provider string
}

// FieldsOf returns those of a request with such facts.
func FieldsOf(f Input) Fields {
	out := Fields{Size: f.Nodes, Provider: f.Provider}
	if len(f.Hardware) == 1 {
		out.Hardware = f.Hardware[0]
	}
	return out
}

// round is a request on its way through policies. What was changed, said and required adds up over several passes.
type round struct {
	engine   Engine
	policies []Policy
	fields   Fields // as they are left so far
	fixed    []Field
	changes  []Change
	needs    []RequiredApproval
	said     []AppliedPolicy
}

// pass is one look at each policy.
type pass struct {
	*round
	facts Input
	rest  []Change      // of what no layout depends on: leases and labels
	limit time.Duration // the shortest cap so far, 0 for none
	d     Decision
}

// may reports whether a field can be changed in this request.
func (p *pass) may(f Field) bool {
	switch p.facts.Kind {
	case "", app.OperationCreate:
	case app.OperationResize:
		if f != FieldSize && f != FieldHardware {
			return false
		}
	default:
		return false
	}
	return !slices.Contains(p.fixed, f)
}

// pass looks at webhooks' answers and then at each policy in order.
func (r *round) pass(ctx context.Context, f Input, answers []WebhookAnswer) Decision {
	p := &pass{round: r, facts: f, d: Decision{Outcome: OutcomeAccept}}
	for _, a := range answers {
		if p.answer(a) {
			return p.end()
		}
	}
	for _, q := range r.policies {
		if q.Enabled && p.judge(ctx, q) {
			break
		}
	}
	return p.end()
}

// end returns the decision.
func (p *pass) end() Decision {
	p.d.Lease, p.d.Said = p.facts.Lease, p.said
	if p.d.Outcome != OutcomeRefuse {
		if p.d.Needs = p.needs; len(p.needs) > 0 {
			p.d.Outcome = OutcomeApprove
		}
	}
	p.d.Changes = append(slices.Clone(p.changes), p.rest...)
	return p.d
}

// say adds what a policy said; of one that has said something before, the latest holds.
func (p *pass) say(a AppliedPolicy) {
	i := slices.IndexFunc(p.said, func(s AppliedPolicy) bool { return s.Policy == a.Policy })
	if i < 0 {
		p.said = append(p.said, a)
		return
	}
	p.said[i] = a
}

func (p *pass) refuse(name string, version int, reason string) bool {
	p.say(AppliedPolicy{Policy: name, Version: version, Effect: EffectRefuse, Text: reason})
	p.d.Outcome, p.d.Policy, p.d.Reason = OutcomeRefuse, name, reason
	return true
}

// judge looks at a policy, and reports whether it is the last one that is looked at.
func (p *pass) judge(ctx context.Context, q Policy) (last bool) {
	if p.engine == nil {
		return p.refuse(q.Name, q.Version, "Policies can't be evaluated on this server, so every request is refused.")
	}
	j, err := p.engine.Judge(ctx, q, p.facts)
	switch {
	case err != nil:
		return p.refuse(q.Name, q.Version, fmt.Sprintf("Policy %s couldn't be evaluated, so the request is refused: %s", q.Name, app.AsError(err).ForPeople()))
	case j.Later:
		return q.Effect == EffectAllow // what follows is looked at when it is known whether this allows
	case !j.Applies:
		return false
	}
	said := AppliedPolicy{Policy: q.Name, Version: q.Version, Effect: q.Effect, Text: j.Reason}
	switch q.Effect {
	case EffectRefuse:
		return p.refuse(q.Name, q.Version, j.Reason)
	case EffectAllow:
		p.say(said)
		p.d.Policy = q.Name
		return true
	case EffectRewrite:
		if k := p.facts.Kind; k != "" && k != app.OperationCreate && k != app.OperationResize {
			return false
		}
		changed := p.set(q.Name, j.Reason, j.Set)
		changed = p.cap(q.Name, j.Reason, j.Lease) || changed
		if q.Approval != nil {
			p.need(RequiredApproval{Policy: q.Name, Reason: j.Reason, Approval: *q.Approval})
		} else if !changed {
			return false // it is so already
		}
	case EffectApprove:
		if q.Approval == nil {
			return p.refuse(q.Name, q.Version, fmt.Sprintf("Policy %s doesn't name any approvers.", q.Name))
		}
		p.need(RequiredApproval{Policy: q.Name, Reason: j.Reason, Approval: *q.Approval})
	default:
		return p.refuse(q.Name, q.Version, fmt.Sprintf("Policy %s has an unknown effect: %q.", q.Name, q.Effect))
	}
	p.say(said)
	return false
}

// answer looks at what a webhook answered, and reports whether it refuses.
func (p *pass) answer(a WebhookAnswer) (last bool) {
	name := WebhookSource(a.Webhook)
	switch {
	case a.Ignored != "":
		p.say(AppliedPolicy{Policy: name, Effect: EffectIgnored, Text: a.Ignored})
		return false
	case a.Refused:
		return p.refuse(name, 0, a.Reason)
	}
	changed := p.set(name, a.Reason, a.Set)
	if a.Approval != nil {
		p.need(RequiredApproval{Policy: name, Reason: a.Reason, Approval: *a.Approval})
		p.say(AppliedPolicy{Policy: name, Effect: EffectApprove, Text: a.Reason})
	} else if changed {
		p.say(AppliedPolicy{Policy: name, Effect: EffectRewrite, Text: a.Reason})
	}
	return false
}

func (p *pass) need(n RequiredApproval) {
	if !slices.ContainsFunc(p.needs, func(had RequiredApproval) bool { return had.Policy == n.Policy }) {
		p.needs = append(p.needs, n)
	}
}

// change notes a change of what a layout depends on.
func (p *pass) change(name, reason string, f Field, from, to any) bool {
	p.changes = addChange(p.changes, Change{Policy: name, Field: f, From: from, To: to, Reason: reason})
	return true
}

// set applies values, as far as the request can have them, and reports whether something changed.
func (p *pass) set(name, reason string, v Values) (changed bool) {
	f := &p.facts
	if v.Size != 0 && v.Size != f.Nodes && p.may(FieldSize) {
		changed = p.change(name, reason, FieldSize, f.Nodes, v.Size)
		f.Nodes, p.fields.Size = v.Size, v.Size
	}
	if to := p.hardware(v.Hardware); to != "" && p.may(FieldHardware) {
		changed = p.change(name, reason, FieldHardware, p.hardwareText(), to)
		if f.NewHardware != nil {
			f.NewHardware = []string{to}
		} else {
			f.Hardware = []string{to}
		}
		p.fields.Hardware = to
	}
	if len(v.Provider) > 0 && !slices.Contains(v.Provider, f.Provider) && p.may(FieldProvider) {
		changed = p.change(name, reason, FieldProvider, f.Provider, v.Provider[0])
		f.Provider, p.fields.Provider = v.Provider[0], v.Provider[0]
	}
	if v.Lease != 0 && p.may(FieldLease) {
		to := v.Lease
		if p.limit != 0 && to > p.limit {
			to = p.limit
		}
		if to != f.Lease {
			changed = true
			p.rest = append(p.rest, Change{Policy: name, Field: FieldLease, From: f.Lease, To: to, Reason: reason})
			f.Lease = to
		}
	}
	return p.label(name, reason, v.Labels) || changed
}

// label adds labels, or replaces some, and reports whether something changed.
func (p *pass) label(name, reason string, add map[string]string) bool {
	var from, to []string
	out := maps.Clone(p.facts.Labels)
	if out == nil {
		out = map[string]string{}
	}
	for _, k := range slices.Sorted(maps.Keys(add)) {
		was, had := out[k]
		if had && was == add[k] {
			continue
		}
		if had {
			from = append(from, k+"="+was)
		}
		to, out[k] = append(to, k+"="+add[k]), add[k]
	}
	if len(to) == 0 || !p.may(FieldLabels) {
		return false
	}
	p.rest = append(p.rest, Change{Policy: name, Field: FieldLabels, From: strings.Join(from, ", "), To: strings.Join(to, ", "), Reason: reason})
	p.facts.Labels, p.d.Labels = out, out
	return true
}

// hardwareText is the hardware before a change.
func (p *pass) hardwareText() string {
	if p.facts.NewHardware != nil {
		return strings.Join(p.facts.NewHardware, ", ")
	}
	return strings.Join(p.facts.Hardware, ", ")
}

// hardware returns which one it has to be; "" leaves it as it is.
func (p *pass) hardware(allowed []string) string {
	has := p.facts.Hardware
	if p.facts.NewHardware != nil {
		has = p.facts.NewHardware
	}
	switch {
	case len(allowed) == 0, p.fields.Hardware == allowed[0]:
		return ""
	case len(has) == 0 && len(allowed) > 1 && p.facts.Unsolved:
		return "" // the layout will tell
	case len(has) > 0 && !slices.ContainsFunc(has, func(h string) bool { return !slices.Contains(allowed, h) }):
		return ""
	}
	return allowed[0]
}

// cap shortens the lease to a limit, 0 for none.
func (p *pass) cap(name, reason string, limit time.Duration) bool {
	if limit == 0 || !p.may(FieldLease) {
		return false
	}
	if p.limit == 0 || limit < p.limit {
		p.limit = limit
	}
	if p.facts.Lease != 0 && p.facts.Lease <= limit {
		return false // it is short enough
	}
	p.rest = append(p.rest, Change{Policy: name, Field: FieldLease, From: p.facts.Lease, To: limit, Reason: reason})
	p.facts.Lease = limit
	return true
}
