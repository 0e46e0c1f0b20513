package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app/humanize"
)

// CheckParameters says all that is wrong with a template's parameters as they are declared. At returns the place of each problem
// in them, such as [0].min.
func CheckParameters(all []Parameter) (problems []ParameterProblem) {
	say := func(i int, key, hint, format string, args ...any) {
		problems = append(problems, ParameterProblem{Index: i, Key: key, Hint: hint, Message: fmt.Sprintf(format, args...)})
	}
	if len(all) > maxParameters {
		say(maxParameters-1, "", "", "%d parameters; a template can have at most %d", len(all), maxParameters)
		all = all[:maxParameters]
	}
	names, targets := map[string]bool{}, map[string]string{}
	for i, p := range all {
		if !parameterName.MatchString(p.Name) {
			say(i, "name", "", "invalid parameter name %.70q: use a letter, then letters, digits, '_' and '-', at most 64 in all", p.Name)
		} else if names[p.Name] {
			say(i, "name", "", "parameter %q is defined twice", p.Name)
		}
		names[p.Name] = true
		if !slices.Contains(ParameterTypes, p.Type) {
			say(i, "type", nearestOf(string(p.Type), ParameterTypes), "unknown type %.40q; use one of %s", p.Type, joinAll(ParameterTypes))
			continue
		}
		p.checkDeclared(func(key, hint, format string, args ...any) { say(i, key, hint, format, args...) })
		for _, to := range p.Targets() {
			p.checkTarget(to, func(hint, format string, args ...any) { say(i, "to", hint, format, args...) })
			for other, name := range targets {
				if name != p.Name && (to == other || strings.HasPrefix(to, other+".") || strings.HasPrefix(other, to+".")) {
					say(i, "to", "", "%s is already set by parameter %q", to, name)
				}
			}
		}
		for _, to := range p.Targets() {
			targets[to] = p.Name
		}
	}
	return problems
}

// ParameterProblem is one thing wrong with the declaration of a parameter. Key is "" where it is about all of it.
type ParameterProblem struct {
	Index              int
	Key, Message, Hint string
}

func (p Parameter) checkUnit(say func(key, hint, format string, args ...any)) {
	units := map[string]float64(nil)
	switch p.Type {
	case ParameterSize:
		units = sizeUnits
	case ParameterDuration:
		units = durationUnits
	}
	if _, ok := units[p.Unit]; p.Unit != "" && !ok {
		if units == nil {
			say("unit", "", "only a size or a duration has a unit")
		} else {
			say("unit", "", "unknown unit %q; use one of %s", p.Unit, strings.Join(slices.Sorted(maps.Keys(units)), ", "))
		}
	}
}

func (p Parameter) checkDeclared(say func(key, hint, format string, args ...any)) {
	measured := p.Type != ParameterBoolean && p.Type != ParameterChoice
	for _, limit := range []struct{ key, text string }{{"min", p.Min}, {"max", p.Max}} {
		switch {
		case limit.text == "":
		case !measured:
			say(limit.key, "", "a %s can't have limits", p.Type)
		case p.bound(limit.text) == nil:
			say(limit.key, "", "invalid limit %q for %s", limit.text, p.Type.noun())
		}
	}
	if least, most := p.bound(p.Min), p.bound(p.Max); measured && least != nil && most != nil && *least > *most {
		say("min", "", "min %s is greater than max %s", p.Min, p.Max)
	}
	if p.Pattern != "" && p.Type != ParameterText {
		say("pattern", "", "only text has a pattern")
	} else if _, err := p.shape(); err != nil {
		say("pattern", "", "invalid regular expression: %v", err)
		p.Pattern = "" // the rest can still be looked at
	}
	p.checkOptions(say)
	p.checkUnit(say)
	if p.Default != nil {
		if _, wrong := p.Read(p.Default); wrong != "" {
			say("default", "", "%s", wrong)
		}
	}
}

func (p Parameter) checkOptions(say func(key, hint, format string, args ...any)) {
	if p.Type != ParameterChoice {
		if len(p.Options) > 0 {
			say("options", "", "only a choice has options")
		}
		return
	}
	if len(p.Options) == 0 {
		say("options", "", "a choice needs options")
	}
	seen := map[string]bool{}
	for _, o := range p.Options {
		if o.Value == "" || seen[o.Value] {
			say("options", "", "option %q is empty or repeated", o.Value)
		}
		seen[o.Value] = true
	}
}

func (p Parameter) checkTarget(to string, say func(hint, format string, args ...any)) {
	switch path, config := strings.CutPrefix(to, "config."); {
	case config && path != "" && !slices.Contains(strings.Split(path, "."), "") && len(to) < 256:
	case !slices.Contains(parameterChoices, to):
		say(nearestOf(to, parameterChoices), "a parameter can't set %.60q: use a path such as config.web.port, or one of %s", to, joinAll(parameterChoices))
	case to == "size" && p.Type != ParameterInteger:
		say("", "only an integer can set the size")
	case to != "size" && p.Type != ParameterText && p.Type != ParameterChoice:
		say("", "only text or a choice can set the %s", to)
	}
}

func nearestOf[S ~string](written string, all []S) string {
	if n := humanize.Nearest(written, texts(all)); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

func joinAll[S ~string](all []S) string { return strings.Join(texts(all), ", ") }

func texts[S ~string](all []S) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = string(s)
	}
	return out
}
