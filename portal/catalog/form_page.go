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

// Form is the form of an entry, made from its text, from what providers and automators say of themselves, and from the names in
// the catalog.
type Form struct {
	Kind     string
	Sections []Section
	Rest     []string // what the text says that has no field
	Unread   string   // why the fields show what an older text said; "" where they are as the text is
}

// Section is a part of the form.
type Section struct {
	ID, Title, Help string
	Fields          []*Field
	Rows            []Row
	Add             *Add
	Open            bool
}

// Row is one of several things alike, such as a provider of a hardware type.
type Row struct {
	Title  string
	Fields []*Field
	Remove string // the button's value
}

// Add is what a row more is made by. Where a row has a name, Choices are the usual ones.
type Add struct {
	Label, Value string // of the button
	Field        string // the input with the name, "" where a row has none
	Choices      []string
	Typed        string // a name that was typed and not added yet
}

// The kinds of fields.
const (
	fieldText   = "text"
	FieldArea   = "area"
	FieldCode   = "code"
	fieldNames  = "names"  // names, separated by commas
	FieldGroups = "groups" // a group of names in each line
	FieldLines  = "lines"  // a text in each line
	FieldWhole  = "whole"
	// fieldWholes are whole numbers, separated by commas.
	fieldWholes = "wholes"
	fieldNumber = "number"
	fieldScalar = "scalar" // a number or a truth value where it looks like one
	FieldTick   = "tick"
	FieldSelect = "select"
	FieldSecret = "secret"
	// FieldSecretLines is a secret of several lines, such as a key.
	FieldSecretLines = "secret-lines"
	// FieldSwitch is on or off, where Placeholder ("true" or "false") is what counts while the text says nothing.
	FieldSwitch = "switch"
)

// Field is a field with what the text says.
type Field struct {
	Kind        string
	Path        []any
	Name        string // of the input
	Label, Help string
	Told        bool // the help stands below the field, for who does not know what it is for; else it appears over the label
	Value       string
	Placeholder string
	Choices     []page.Choice
	List        string // of names to choose from, by the id of the list
	Complaint   page.Complaint
	Line        int // in the text; 0: it is not there
	Wide        bool
	Fixed       bool // it cannot be changed here
}

// ID is that of the input; complaints stand under err- and it.
func (f *Field) ID() string { return strings.NewReplacer("/", "-", ".", "-").Replace(f.Name) }

func (f *Field) said() bool {
	return f.Value != "" && (f.Kind != FieldTick || f.Value == "true")
}

func (f *Field) told() bool { return f.Told && f.Help != "" && !f.Secret() }

func (f *Field) tip() string {
	if f.told() {
		return ""
	}
	return f.Help
}

// described names what is said of the field beside its label.
func (f *Field) described() string {
	if f.told() {
		return "hint-" + f.ID() + " err-" + f.ID()
	}
	return "err-" + f.ID()
}

// Secret tells whether the value is kept as a secret, and not shown again.
func (f *Field) Secret() bool { return f.Kind == FieldSecret || f.Kind == FieldSecretLines }

// On tells whether a switch is on.
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

// input is the type of the input of a whole number. One that would not show what the text says is a text.
func (f *Field) input() string {
	if _, err := strconv.Atoi(f.Value); f.Value != "" && err != nil {
		return "text"
	}
	return "number"
}

// shown is the value for someone who reads.
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
	Kind, Name string // Name is "" of a new one
	Item       catalog.CatalogItem
	Copy       string // what it is a copy of
	Text, Base string // what stands in the text, and what the fields were made of
	AsOf       string
	Form       Form
	Problems   []catalog.CatalogProblem
	Told       page.Complaint // about all of it
	Notes      []string
	Reference  Reference
	Try        *Try
	Lists      []Names
	Changed    bool // it says something else than what is saved
}

// New tells whether there is no such entry yet.
func (e Edit) New() bool { return e.Name == "" }

// Path is where the form goes.
func (e Edit) Path() string {
	if e.New() {
		return "/admin/catalog/" + e.Kind + "/new"
	}
	return ActPath(apptemplate.CatalogKey{Kind: e.Kind, Name: e.Name}, "edit")
}

func (e Edit) title() string {
	switch {
	case !e.New() && !e.Item.Own:
		return "An own " + e.Name
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

// Names is a list of names that fields offer.
type Names struct {
	ID    string
	Names []string
}

// Reference tells what may stand at a place of the text.
type Reference struct {
	At   string // the place, "" is the top
	Doc  string
	Keys []KeyDoc
}

// KeyDoc is a key with what it says.
type KeyDoc struct {
	Key, Doc, Shape string
	Need, Has       bool
}

// Try is the panel in which requests are tried before anything is saved.
type Try struct {
	Template   string
	Templates  []page.Choice // where the entry is no template itself
	Sizes      string
	Provider   []page.Choice
	Parameters []template.ParameterField
	Errors     map[string]page.Complaint
	Results    []Trial
}

// Trial is what would become of a request of one size.
type Trial struct {
	Size        int
	Preview     *plan.Preview
	Explanation *plan.Explanation
	Refused     page.Complaint
}

// shownRest is what is named of what has no field.
func shownRest(all []string) []string { return all[:min(len(all), 12)] }

func secretHint(reference string) string {
	if reference == "" {
		return ""
	}
	return "kept"
}
