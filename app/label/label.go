package label

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/app"
)

// Limits of what describes a cluster. All labels together fit into what each provider takes as tags of a machine.
const (
	MaxLabels      = 20
	MaxKey         = 63
	MaxValue       = 63   // characters
	maxBytes       = 2000 // keys and values together
	MaxDescription = 500  // characters
	maxChange      = 2 * MaxLabels
)

// keyForm is a key that every provider takes as it is.
var keyForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// reserved are beginnings of keys: Muster's own tags, and those that clouds keep for themselves.
var reserved = []string{"muster", "goog", "aws", "triton"}

// valueMarks may be in a value beside letters, digits and spaces: those that tags of AWS may have.
const valueMarks = "+-=._:/@"

// Labels are a cluster's, by key.
type Labels = map[string]string

func invalid(field, hint, format string, args ...any) error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field, e.Hint = field, hint
	return e
}

// CheckKey refuses what can't be the key of a label.
func CheckKey(key string) error {
	if !keyForm.MatchString(key) {
		return invalid("labels", "Use lowercase letters, digits, - and _, starting with a letter, such as cost-centre (at most 63 characters).",
			"Invalid label key %.70q.", key)
	}
	for _, begin := range reserved {
		if strings.HasPrefix(key, begin) {
			return invalid("labels", "Choose a key that doesn't start with "+begin+".", "Label key %q is reserved.", key)
		}
	}
	return nil
}

func checkValue(key, value string) error {
	if value == "" {
		return invalid("labels", "Enter a value, as in "+key+"=value, or remove the label.", "Label %q has no value.", key)
	}
	if len(value) > 4*MaxValue || utf8.RuneCountInString(value) > MaxValue {
		return invalid("labels", fmt.Sprintf("Shorten it to %d characters.", MaxValue), "The value of label %q is too long.", key)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return !inValue(r) }) || strings.TrimSpace(value) != value {
		return invalid("labels", "Use letters, digits, spaces and "+valueMarks+", without spaces at the ends.", "Invalid value of label %q.", key)
	}
	return nil
}

// Value writes a text as a value can be: cut, and with _ for what no value has.
func Value(text string) string {
	runes := []rune(strings.TrimSpace(text))
	runes = runes[:min(len(runes), MaxValue)]
	for i, r := range runes {
		if !inValue(r) {
			runes[i] = '_'
		}
	}
	return strings.TrimSpace(string(runes))
}

func inValue(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ' || strings.ContainsRune(valueMarks, r))
}

// Check holds labels to their form and number.
func Check(labels Labels) error {
	if len(labels) > MaxLabels {
		return invalid("labels", fmt.Sprintf("Remove some: at most %d are allowed.", MaxLabels), "Too many labels: %d.", len(labels))
	}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if err := CheckKey(key); err != nil {
			return err
		}
		if err := checkValue(key, labels[key]); err != nil {
			return err
		}
		size += len(key) + len(labels[key])
	}
	if size > maxBytes {
		return invalid("labels", "Shorten or remove some.", "The labels are too long: %d bytes, at most %d allowed.", size, maxBytes)
	}
	return nil
}

// CheckDescription holds a description to its length, and to what can be shown. Lines may be broken.
func CheckDescription(text string) error {
	if len(text) > 4*MaxDescription || utf8.RuneCountInString(text) > MaxDescription {
		return invalid("description", fmt.Sprintf("Shorten it to %d characters.", MaxDescription), "The description is too long.")
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }) {
		return invalid("description", "Use plain text.", "The description contains control characters.")
	}
	return nil
}

// Parse reads KEY=VALUE texts, such as lines of a form. Blank ones are passed over, and spaces around keys and values.
func Parse(texts []string) (Labels, error) {
	var out Labels
	for _, text := range texts {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if len(out) == maxChange {
			return nil, invalid("labels", fmt.Sprintf("Remove some: at most %d are allowed.", MaxLabels), "Too many labels.")
		}
		key, value, ok := strings.Cut(text, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok {
			return nil, invalid("labels", "Write each label as key=value.", "Label %.70q has no value.", text)
		}
		if _, twice := out[key]; twice {
			return nil, invalid("labels", "Remove one of them.", "Label %.70q is given twice.", key)
		}
		if out == nil {
			out = Labels{}
		}
		out[key] = value
	}
	return out, nil
}

// Texts writes labels as Parse reads them, by key.
func Texts(labels Labels) []string {
	out := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return out
}

// Selector asks for clusters with a label: KEY=VALUE, or KEY for any value.
func Selector(text string) (app.LabelSelector, error) {
	key, value, exact := strings.Cut(strings.TrimSpace(text), "=")
	s := app.LabelSelector{Key: strings.TrimSpace(key), Value: strings.TrimSpace(value)}
	err := CheckKey(s.Key)
	if err == nil && exact {
		err = checkValue(s.Key, s.Value)
	}
	if err != nil {
		e := app.AsError(err)
		return s, &app.Error{Code: e.Code, Field: "label", Message: e.Message, Hint: "Use key=value, or a key alone for any value, such as cost-centre=4711."}
	}
	return s, nil
}

// Selectors reads several, all of which have to hold.
func Selectors(texts []string) (list []app.LabelSelector, err error) {
	for _, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if len(list) == MaxLabels {
			return nil, invalid("label", "Filter by fewer labels.", "Too many labels: at most %d allowed.", MaxLabels)
		}
		s, err := Selector(text)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}
