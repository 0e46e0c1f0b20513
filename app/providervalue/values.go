package providervalue

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// Values are settings by name. They may be secret, so they print as a placeholder.
type Values map[string]string

// String hides the values.
func (v Values) String() string { return fmt.Sprintf("%d provider values", len(v)) }

// GoString hides the values.
func (v Values) GoString() string { return v.String() }

// Names are the names, sorted.
func (v Values) Names() []string { return slices.Sorted(maps.Keys(v)) }

// Shown are the values with those hidden that no one may see.
func (v Values) Shown(sensitive func(name string) bool) Values {
	out := maps.Clone(v)
	for name := range out {
		if sensitive(name) {
			out[name] = Hidden
		}
	}
	return out
}

// Hidden is shown for a sensitive value that is set.
const Hidden = "set"

// Bounds of values.
const (
	MostBytes      = 64 << 10 // of one value
	mostBytesInAll = 256 << 10
)

// Field is a setting that users may set, as forms show it.
type Field struct {
	Name      string           `json:"name"`
	Label     string           `json:"label"`
	Help      string           `json:"help,omitempty"`
	Type      family.FieldType `json:"type"`
	Default   string           `json:"default,omitempty"` // what counts where it isn't set; "" where that is sensitive or unknown
	Required  bool             `json:"required,omitempty"`
	Sensitive bool             `json:"sensitive,omitempty"`
	Options   []string         `json:"options,omitempty"`

	pattern  string
	min, max *int
	of       family.Field
}

