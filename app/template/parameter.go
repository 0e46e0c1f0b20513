package template

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
)

// ParameterType is what kind of value a parameter takes.
type ParameterType string

// The types. A size is laid into the configuration as a number of bytes, a duration as one of seconds, unless Parameter.Unit
// says otherwise; a choice is laid in as a text.
const (
	ParameterText     ParameterType = "text"
	ParameterNumber   ParameterType = "number"
	ParameterInteger  ParameterType = "integer"
	ParameterBoolean  ParameterType = "boolean"
	ParameterChoice   ParameterType = "choice"
	ParameterSize     ParameterType = "size"     // 512M, 10G: of 1024
	ParameterDuration ParameterType = "duration" // 30s, 10m, 8h, 3d
)

// ParameterTypes are all of them.
var ParameterTypes = []ParameterType{ParameterText, ParameterNumber, ParameterInteger, ParameterBoolean, ParameterChoice, ParameterSize, ParameterDuration}

// Parameter is a value of a template that people set without knowing its configuration. Faces make a form field of it.
type Parameter struct {
	Name     string        `json:"name"`
	Label    string        `json:"label,omitempty"`
	Help     string        `json:"help,omitempty"`
	Type     ParameterType `json:"type"`
	Default  any           `json:"default,omitempty"` // nil: none
	Required bool          `json:"required,omitempty"`
	// Min and Max are the least and the greatest value, as such values are written; of a text, how many letters it has. "" is
	// no limit.
	Min     string            `json:"min,omitempty"`
	Max     string            `json:"max,omitempty"`
	Pattern string            `json:"pattern,omitempty"` // that the whole of a text fits (RE2)
	Options []ParameterOption `json:"options,omitempty"` // of a choice
	// Unit is in what a size (B, K, M, G, T) or a duration (ms, s, m, h, d) is laid into the configuration; "" means B or s.
	Unit string `json:"unit,omitempty"`
	// To says what the value sets: paths of the configuration, as in config.web.port, or one of provider, hardware, image,
	// dns_suffix and size, which count where the request itself does not say them. Empty: config and the name.
	To []string `json:"to,omitempty"`
}

// ParameterOption is one of the values of a choice. Label is shown; the value where it is "".
type ParameterOption struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
}

// Title is what people call the option.
func (o ParameterOption) Title() string { return cmp.Or(o.Label, o.Value) }

// Title is what people call the parameter.
func (p Parameter) Title() string { return cmp.Or(p.Label, p.Name) }

// Targets are what the value sets, never empty.
func (p Parameter) Targets() []string {
	if len(p.To) == 0 {
		return []string{"config." + p.Name}
	}
	return p.To
}

// parameterChoices are the targets of parameters beside paths of the configuration.
var parameterChoices = []string{"provider", "hardware", "image", "dns_suffix", "size"}

// Limits of parameters.
const (
	maxParameters     = 100  // of a template
	maxParameterText  = 4096 // bytes of a value
	parameterNameForm = `^[A-Za-z][A-Za-z0-9_-]{0,63}$`
)

var parameterName = regexp.MustCompile(parameterNameForm)

// Value reads a value in the form in which people, JSON or YAML give it: a text, or a number or truth value as such. It returns
// nil for none: nil, and of all types but text the empty text. The error is EInvalid with Field "parameters.NAME".
func (p Parameter) Value(given any) (any, error) {
	v, wrong := p.Read(given)
	if wrong != "" {
		return nil, &app.Error{Code: app.EInvalid, Reason: "parameter", Field: "parameters." + p.Name, Message: fmt.Sprintf("%s: %s.", p.Title(), wrong), Hint: p.Hint()}
	}
	return v, nil
}

// Read returns the value, or what is wrong with it.
func (p Parameter) Read(given any) (v any, wrong string) {
	if s, ok := given.(string); given == nil || ok && s == "" && p.Type != ParameterText {
		return nil, ""
	}
	switch p.Type {
	case ParameterText:
		s, ok := given.(string)
		if !ok {
			return nil, "must be text"
		}
		return s, p.checkText(s)
	case ParameterChoice:
		s, _ := given.(string)
		if !slices.ContainsFunc(p.Options, func(o ParameterOption) bool { return o.Value == s }) {
			return nil, fmt.Sprintf("%s isn't one of the choices", Quoted(given))
		}
		return s, ""
	case ParameterBoolean:
		switch given {
		case true, "true", "yes", "on":
			return true, ""
		case false, "false", "no", "off":
			return false, ""
		}
		return nil, fmt.Sprintf("%s isn't true or false", Quoted(given))
	}
	n, kept, ok := p.measure(given)
	switch least, most := p.bound(p.Min), p.bound(p.Max); {
	case !ok:
		return nil, fmt.Sprintf("%s isn't %s", Quoted(given), p.Type.noun())
	case least != nil && n < *least:
		return nil, fmt.Sprintf("%s is less than %s", Quoted(given), p.Min)
	case most != nil && n > *most:
		return nil, fmt.Sprintf("%s is more than %s", Quoted(given), p.Max)
	}
	return kept, ""
}

func (p Parameter) checkText(s string) string {
	letters := float64(utf8.RuneCountInString(s))
	least, most := p.bound(p.Min), p.bound(p.Max)
	switch {
	case len(s) > maxParameterText:
		return fmt.Sprintf("longer than %d bytes", maxParameterText)
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return "not valid text"
	case len(app.SecretNames(s)) > 0:
		return "only the catalog can refer to a secret"
	case s == "" && !p.Required:
		return ""
	case s == "":
		return "must not be empty"
	case least != nil && letters < *least:
		return fmt.Sprintf("shorter than %s characters", p.Min)
	case most != nil && letters > *most:
		return fmt.Sprintf("longer than %s characters", p.Max)
	}
	if re, err := p.shape(); err != nil || re != nil && !re.MatchString(s) {
		return fmt.Sprintf("%s doesn't match the required form", Quoted(s))
	}
	return ""
}

// shape is the pattern, made to fit the whole of a text; nil where there is none.
func (p Parameter) shape() (*regexp.Regexp, error) {
	if p.Pattern == "" {
		return nil, nil
	}
	return regexp.Compile(`^(?:` + p.Pattern + `)$`)
}

// Hint says what values are right.
func (p Parameter) Hint() string {
	var words string
	switch p.Type {
	case ParameterChoice:
		var all []string
		for _, o := range p.Options {
			all = append(all, o.Value)
		}
		return "One of: " + strings.Join(all, ", ") + "."
	case ParameterBoolean:
		return "Use true or false."
	case ParameterText:
		words = "text"
		if p.Pattern != "" {
			words = "text matching " + p.Pattern
		}
	default:
		words = p.Type.noun()
	}
	unit := ""
	if p.Type == ParameterText {
		unit = " characters"
	}
	switch {
	case p.Min != "" && p.Max != "":
		words += " from " + p.Min + " to " + p.Max + unit
	case p.Min != "":
		words += " of at least " + p.Min + unit
	case p.Max != "":
		words += " of at most " + p.Max + unit
	}
	return humanize.Upper(words) + "."
}

// Quoted shows what was given, cut short.
func Quoted(given any) string {
	s := fmt.Sprint(given)
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	if _, ok := given.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return s
}
