package providers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// Check validates a spec against its member's descriptor without opening anything. The error is an *app.Error EInvalid
// whose Field is "type" or "settings.<name>" and whose Hint returns the nearest name that exists. Values of settings never
// stand in the message where their field is secret.
func Check(spec template.ProviderSpec) error {
	m, ok := lookUp(spec.Type)
	if err := Removed(spec.Type); err != nil {
		e := *app.AsError(err)
		e.Message, e.Field = fmt.Sprintf("provider %q has type %s, but %s", spec.Name, spec.Type, e.Message), "type"
		return &e
	}
	if !ok && slices.Contains(LeftOut, spec.Type) {
		e := app.Errorf(app.EInvalid, "provider %q has type %s, which this small build of Muster doesn't include", spec.Name, spec.Type)
		e.Field, e.Hint = "type", family.FullBuildHint
		return e
	}
	if !ok {
		e := app.Errorf(app.EInvalid, "provider %q has the unknown type %q", spec.Name, spec.Type)
		e.Field = "type"
		e.Hint = humanize.Suggest(spec.Type, Names())
		return e
	}
	fields := make(map[string]family.Field, len(m.Descriptor.Fields))
	for _, f := range m.Descriptor.Fields {
		fields[f.Name] = f
	}
	for _, key := range slices.Sorted(maps.Keys(spec.Settings)) {
		f, ok := fields[key]
		if !ok {
			e := invalid(key, "provider %q of type %s has no setting %q", spec.Name, spec.Type, key)
			e.Hint = humanize.Suggest(key, slices.Sorted(maps.Keys(fields)))
			return e
		}
		if err := checkValue(spec.Name, f, spec.Settings[key]); err != nil {
			return err
		}
	}
	for _, f := range m.Descriptor.Fields {
		if v, ok := spec.Settings[f.Name]; f.Required && (!ok || v == nil || v == "") && !spec.LeavesOpen(f.Name) {
			return invalid(f.Name, "provider %q requires the setting %q (%s)", spec.Name, f.Name, f.Label)
		}
	}
	if err := checkResources(spec, m); err != nil {
		return err
	}
	if err := checkUserFields(spec, m); err != nil {
		return err
	}
	if spec.Untrusted {
		if err := checkOwn(spec, m); err != nil {
			return err
		}
	}
	if err := checkUserValues(spec, m); err != nil {
		return err
	}
	if m.Check != nil {
		if err := m.Check(spec.Settings); err != nil && !spec.LeavesOpen(strings.TrimPrefix(app.AsError(err).Field, "settings.")) {
			return err
		}
	}
	return nil
}

// checkResources refuses resources in an entry: clusters keep the version that their users named, and a provider has none.
func checkResources(spec template.ProviderSpec, m registration) error {
	for _, f := range m.Descriptor.Fields {
		if f.Resource == "" || !family.IsSet(spec.Settings[f.Name]) || spec.Own != nil && slices.Contains(spec.Own.Names, f.Name) {
			continue
		}
		e := invalid(f.Name, "provider %q can't name a resource in its settings", spec.Name)
		e.Hint = "Set " + f.Resource + ", or let users name one: add {name: " + f.Name + ", override: true} to fields."
		return e
	}
	return nil
}

// checkOwn refuses what only the installation may set, and an account without credentials of its own: it would be opened as the host that
// Muster runs on. The error is an *app.Error, EForbidden.
func checkOwn(spec template.ProviderSpec, m registration) error {
	for _, f := range m.Descriptor.Fields {
		if family.IsSet(spec.Settings[f.Name]) && !f.MaySet(false, true) {
			return family.OnlyInstallation("settings."+f.Name, fmt.Sprintf("provider %q", spec.Name), f.Name)
		}
	}
	for _, f := range m.Descriptor.Fields {
		if f.Identity && !family.IsSet(spec.Settings[f.Name]) && !spec.LeavesOpen(f.Name) {
			e := app.Errorf(app.EForbidden, "provider %q requires %s: a tenant's account needs its own credentials", spec.Name, f.Name)
			e.Reason, e.Field = "own_credentials", "settings."+f.Name
			e.Hint = "Save the credentials as a secret, and enter ${secret:NAME}."
			return e
		}
	}
	if m.CheckOwn != nil {
		return m.CheckOwn(spec.Settings)
	}
	return nil
}

// saidOnce is what an image may say whatever its provider: what machines of it are held to once they stand.
var saidOnce = []string{"os", "os_version", "firewall"}

// CheckExtra looks at what a hardware type, or an image type, says for accounts of a type beside the flavor or the image. The error is an
// *app.Error EInvalid whose Field is extra.<name> and whose Hint returns the nearest name that exists. Types that declare nothing take anything,
// and heed none of it.
func CheckExtra(typ string, image bool, extra map[string]string) error {
	fields := memberOf(typ).Descriptor.FlavorFields
	if image {
		fields = memberOf(typ).Descriptor.ImageFields
	}
	if len(fields) == 0 {
		return nil
	}
	known := make(map[string]family.Field, len(fields))
	for _, f := range fields {
		known[f.Name] = f
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		f, ok := known[key]
		if !ok && image && slices.Contains(saidOnce, key) {
			continue
		}
		if !ok {
			e := app.Errorf(app.EInvalid, "accounts of type %s have no setting %q here", typ, key)
			e.Field = "extra." + key
			e.Hint = humanize.Suggest(key, slices.Sorted(maps.Keys(known)))
			return e
		}
		if err := checkValue(typ, f, extra[key]); err != nil {
			e := *app.AsError(err)
			e.Field = "extra." + key
			return &e
		}
	}
	return nil
}

// Finding says of an account that cannot be opened, or asked, why.
func Finding(err error) family.Finding {
	e := app.AsError(err)
	f := family.Finding{About: family.AboutSettings, Subject: e.Field, Code: e.Code, Message: e.ForPeople(), Hint: e.Hint}
	switch e.Code {
	case app.ECredentials:
		f.About = family.AboutCredentials
	case app.ETransient, app.ETimeout, app.ERateLimit:
		f.About = family.AboutNetwork
		if f.Hint == "" {
			f.Hint = "Check again in a while. If it still fails, check that this server can reach the provider's address."
		}
	case app.EInternal:
		f.Message = err.Error()
	}
	return f
}

// checkValue wants a scalar of the field's type.
func checkValue(provider string, f family.Field, value any) error {
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
		e := invalid(f.Name, "setting %q of provider %q must be a single value, not %s", f.Name, provider, kind(value))
		if f.Kind() == family.FieldList {
			e.Hint = "Enter one text, with the parts separated by commas."
		}
		return e
	}
	if wrong := f.Check(text); wrong != nil {
		e := invalid(f.Name, "setting %q of provider %q%s", f.Name, provider, strings.TrimPrefix(wrong.Message, f.Name))
		e.Hint = wrong.Hint
		return e
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
