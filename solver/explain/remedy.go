package explain

import (
	"fmt"
	"maps"
	"slices"

	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
)

// remedy is a change of the request or the template, in steps: the more steps, the more it allows.
type remedy struct {
	rank  int // what people would rather do comes first
	steps int
	far   bool // the last step goes so far that its rank is the last one
	text  func(step int) string
	apply func(w *world, step int)
}

// The ranks: asking otherwise, then moving a number, then lifting a rule, then having less, then what takes more than
// words.
const (
	rankSize = iota
	rankOtherType
	rankNumber
	rankRule
	rankWithout
	rankProvider
	rankLast
	rankNever // by itself
)

// world is the request with its catalog, both free to be changed.
type world struct {
	c      *template.Catalog
	r      layout.Request
	edited bool // more than the request was changed
}

// template returns the template, to change it.
func (w *world) template() *template.Template {
	if !w.edited {
		c, t := *w.c, *w.c.Templates[w.r.Template]
		t.Constraints.Services = maps.Clone(t.Constraints.Services)
		if t.Constraints.Services == nil {
			t.Constraints.Services = map[string]template.ServiceConstraint{}
		}
		t.Constraints.Hardware = maps.Clone(t.Constraints.Hardware)
		t.Constraints.Ratios = slices.Clone(t.Constraints.Ratios)
		c.Templates = map[string]*template.Template{w.r.Template: &t}
		c.Services = maps.Clone(c.Services)
		w.c, w.edited = &c, true
	}
	return w.c.Templates[w.r.Template]
}

// service changes what the template says of a service.
func (w *world) service(name string, change func(c *template.ServiceConstraint)) {
	t := w.template()
	c, written := t.Constraints.Services[name]
	if !written {
		c.Max = template.Unlimited
	}
	change(&c)
	t.Constraints.Services[name] = c
}

func says(format string, args ...any) func(int) string {
	text := fmt.Sprintf(format, args...)
	return func(int) string { return text }
}

func lowerMin(s string, from int) remedy {
	rank := rankNumber
	if from == 1 {
		rank = rankLast
	}
	return remedy{rank: rank, steps: from, far: true, text: func(step int) string {
		if step == from {
			return leaveOut(s).text(1)
		}
		return fmt.Sprintf("lower min of %s to %d", s, from-step)
	}, apply: func(w *world, step int) {
		w.service(s, func(c *template.ServiceConstraint) { c.Min, c.MinSet = from-step, true })
	}}
}

func leaveOut(s string) remedy {
	return remedy{rank: rankLast, steps: 1, text: says("make %s optional (min 0)", s), apply: func(w *world, _ int) {
		w.service(s, func(c *template.ServiceConstraint) { c.Min, c.MinSet = 0, true })
	}}
}

func notEverywhere(s string) remedy {
	return remedy{rank: rankRule, steps: 2, far: true, text: func(step int) string {
		if step == 2 {
			return leaveOut(s).text(1)
		}
		return fmt.Sprintf("allow %s on only some nodes (min 1)", s)
	}, apply: func(w *world, step int) {
		w.service(s, func(c *template.ServiceConstraint) { c.Min, c.MinSet = 2-step, true })
	}}
}

func raiseMax(s string, from, most int) remedy {
	steps := max(1, most-from)
	return remedy{rank: rankNumber, steps: steps, far: true, text: func(step int) string {
		if step == steps {
			return fmt.Sprintf("allow %s on any number of nodes (no max)", s)
		}
		return fmt.Sprintf("raise max of %s to %d", s, from+step)
	}, apply: func(w *world, step int) {
		w.service(s, func(c *template.ServiceConstraint) {
			if c.Max = from + step; step == steps {
				c.Max = template.Unlimited
			}
		})
	}}
}

// dropMust, dropCant and dropPairs drop every group that, of the services of the request, has just those of g.
func dropMust(g []string, present func([]string) []string) remedy {
	return remedy{rank: rankRule, steps: 1, text: says("allow %s on different nodes", humanize.And(g)), apply: func(w *world, _ int) {
		t := w.template()
		t.Constraints.MustCoexist = lessGroup(t.Constraints.MustCoexist, g, present)
	}}
}

func dropCant(g []string, present func([]string) []string) remedy {
	text := says("allow %s on one node", humanize.And(g))
	switch len(g) {
	case 1:
		text = says("drop the can't-coexist group of %s alone", g[0])
	case 2:
		text = says("allow %s and %s on one node", g[0], g[1])
	}
	return remedy{rank: rankRule, steps: 1, text: text, apply: func(w *world, _ int) {
		t := w.template()
		t.Constraints.CantCoexist = lessGroup(t.Constraints.CantCoexist, g, present)
		if len(g) == 2 { // then both readings say the same
			t.Constraints.CantCoexistPairs = lessGroup(t.Constraints.CantCoexistPairs, g, present)
		}
	}}
}

