package app

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Configures tells whether all that the parameter sets is configuration, so that it can be changed when the cluster stands.
func (p Parameter) Configures() bool {
	return !slices.ContainsFunc(p.Targets(), func(to string) bool { return !strings.HasPrefix(to, "config.") })
}

// PresentParameters gives the values that the parameters of the configuration have by now, by name, as people write them: those that
// were given, and else what the configuration says. Those that are nowhere said are left out. Of a template that the actor does not
// see, or that is gone, only what was given is known. What may be secret is HiddenValue.
func (d Definition) PresentParameters(t *Template) map[string]any {
	out := map[string]any{}
	if t == nil {
		for name, v := range d.Parameters {
			out[name] = v
		}
		return Concealed(out).(map[string]any)
	}
	for _, p := range t.Parameters {
		if !p.Configures() {
			continue
		}
		keys := KeysOf(t.Defaults.Config, strings.TrimPrefix(p.Targets()[0], "config."))
		v := d.Parameters[p.Name]
		if v == nil {
			v = p.written(ValueAt(d.Config, keys))
		}
		switch {
		case v == nil:
		case SecretKey.MatchString(keys[len(keys)-1]):
			out[p.Name] = HiddenValue
		default:
			out[p.Name] = v
		}
	}
	return Concealed(out).(map[string]any)
}

// written is the inverse of laid: a value of the configuration as people write it; nil where there is none, or no such parameter could
// have set it.
func (p Parameter) written(v any) any {
	if v == nil {
		return nil
	}
	if standard, wrong := p.Read(p.Default); standard != nil && wrong == "" && SameValue(p.laid(standard), v) {
		return standard
	}
	switch p.Type {
	case ParameterSize:
		v = inUnits(v, sizeUnits[FirstOf(p.Unit, "B")], 1, []string{"T", "G", "M", "K"}, sizeUnits, "")
	case ParameterDuration:
		v = inUnits(v, durationUnits[FirstOf(p.Unit, "s")], 0.001, []string{"d", "h", "m", "s"}, durationUnits, "ms")
	}
	// Limits may have changed since it was set: what is there is said all the same.
	p.Min, p.Max, p.Pattern = "", "", ""
	kept, wrong := p.Read(v)
	if wrong != "" {
		return nil
	}
	return kept
}

// inUnits writes so many pieces in the greatest unit of which it is a whole number; nil for what is no such number.
func inUnits(v any, piece, least float64, names []string, units map[string]float64, smallest string) any {
	text, ok := numberOf(v)
	n, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil || n < 0 {
		return nil
	}
	n = math.Round(n * piece / least)
	for _, name := range names {
		if per := math.Round(units[name] / least); n > 0 && math.Mod(n, per) == 0 {
			return strconv.FormatFloat(n/per, 'f', -1, 64) + name
		}
	}
	if n == 0 {
		return "0"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + smallest
}
