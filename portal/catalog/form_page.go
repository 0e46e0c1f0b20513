package catalog

import (
	"strconv"
	"strings"

	"muster/app/catalog"
	apptemplate "muster/app/template"
	"muster/portal/page"
	"muster/portal/plan"
	"muster/portal/template"
)

// Form is an entry's form, made from its YAML, the descriptors of providers and automators, and the names in the catalog.
type Form struct {
	Kind     string
	Sections []Section
	Rest     []string // parts of the YAML without a field
	Unread   string   // why the form shows an older version of the YAML; "" if it's current
}

// Section is a section of the form.
type Section struct {
	ID, Title, Help string
	Fields          []*Field
	Hints           []Hint
	Docs            string // page of the documentation about the hints
	Rows            []Row
	Add             *Add
	Open            bool
}

// Hint is something that can be written in a section's fields.
type Hint struct{ Code, Meaning string }

// Row is a list item, such as a hardware type's provider.
type Row struct {
	Title    string
	Fields   []*Field
	Remove   string // button value
	Up, Down string // button values; "" if the row can't move there
}

// Add adds a row. If rows have names, Choices are suggestions.
type Add struct {
	Label, Value string // button label and value
	Field        string // name input; "" if rows have no name
	Choices      []string
	Typed        string // name typed but not added yet
}

// The kinds of fields.
const (
	fieldText   = "text"
	FieldArea   = "area"
	FieldCode   = "code"
	FieldMacros = "macros" // text with macros and references
	fieldNames  = "names"  // names, separated by commas
	FieldGroups = "groups" // one group of names per line
	FieldLines  = "lines"  // one text per line
	FieldWhole  = "whole"
	// fieldWholes are whole numbers, separated by commas.
	fieldWholes = "wholes"
	fieldNumber = "number"
	fieldScalar = "scalar" // text, number or boolean, depending on the value
	FieldTick   = "tick"
	FieldSelect = "select"
	FieldSecret = "secret"
	// FieldSecretLines is a secret of several lines, such as a key.
	FieldSecretLines = "secret-lines"
	// FieldSwitch is on or off; Placeholder ("true" or "false") is its default.
	FieldSwitch = "switch"
)

// Field is a field with its value.
type Field struct {
	Kind        string
	Path        []any
	Name        string // input name
	Label, Help string
	HelpBelow   bool // show the help below the field instead of as the label's tooltip
	Value       string
	Placeholder string
	Choices     []page.Choice
	List        string // id of the list of suggestions
	Complaint   page.Complaint
	Line        int // in the YAML; 0 if missing
	Wide        bool
	Fixed       bool // read-only
}

// ID is the input's id; its complaint has the prefix err-.
func (f *Field) ID() string { return strings.NewReplacer("/", "-", ".", "-").Replace(f.Name) }

func (f *Field) said() bool {
	return f.Value != "" && (f.Kind != FieldTick || f.Value == "true")
}

func (f *Field) showsHelpBelow() bool { return f.HelpBelow && f.Help != "" && !f.Secret() }

func (f *Field) tip() string {
	if f.showsHelpBelow() {
		return ""
	}
	return f.Help
}

// described returns the ids of the field's hint and complaint.
func (f *Field) described() string {
	if f.showsHelpBelow() {
		return "hint-" + f.ID() + " err-" + f.ID()
	}
	return "err-" + f.ID()
}

// Secret reports whether the value is stored as a secret.
func (f *Field) Secret() bool { return f.Kind == FieldSecret || f.Kind == FieldSecretLines }

// On reports whether a switch is on.
func (f *Field) On() bool {
	return f.Value == "true" || f.Value == "" && f.Placeholder == "true"
}

func (f *Field) rows() string {
	n := strings.Count(f.Value, "\n") + 1
	switch {
	case f.Kind == FieldCode && n < 4:
		return "4"
	case n < 2:
		return "2"
	case n > 16:
		return "16"
	}
	return itoa(n)
}

func (f *Field) mode() string {
	switch f.Kind {
	case FieldWhole:
		return "numeric"
	case fieldNumber:
		return "decimal"
	}
	return "text"
}

// input is the input type of a whole number; text if the value isn't one.
func (f *Field) input() string {
	if _, err := strconv.Atoi(f.Value); f.Value != "" && err != nil {
		return "text"
	}
	return "number"
}

// shown is the value for display.
func (f *Field) shown() string {
	if f.Kind == FieldSelect {
		for _, c := range f.Choices {
			if c.Value == f.Value && c.Label != "" {
				return c.Label
			}
		}
	}
	switch f.Kind {
	case FieldTick:
		return "yes"
	case FieldSwitch:
		if f.On() {
			return "yes"
		}
		return "no"
	}
	return f.Value
}

// Edit is the editor.
type Edit struct {
	Kind, Name string // Name is "" for a new one
	Item       catalog.Item
	Copy       string // name of the copied entry
	Text, Base string // the YAML, and the version that the form was made from
	AsOf       string
	Form       Form
	Problems   []catalog.Problem
	Complaint  page.Complaint // about the whole entry
	Notes      []string
	Reference  Reference
	Try        *Try
	Lists      []Names
	Changed    bool // differs from the saved version
}

// New reports whether the entry doesn't exist yet.
func (e Edit) New() bool { return e.Name == "" }

// Path is the form's target.
func (e Edit) Path() string {
	if e.New() {
		return "/admin/catalog/" + e.Kind + "/new"
	}
	return ActPath(apptemplate.CatalogKey{Kind: e.Kind, Name: e.Name}, "edit")
}

func (e Edit) title() string {
	switch {
	case !e.New() && !e.Item.Own:
		return "Override " + e.Name
	case !e.New():
		return e.Name
	}
	return "New " + kindNoun(e.Kind)
}

func kindNoun(kind string) string {
	if kind == apptemplate.KindHardware {
		return "hardware type"
	}
	return kind
}

// Names is a list of suggestions.
type Names struct {
	ID    string
	Names []string
}

// Reference lists the keys available at a place in the YAML.
type Reference struct {
	At   string // the place; "" for the top
	Doc  string
	Keys []KeyDoc
}

// KeyDoc is a key with its documentation.
type KeyDoc struct {
	Key, Doc, Shape string
	Need, Has       bool
}

// Try is the panel for previews with unsaved changes.
type Try struct {
	Template   string
	Templates  []page.Choice // if the entry isn't a template
	Sizes      string
	Provider   []page.Choice
	Parameters []template.ParameterField
	Errors     map[string]page.Complaint
	Results    []Trial
}

// Trial is the preview of one size.
type Trial struct {
	Size        int
	Preview     *plan.Preview
	Explanation *plan.Explanation
	Refused     page.Complaint
}

// shownRest are the listed parts without a field.
func shownRest(all []string) []string { return all[:min(len(all), 12)] }

func secretHint(reference string) string {
	if reference == "" {
		return ""
	}
	return "kept"
}
