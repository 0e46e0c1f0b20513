package providers

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// checkUserFields refuses settings that users must not set: those that say where the installation's credentials go, and unknown ones. The
// error's field is fields.<index>.
func checkUserFields(spec template.ProviderSpec, m registration) error {
	if len(spec.Fields) > template.MostProviderFields {
		return app.Errorf(app.EInvalid, "provider %q has %d fields; the most is %d", spec.Name, len(spec.Fields), template.MostProviderFields)
	}
	seen := map[string]bool{}
	for i, u := range spec.Fields {
		at := "fields." + strconv.Itoa(i)
		refuse := func(format string, args ...any) error {
			e := app.Errorf(app.EInvalid, format, args...)
			e.Field = at
			return e
		}
		n := slices.IndexFunc(m.Descriptor.Fields, func(f family.Field) bool { return f.Name == u.Name })
		if n < 0 {
			e := app.Errorf(app.EInvalid, "accounts of type %s have no setting %q", spec.Type, u.Name)
			var names []string
			for _, f := range m.Descriptor.Fields {
				names = append(names, f.Name)
			}
			e.Field, e.Hint = at, humanize.Suggest(u.Name, names)
			return e
		}
		f := m.Descriptor.Fields[n]
		switch {
		case seen[u.Name]:
			return refuse("setting %s is named twice", u.Name)
		case u.Override && f.Grants:
			e := app.Errorf(app.EForbidden, "users can't set %s, because machines get rights in the account from it", u.Name)
			e.Field, e.Reason, e.Hint = at, "grants_rights", "Remove override: true, and set it in settings or in extra of hardware."
			return e
		case u.Override && !f.MaySet(false, true):
			e := app.Errorf(app.EForbidden, "users can't set %s, which only the installation can set", u.Name)
			e.Field, e.Reason = at, "installation_only"
			e.Hint = "Remove override: true. The setting says where credentials are sent, or names something on Muster's own hosts."
			return e
		case u.Override && m.Descriptor.Host:
			return refuse("users can't set anything of accounts of type %s: their machines are on Muster's own hosts", spec.Type)
		case u.Type != "" && !slices.Contains(family.FieldTypes, family.FieldType(u.Type)):
			return refuse("setting %s has the unknown type %.50q", u.Name, u.Type)
		case u.Default != "" && (u.Sensitive || f.Secret):
			return refuse("setting %s is sensitive, so it can't have a default here", u.Name)
		case u.Required && !u.Override:
			return refuse("setting %s is required of users, who can't set it: add override: true", u.Name)
		case u.Min != nil && u.Max != nil && *u.Min > *u.Max:
			return refuse("setting %s has a minimum of %d, which is more than its maximum of %d", u.Name, *u.Min, *u.Max)
		case len(u.Pattern) > 500:
			return refuse("the pattern of setting %s has more than 500 characters", u.Name)
		}
		if _, err := regexp.Compile(u.Pattern); err != nil {
			return refuse("the pattern of setting %s isn't a regular expression: %v", u.Name, err)
		}
		seen[u.Name] = true
	}
	return nil
}

// checkUserValues refuses an account with users' values that would act as someone else than its users: what only the installation may set, and
// credentials of which a part is missing.
func checkUserValues(spec template.ProviderSpec, m registration) error {
	if spec.Own == nil {
		return nil
	}
	for _, f := range m.Descriptor.Fields {
		if slices.Contains(spec.Own.Names, f.Name) && !f.UserMaySet() {
			return family.OnlyInstallation("settings."+f.Name, fmt.Sprintf("the cluster's account at provider %q", spec.Name), f.Name)
		}
	}
	if !spec.Own.Credentials {
		return nil
	}
	for _, f := range m.Descriptor.Fields {
		if f.Identity && !family.IsSet(spec.Settings[f.Name]) {
			e := app.Errorf(app.EForbidden, "%s is missing: the cluster uses its own credentials, so it needs all of them", f.Name)
			e.Reason, e.Field, e.Hint = "own_credentials", "settings."+f.Name, "Set it too. The provider's own credentials aren't combined with yours."
			return e
		}
	}
	if m.CheckOwn != nil {
		return m.CheckOwn(spec.Settings)
	}
	return nil
}
