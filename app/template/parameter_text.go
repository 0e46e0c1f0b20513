package template

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Configures reports whether all that the parameter sets is configuration, so that it can be changed when the cluster is.
func (p Parameter) Configures() bool {
	return !slices.ContainsFunc(p.Targets(), func(to string) bool { return !strings.HasPrefix(to, "config.") })
}

// Written is the inverse of laid: a value of the configuration as people write it; nil where there is none, or no such parameter could
// have set it.
func (p Parameter) Written(v any) any {
	if v == nil {
		return nil
	}
	if standard, wrong := p.Read(p.Default); standard != nil && wrong == "" && SameValue(p.Laid(standard), v) {
		return standard
	}
	switch p.Type {
	case ParameterSize:
		v = inUnits(v, sizeUnits[cmp.Or(p.Unit, "B")], 1, []string{"T", "G", "M", "K"}, sizeUnits, "")
	case ParameterDuration:
		v = inUnits(v, durationUnits[cmp.Or(p.Unit, "s")], 0.001, []string{"d", "h", "m", "s"}, durationUnits, "ms")
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

// ParameterValueText is a value of a parameter as it is in a form; "" for none. Numbers have no exponents, which whole numbers are
// not read with.
func ParameterValueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
