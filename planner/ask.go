package planner

import (
	"maps"
	"slices"

	"muster/app"
	"muster/app/plan"
	"muster/app/template"
)

// betweenBatches names the question before each batch but the first.
const betweenBatches = "batches"

// markManualSteps notes which steps a person carries out: those whose service says so, and those between batches. It is called before
// the plan is ranked, since no one knows how long people take: that is separate from the expected duration.
func (g *graph) markManualSteps(r plan.Request) map[string]*template.Person {
	questions := map[string]*template.Person{}
	for i := range g.steps {
		s := &g.steps[i]
		switch svc := r.Services[s.Service]; {
		case s.Join:
		case s.Action == app.ActionAsk:
			s.Asks = betweenBatches
			questions[s.Asks] = r.Between
		case svc != nil && svc.Actions[s.Action] != nil && svc.Actions[s.Action].Person != nil:
			s.Asks = s.Service + "." + string(s.Action)
			questions[s.Asks] = svc.Actions[s.Action].Person
		}
	}
	if len(questions) == 0 {
		return nil
	}
	return questions
}

// texts returns the configuration with what people are asked beside it, so that the macros in both are checked, and no one is asked
// before the machines are confirmed whose addresses the question speaks of.
func texts(r plan.Request) map[string]any {
	var all []any
	for _, name := range slices.Sorted(maps.Keys(r.Services)) {
		svc := r.Services[name]
		if svc == nil {
			continue
		}
		for _, a := range template.ServiceActions {
			if act := svc.Actions[a]; act != nil && act.Person != nil {
				all = append(all, act.Person.Ask, act.Person.Help)
			}
		}
	}
	if len(all) == 0 {
		return r.Config
	}
	config := maps.Clone(r.Config)
	if config == nil {
		config = map[string]any{}
	}
	config["questions"] = []any{r.Config["questions"], all}
	return config
}

// unasked returns services without what people do. A cluster falls asleep and wakes when no one is there, often by a schedule; as with
// scripts of hooks, that is left out then.
func unasked(services map[string]*template.Service) map[string]*template.Service {
	out := make(map[string]*template.Service, len(services))
	for name, s := range services {
		if out[name] = s; s == nil {
			continue
		}
		kept := *s
		kept.Actions = maps.Clone(s.Actions)
		maps.DeleteFunc(kept.Actions, func(_ app.Action, a *template.ServiceAction) bool { return a != nil && a.Person != nil })
		out[name] = &kept
	}
	return out
}
