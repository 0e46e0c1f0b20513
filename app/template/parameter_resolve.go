package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// Resolved is what parameters come to.
type Resolved struct {
	// Given are the values that were given, as they were; what the template sets by default is not among them, so that a later
	// version of the template may set something else.
	Given map[string]any
	// Values are all that count, defaults among them, as people write them.
	Values map[string]any
	Config map[string]any // to be laid over the template's; nil for nothing

	Provider, Hardware, Image, DNSSuffix string
	Size                                 int
}

// Resolve checks values of the template's parameters and says what they set. The error is an *Error, EInvalid, with the Field
// "parameters.NAME" of the first that is wrong; Complaints has all of them.
func (t *Template) Resolve(given map[string]any) (Resolved, error) {
	s, wrong := t.resolve(given)
	if len(wrong) > 0 {
		return Resolved{}, wrong[0]
	}
	return s, nil
}

// Complaints returns all that is wrong with values of the template's parameters, in their order; unknown ones come last.
func (t *Template) Complaints(given map[string]any) []*app.Error {
	_, wrong := t.resolve(given)
	return wrong
}

func (t *Template) resolve(given map[string]any) (s Resolved, wrong []*app.Error) {
	s.Given, s.Values = map[string]any{}, map[string]any{}
	known := map[string]bool{}
	for _, p := range t.Parameters {
		known[p.Name] = true
		v, err := p.Value(given[p.Name])
		if err != nil {
			wrong = append(wrong, app.AsError(err))
			continue
		}
		if v != nil {
			s.Given[p.Name] = v
		} else if v, _ = p.Read(p.Default); v == nil {
			if p.Required {
				wrong = append(wrong, &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "parameters." + p.Name,
					Message: fmt.Sprintf("%s is required by template %s.", p.Title(), t.Name), Hint: p.Hint()})
			}
			continue
		}
		s.Values[p.Name] = v
		s.Lay(p, v, t.Defaults.Config)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			wrong = append(wrong, t.UnknownParameter(name))
		}
	}
	return s, wrong
}

func (t *Template) UnknownParameter(name string) *app.Error {
	e := &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "parameters." + quotedName(name), Message: fmt.Sprintf("Template %s has no parameter %.70q.", t.Name, name)}
	var names []string
	for _, p := range t.Parameters {
		names = append(names, p.Name)
	}
	switch near := humanize.Nearest(name, names); {
	case near != "":
		e.Hint = fmt.Sprintf("Did you mean %s?", near)
	case len(names) == 0:
		e.Hint = "The template has no parameters."
	default:
		e.Hint = "It has " + strings.Join(names, ", ") + "."
	}
	return e
}

// quotedName keeps a field's name short and plain.
func quotedName(name string) string {
	if parameterName.MatchString(name) {
		return name
	}
	return "?"
}

// Lay notes what a value sets. Base is the configuration that it is laid over.
func (s *Resolved) Lay(p Parameter, v any, base map[string]any) {
	v = p.Laid(v)
	text, _ := v.(string)
	for _, to := range p.Targets() {
		switch to {
		case "provider":
			s.Provider = text
		case "hardware":
			s.Hardware = text
		case "image":
			s.Image = text
		case "dns_suffix":
			s.DNSSuffix = text
		case "size":
			s.Size, _ = v.(int)
		default:
			if s.Config == nil {
				s.Config = map[string]any{}
			}
			SetAt(s.Config, KeysOf(base, strings.TrimPrefix(to, "config.")), v)
		}
	}
}

// KeysOf takes a path apart at its dots; where the configuration has a key with dots in it that fits, that key stays whole.
func KeysOf(base map[string]any, path string) (keys []string) {
	for path != "" {
		parts := strings.Split(path, ".")
		n := 1
		for i := len(parts); i > 1; i-- {
			key := strings.Join(parts[:i], ".")
			if _, has := base[key]; has {
				n = i
				break
			}
		}
		key := strings.Join(parts[:n], ".")
		base, _ = base[key].(map[string]any)
		keys, path = append(keys, key), strings.Join(parts[n:], ".")
	}
	return keys
}

func SetAt(m map[string]any, keys []string, v any) {
	for _, k := range keys[:len(keys)-1] {
		deeper, ok := m[k].(map[string]any)
		if !ok {
			deeper = map[string]any{}
			m[k] = deeper
		}
		m = deeper
	}
	m[keys[len(keys)-1]] = v
}

// CheckParameterConfig refuses configuration that says what a parameter says: there would be no telling which counts.
func (t *Template) CheckParameterConfig(config map[string]any) error {
	for _, p := range t.Parameters {
		for _, to := range p.Targets() {
			path, ok := strings.CutPrefix(to, "config.")
			if !ok {
				continue
			}
			if at, said := changedAt(config, nil, path); said {
				return &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "config." + at, Message: fmt.Sprintf("config.%s is set by parameter %s.", at, p.Name),
					Hint: fmt.Sprintf("Use --set %s=…, or set it under parameters.", p.Name)}
			}
		}
	}
	return nil
}