// FieldsOf are the settings of a provider that users may set, in the order of the catalog.
func FieldsOf(spec *template.ProviderSpec, d family.Descriptor) (fields []Field) {
	if spec == nil {
		return nil
	}
	for _, u := range spec.Fields {
		i := slices.IndexFunc(d.Fields, func(f family.Field) bool { return f.Name == u.Name })
		if i < 0 || !u.Override || !d.Fields[i].UserMaySet() || d.Host {
			continue // the catalog's check says so
		}
		of := d.Fields[i]
		f := Field{Name: u.Name, Label: first(u.Label, of.Label, u.Name), Help: first(u.Help, of.Help),
			Type:     family.FieldType(first(u.Type, string(of.Kind()))),
			Required: u.Required, Sensitive: u.Sensitive || of.Secret, Options: u.Options, pattern: u.Pattern, min: u.Min, max: u.Max, of: of}
		if f.Options == nil {
			f.Options = of.Options
		}
		if len(f.Options) > 0 {
			f.Type = family.FieldChoice
		}
		if !f.Sensitive {
			if v, set := spec.Settings[u.Name]; set && v != nil && !strings.Contains(fmt.Sprint(v), "${") {
				f.Default = fmt.Sprint(v)
			}
		}
		fields = append(fields, f)
	}
	return fields
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// Clean takes out values that are empty, which count as not set.
func (v Values) Clean() Values {
	out := Values{}
	for name, text := range v {
		if strings.TrimSpace(text) != "" {
			out[name] = text
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Check holds values to what a provider lets users set. The error is EInvalid with the field provider_values.<name>. Values never stand in it where
// they are sensitive.
func Check(provider string, fields []Field, values Values) error {
	if len(fields) == 0 && len(values) > 0 {
		return &app.Error{Code: app.EInvalid, Field: "provider_values." + values.Names()[0],
			Message: fmt.Sprintf("Provider %s has no settings that you can set.", provider),
			Hint:    "Omit provider values, or ask an admin to allow them in the catalog."}
	}
	size := 0
	for _, name := range values.Names() {
		size += len(values[name])
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		if i < 0 {
			e := invalid(name, fmt.Sprintf("Provider %s has no setting %.60q that you can set.", provider, name))
			var names []string
			for _, f := range fields {
				names = append(names, f.Name)
			}
			e.Hint = first(humanize.Suggest(name, names), "You can set: "+strings.Join(names, ", ")+".")
			return e
		}
		if err := fields[i].check(values[name]); err != nil {
			return err
		}
	}
	if size > mostBytesInAll {
		return &app.Error{Code: app.ETooLarge, Field: "provider_values",
			Message: fmt.Sprintf("Provider values can have at most %d KiB in all.", mostBytesInAll>>10)}
	}
	for _, f := range fields {
		if f.Required && values[f.Name] == "" {
			e := invalid(f.Name, fmt.Sprintf("Provider %s needs your value for %s.", provider, f.Name))
			e.Hint = "Set it in the form, with --set-provider " + f.Name + "=VALUE, or with --set-provider-file " + f.Name + "=FILE."
			return e
		}
	}
	return nil
}

func invalid(name, message string) *app.Error {
	return &app.Error{Code: app.EInvalid, Field: "provider_values." + name, Message: message}
}

func (f Field) check(text string) error {
	switch {
	case len(text) > MostBytes:
		return &app.Error{Code: app.ETooLarge, Field: "provider_values." + f.Name, Message: fmt.Sprintf("%s can have at most %d KiB.", f.Name, MostBytes>>10)}
	case !f.of.Literal && strings.Contains(text, "${") || reference.MatchString(text):
		e := invalid(f.Name, f.Name+" can't contain ${.")
		e.Hint = "Enter the value itself: references to secrets or variables aren't resolved."
		return e
	case strings.ContainsRune(text, 0):
		return invalid(f.Name, f.Name+" can't contain a NUL character.")
	}
	of := f.of
	of.Secret = f.Sensitive
	for _, kind := range []family.FieldType{of.Kind(), f.Type} {
		of.Type = kind
		if kind == family.FieldChoice && len(f.Options) > 0 {
			of.Options = f.Options
		}
		if e := of.Check(text); e != nil {
			e.Message, e.Field = humanize.Upper(e.Message)+".", "provider_values."+f.Name
			return e
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); f.min != nil || f.max != nil {
		if err != nil || f.min != nil && n < *f.min || f.max != nil && n > *f.max {
			return invalid(f.Name, f.Name+" must be "+f.bounds()+".")
		}
	}
	if f.pattern != "" {
		if p, err := regexp.Compile(`^(?:` + f.pattern + `)$`); err != nil || !p.MatchString(text) {
			e := invalid(f.Name, f.Name+" doesn't have the form that the provider asks for.")
			e.Hint = first(f.Help, "It must match "+f.pattern+".")
			return e
		}
	}
	return nil
}

// reference is what Muster resolves in catalogs.
var reference = regexp.MustCompile(`\$\{(secret|env):`)

// bounds says which numbers are allowed.
func (f Field) bounds() string {
	switch {
	case f.min != nil && f.max != nil:
		return fmt.Sprintf("a number from %d to %d", *f.min, *f.max)
	case f.min != nil:
		return fmt.Sprintf("a number of at least %d", *f.min)
	}
	return fmt.Sprintf("a number of at most %d", *f.max)
}

// Overlay returns the account that a provider becomes with values. Where the values are credentials, or say where credentials go, none of the provider's
// own credentials are left in it. Settings that a hardware type or an image can set as well leave the account what it is; all others make it the
// cluster's own.
func Overlay(spec template.ProviderSpec, d family.Descriptor, tenant, cluster string, values Values) template.ProviderSpec {
	if len(values) == 0 {
		return spec
	}
	own := &template.ProviderOwn{Names: values.Names()}
	settings := maps.Clone(spec.Settings)
	if settings == nil {
		settings = map[string]any{}
	}
	account := false
	for _, f := range d.Fields {
		if _, set := values[f.Name]; !set {
			continue
		}
		own.Credentials = own.Credentials || f.Credential() || f.Reaches
		account = account || !ofMachines(d, first(f.Resource, f.Name))
	}
	if own.Credentials {
		for _, f := range d.Fields {
			if f.Credential() || f.Acts {
				delete(settings, f.Name)
			}
		}
	}
	for name, text := range values {
		settings[name] = text
	}
	spec.Settings, spec.Own = settings, own
	if account || own.Credentials {
		own.Cluster, spec.Tenant = cluster, tenant
	}
	return spec
}

// ofMachines reports whether a setting is one of single machines.
func ofMachines(d family.Descriptor, name string) bool {
	is := func(f family.Field) bool { return f.Name == name }
	return slices.ContainsFunc(d.FlavorFields, is) || slices.ContainsFunc(d.ImageFields, is)
}
