package template

import (
	"fmt"
	"strconv"
	"strings"

	"muster/app/template"
	"muster/portal/page"
)

// ParameterField is a parameter's form field with its value.
type ParameterField struct {
	template.Parameter
	Value  string // as typed; "true" for a checked checkbox
	Prefix string // name prefix, if a page has several forms
	Secret bool   // input is hidden
}

// Field is the field's name, without dots, since it's also its id.
func (f ParameterField) Field() string { return f.Prefix + "set-" + f.Name }

// standard is the default as a form value.
func (f ParameterField) standard() string {
	switch {
	case f.Default != nil:
		return fmt.Sprint(f.Default)
	case f.Type == template.ParameterBoolean:
		return "false"
	}
	return ""
}

// Typed reports whether the value differs from the default.
func (f ParameterField) Typed() bool { return f.Shared() != f.standard() }

// Shared is the value in a link.
func (f ParameterField) Shared() string {
	if f.Type == template.ParameterBoolean && f.Value == "" {
		return "false"
	}
	return f.Value
}

// origin says where the value comes from; "" without one.
func (f ParameterField) origin() string {
	switch {
	case f.Secret:
		return ""
	case f.Typed() && f.Default != nil && len(f.standard()) <= 40:
		return "custom; default " + f.standard()
	case f.Typed():
		return "custom"
	case f.Default != nil:
		return "default"
	}
	return ""
}

func (f ParameterField) DescribedBy() string { return "hint-" + f.Field() + " err-" + f.Field() }

// HintText is the template's help and the allowed values.
func (f ParameterField) HintText() string {
	switch {
	case f.Type == template.ParameterBoolean, f.Type == template.ParameterChoice, f.Type == template.ParameterText && f.Min == "" && f.Max == "" && f.Pattern == "" && f.Help != "":
		return f.Help
	case f.Help == "":
		return f.Hint()
	}
	return f.Help + " " + f.Hint()
}

// AllowedText is the help and the allowed values, also where the form shows them as options.
func (f ParameterField) AllowedText() string {
	return strings.TrimSpace(f.Help + " " + f.Hint())
}

func (f ParameterField) inputType() string {
	if f.Secret {
		return "password"
	}
	return "text"
}

func (f ParameterField) inputMode() string {
	switch f.Type {
	case template.ParameterInteger:
		return "numeric"
	case template.ParameterNumber:
		return "decimal"
	}
	return "text"
}

func (f ParameterField) maxLength() string {
	if f.Type == template.ParameterText {
		if n, err := strconv.Atoi(f.Max); err == nil {
			return strconv.Itoa(2 * n) // longer text gets an error and isn't cut off
		}
		return "4096"
	}
	return "40"
}

// Choices are the options, with an empty one if the parameter is optional.
func (f ParameterField) Choices() []page.Choice {
	var out []page.Choice
	if f.Value == "" && f.Default == nil || !f.Required && f.Default == nil {
		out = append(out, page.Choice{Label: "–", Chosen: f.Value == ""})
	}
	for _, o := range f.Options {
		out = append(out, page.Choice{Value: o.Value, Label: o.Title(), Chosen: o.Value == f.Value})
	}
	return out
}
