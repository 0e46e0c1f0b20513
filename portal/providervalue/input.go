package providervalue

import (
	"strconv"

	"muster/app/family"
	"muster/app/providervalue"
)

// Input is a field of a form that asks for a provider value.
type Input struct {
	providervalue.Field
	Name  string // of the form's field
	Value string // as typed; "" of a sensitive one, which is never sent back
	Kept  bool   // a value is set that isn't shown
}

func (i Input) lines() bool { return i.Type == family.FieldLines }

// choices are the values to choose from; nil for a free one.
func (i Input) choices() []string {
	if i.Type == family.FieldBool {
		return []string{"true", "false"}
	}
	return i.Options
}

// kind is the type of the input element.
func (i Input) kind() string {
	if i.Sensitive {
		return "password"
	}
	return "text"
}

// placeholder is what counts where nothing is entered.
func (i Input) placeholder() string {
	switch {
	case i.Kept:
		return "Set. Leave empty to keep it"
	case i.Sensitive:
		return ""
	}
	return i.Default
}

// empty names the choice of nothing.
func (i Input) empty() string {
	if i.Default != "" {
		return i.Default + " (default)"
	}
	return "Default"
}

func (i Input) maxLength() string { return strconv.Itoa(providervalue.MostBytes) }

// autocomplete keeps browsers from filling in, or keeping, what isn't theirs.
func (i Input) autocomplete() string {
	if i.Sensitive {
		return "new-password"
	}
	return "off"
}