func dropPairs(g []string, present func([]string) []string) remedy {
	return remedy{rank: rankLast, steps: 1, text: says("allow any of %s on one node", humanize.And(g)), apply: func(w *world, _ int) {
		t := w.template()
		t.Constraints.CantCoexistPairs = lessGroup(t.Constraints.CantCoexistPairs, g, present)
	}}
}

func lessGroup(groups [][]string, g []string, present func([]string) []string) [][]string {
	return slices.DeleteFunc(slices.Clone(groups), func(o []string) bool { return slices.Equal(present(o), g) })
}

// somePairs is how many pairs of a group are offered to be allowed one by one.
const somePairs = 10

// allowPairs allows two services of a pairs group beside each other. The group is then two groups, each without one.
func allowPairs(g []string) []remedy {
	var out []remedy
	for i, a := range g {
		for _, b := range g[i+1:] {
			if len(out) == somePairs {
				return out
			}
			out = append(out, remedy{rank: rankRule, steps: 1, text: says("allow %s and %s on one node", a, b), apply: func(w *world, _ int) {
				t := w.template()
				var groups [][]string
				for _, o := range t.Constraints.CantCoexistPairs {
					if !slices.Contains(o, a) || !slices.Contains(o, b) {
						groups = append(groups, o)
						continue
					}
					for _, left := range []string{a, b} {
						groups = append(groups, slices.DeleteFunc(slices.Clone(o), func(s string) bool { return s == left }))
					}
				}
				t.Constraints.CantCoexistPairs = groups
			}})
		}
	}
	return out
}

func widenRatio(r template.Ratio, most int) remedy {
	return remedy{rank: rankNumber, steps: max(1, most-r.Per), text: func(step int) string {
		return fmt.Sprintf("1 %s for every %d %s instead of every %d", r.Service, r.Per+step, r.Of, r.Per)
	}, apply: func(w *world, step int) {
		ratios := w.template().Constraints.Ratios
		for i, o := range ratios {
			if o == r {
				ratios[i].Per += step
			}
		}
	}}
}

func dropRatio(r template.Ratio) remedy {
	return remedy{rank: rankRule, steps: 1, text: says("drop the ratio of %s to %s", r.Service, r.Of), apply: func(w *world, _ int) {
		t := w.template()
		t.Constraints.Ratios = slices.DeleteFunc(t.Constraints.Ratios, func(o template.Ratio) bool { return o.Service == r.Service && o.Of == r.Of })
	}}
}

func raiseSkew(from, most int) remedy {
	return remedy{rank: rankNumber, steps: most, text: func(step int) string {
		return fmt.Sprintf("raise max skew of zones to %d", from+step)
	}, apply: func(w *world, step int) {
		t := w.template()
		if z := t.Constraints.Zones; z != nil {
			t.Constraints.Zones = &template.ZoneRule{MaxSkew: from + step, Services: z.Services}
		}
	}}
}

func dropZones() remedy {
	return remedy{rank: rankRule, steps: 1, text: says("don't spread over zones"), apply: func(w *world, _ int) {
		w.template().Constraints.Zones = nil
	}}
}

func raiseHardware(name string, from, most int) remedy {
	steps := max(1, most-from)
	return remedy{rank: rankNumber, steps: steps, far: true, text: func(step int) string {
		if step == steps {
			return fmt.Sprintf("allow any number of nodes of hardware %s", name)
		}
		return fmt.Sprintf("allow %s of hardware %s", humanize.Count(from+step, "node"), name)
	}, apply: func(w *world, step int) {
		if w.template().Constraints.Hardware[name] = from + step; step == steps {
			delete(w.template().Constraints.Hardware, name)
		}
	}}
}

func mixHardware() remedy {
	return remedy{rank: rankRule, steps: 1, text: says("allow different hardware for nodes with the same services (mixed hardware)"),
		apply: func(w *world, _ int) { w.template().Constraints.MixedHardware = true }}
}

// needSteps is into how many parts a need is cut when it is asked how much less would do.
const needSteps = 8

func needLess(s string, needs template.Requirements) remedy {
	part := func(step int) template.Requirements {
		k := float64(needSteps-step) / needSteps
		return template.Requirements{CPU: needs.CPU * k, MemoryGB: needs.MemoryGB * k, DiskGB: needs.DiskGB * k, GPUs: int(float64(needs.GPUs) * k)}
	}
	return remedy{rank: rankLast, steps: needSteps, text: func(step int) string {
		if step == needSteps {
			return fmt.Sprintf("remove the resource needs of %s", s)
		}
		return fmt.Sprintf("reduce the needs of %s to %s", s, inWhat(part(step)))
	}, apply: func(w *world, step int) {
		w.template()
		service := *w.c.Services[s]
		service.Needs = part(step)
		w.c.Services[s] = &service
	}}
}
