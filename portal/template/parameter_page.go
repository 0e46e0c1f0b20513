package template

import (
	"fmt"
	"strconv"

	"muster/app/template"
	"muster/portal/page"
)

// ParameterField is the field of a template's parameter in a form, with what was typed.
type ParameterField struct {
	template.Parameter
	Value  string // as it was typed; "true" of a box that is ticked
	Prefix string // of its name, where there are several forms on a page
	Secret bool   // what is typed is not shown
}

// Field is the name of the field. It has no dot, since it is looked for by its id.
func (f ParameterField) Field() string { return f.Prefix + "set-" + f.Name }

// standard is the value where no one says one, as a form has it.
func (f ParameterField) standard() string {
	switch {
	case f.Default != nil:
		return fmt.Sprint(f.Default)
	case f.Type == template.ParameterBoolean:
		return "false"
	}
	return ""
}

// Typed tells whether the value is another than the template's own.
func (f ParameterField) Typed() bool { return f.Shared() != f.standard() }

// Shared is the value as a link carries it.
func (f ParameterField) Shared() string {
	if f.Type == template.ParameterBoolean && f.Value == "" {
		return "false"
	}
	return f.Value
}

// origin says where the value comes from; "" where there is none.
func (f ParameterField) origin() string {
	switch {
	case f.Secret:
		return ""
	case f.Typed() && f.Default != nil && len(f.standard()) <= 40:
		return "yours; default " + f.standard()
	case f.Typed():
		return "yours"
	case f.Default != nil:
		return "default"
	}
	return ""
}

func (f ParameterField) DescribedBy() string { return "hint-" + f.Field() + " err-" + f.Field() }

// HintText is the help that the template returns, and what values are right.
func (f ParameterField) HintText() string {
	switch {
	case f.Type == template.ParameterBoolean, f.Type == template.ParameterChoice, f.Type == template.ParameterText && f.Min == "" && f.Max == "" && f.Pattern == "" && f.Help != "":
		return f.Help
	case f.Help == "":
		return f.Hint()
	}
	return f.Help + " " + f.Hint()
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
			return strconv.Itoa(2 * n) // too long is told, not cut off
		}
		return "4096"
	}
	return "40"
}

// Choices are the options, before them nothing where nothing may be chosen.
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
