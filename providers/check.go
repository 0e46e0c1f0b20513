package providers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
)

// Check validates a spec against its member's descriptor without opening anything. The error is an *app.Error EInvalid
// whose Field is "type" or "settings.<name>" and whose Hint gives the nearest name that exists. Values of settings never
// stand in the message where their field is secret.
func Check(spec app.ProviderSpec) error {
	m, ok := members[spec.Type]
	if !ok {
		e := app.Errorf(app.EInvalid, "provider %q has the unknown type %q", spec.Name, spec.Type)
		e.Field = "type"
		e.Hint = app.Suggest(spec.Type, Names())
		return e
	}
	fields := make(map[string]app.Field, len(m.Descriptor.Fields))
	for _, f := range m.Descriptor.Fields {
		fields[f.Name] = f
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Settings)) {
		f, ok := fields[key]
		if !ok {
			e := invalid(key, "provider %q of type %s has no setting %q", spec.Name, spec.Type, key)
			e.Hint = app.Suggest(key, slices.Sorted(maps.Keys(fields)))
			return e
		}
		if err := checkValue(spec.Name, f, spec.Settings[key]); err != nil {
			return err
		}
	}
	for _, f := range m.Descriptor.Fields {
		if v, ok := spec.Settings[f.Name]; f.Required && (!ok || v == nil || v == "") {
			return invalid(f.Name, "provider %q needs the setting %q (%s)", spec.Name, f.Name, f.Label)
		}
	}
	if m.Check != nil {
		return m.Check(spec.Settings)
	}
	return nil
}

// checkValue wants a scalar; one of the options where there are any; a whole number where the default is one.
func checkValue(provider string, f app.Field, value any) error {
	var text string
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		text = v
	case bool, int, int64, uint64:
		text = fmt.Sprint(v)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return invalid(f.Name, "setting %q of provider %q must be a single value, not %s", f.Name, provider, kind(value))
	}
	shown := strconv.Quote(text)
	if f.Secret {
		shown = "this value"
	}
	if len(f.Options) > 0 && !slices.Contains(f.Options, text) {
		e := invalid(f.Name, "setting %q of provider %q cannot be %s", f.Name, provider, shown)
		e.Hint = "One of: " + strings.Join(f.Options, ", ") + "."
		return e
	}
	if _, err := strconv.Atoi(f.Default); err == nil {
		if _, err := strconv.Atoi(text); err != nil {
			return invalid(f.Name, "setting %q of provider %q must be a whole number, not %s", f.Name, provider, shown)
		}
	}
	return nil
}

func invalid(field, format string, args ...any) *app.Error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field = "settings." + field
	return e
}

func kind(v any) string {
	switch v.(type) {
	case map[string]any, map[any]any:
		return "a mapping"
	case []any, []string:
		return "a list"
	}
	return fmt.Sprintf("a %T", v)
}
