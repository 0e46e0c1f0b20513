package cluster

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	appsecret "muster/app/secret"
	"muster/app/template"
)

// Bounds of what is shown of changes.
const (
	MostValueChanges = 500
	mostValueShown   = 200 // bytes of a value
)

// ChangesOf returns the values that differ between two definitions, in order of path.
func ChangesOf(was, is Definition) []app.ValueChange {
	changes := []app.ValueChange{}
	differences("config", was.Config, is.Config, false, &changes)
	for _, name := range slices.Sorted(maps.Keys(is.Services)) {
		if before := was.Services[name]; before != nil {
			changes = append(changes, serviceChanges(template.PathOf("services", name), before, is.Services[name])...)
		}
	}
	slices.SortStableFunc(changes, func(a, b app.ValueChange) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// differences walks two values. Secret tells that a key above looks like that of a secret.
func differences(path string, was, is any, secret bool, out *[]app.ValueChange) {
	a, aMap := was.(map[string]any)
	b, bMap := is.(map[string]any)
	if (aMap || was == nil) && (bMap || is == nil) && (aMap || bMap) {
		keys := maps.Clone(a)
		if keys == nil {
			keys = map[string]any{}
		}
		maps.Copy(keys, b)
		if len(keys) == 0 && aMap != bMap {
			*out = append(*out, app.ValueChange{Path: path, Before: shown(was, aMap, secret), After: shown(is, bMap, secret)})
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			x, had := a[k]
			y, has := b[k]
			if had && has && template.SameValue(x, y) {
				continue
			}
			if secret := secret || appsecret.SecretKeyPattern.MatchString(k); had && has || isMap(x) || isMap(y) {
				differences(template.PathOf(path, k), x, y, secret, out)
			} else {
				*out = append(*out, app.ValueChange{Path: template.PathOf(path, k), Before: shown(x, had, secret), After: shown(y, has, secret)})
			}
		}
		return
	}
	*out = append(*out, app.ValueChange{Path: path, Before: shown(was, true, secret), After: shown(is, true, secret)})
}

func isMap(v any) bool {
	_, is := v.(map[string]any)
	return is
}

// shown writes a value for people, or hides it. A reference to a secret is none itself.
func shown(v any, there, secret bool) string {
	if !there {
		return ""
	}
	text, isText := v.(string)
	if !isText {
		b, err := json.Marshal(Concealed(v))
		if err != nil {
			return appsecret.HiddenValue
		}
		text = string(b)
	}
	switch {
	case app.SecretReference.ReplaceAllString(text, "") == "" && text != "":
		return text
	case secret || appsecret.SecretTextPattern.MatchString(text):
		return appsecret.HiddenValue
	}
	return humanize.CutText(text, mostValueShown)
}

// Concealed hides within a list or map what may be secret.
func Concealed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			if appsecret.SecretKeyPattern.MatchString(k) {
				x = appsecret.HiddenValue
			}
			out[k] = Concealed(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = Concealed(x)
		}
		return out
	case string:
		if appsecret.SecretTextPattern.MatchString(v) {
			return appsecret.HiddenValue
		}
	}
	return v
}

// HidesValue reports whether a value is or contains HiddenValue.
func HidesValue(v any) bool {
	switch v := v.(type) {
	case string:
		return v == appsecret.HiddenValue
	case []any:
		for _, x := range v {
			if HidesValue(x) {
				return true
			}
		}
	case map[string]any:
		for _, x := range v {
			if HidesValue(x) {
				return true
			}
		}
	}
	return false
}

// serviceChanges says which parts of a service's entry are others; what they say is the catalog's to show.
func serviceChanges(path string, was, is *template.Service) (changes []app.ValueChange) {
	note := func(part string, had, has, same bool) {
		switch {
		case had && !has:
			changes = append(changes, app.ValueChange{Path: path + "." + part, Before: "there", After: "removed"})
		case !had && has:
			changes = append(changes, app.ValueChange{Path: path + "." + part, After: "added"})
		case had && has && !same:
			changes = append(changes, app.ValueChange{Path: path + "." + part, Before: "there", After: "changed"})
		}
	}
	for _, a := range template.ServiceActions {
		x, y := was.Actions[a], is.Actions[a]
		note(string(a), x != nil, y != nil, template.WrittenAlike(x, y))
	}
	note("health", was.Health != nil, is.Health != nil, template.WrittenAlike(was.Health, is.Health))
	for _, p := range []struct {
		part    string
		was, is any
	}{{"provides", was.Provides, is.Provides}, {"conflicts", was.Conflicts, is.Conflicts}, {"dependencies", [2]template.Dependencies{was.Install, was.Runtime}, [2]template.Dependencies{is.Install, is.Runtime}},
		{"reads", was.Reads, is.Reads}, {"needs", was.Needs, is.Needs}, {"links", was.Links, is.Links}} {
		note(p.part, true, true, template.WrittenAlike(p.was, p.is))
	}
	return changes
}
