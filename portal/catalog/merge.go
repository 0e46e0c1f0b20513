package catalog

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app/catalog"
	"muster/portal/page"
)

// typed is a field's value with Unix line ends.
func typed(in url.Values, name string) string {
	return strings.ReplaceAll(in.Get(name), "\r\n", "\n")
}

// catalogChanges returns the form's changes since it was made, and the changed fields. What is emptied comes last and from the end: a row that has nothing
// left is cut, and the rows behind it have other numbers then.
func catalogChanges(f Form, in url.Values) (sets []catalog.Set, fields []*Field) {
	var emptied []catalog.Set
	look := func(x *Field) {
		value := typed(in, x.Name)
		switch {
		case x.Fixed || x.Secret(), !in.Has(x.Name), sameValue(x, value):
			return
		}
		for _, s := range setsOf(x, value, in) {
			if s.Value == nil {
				emptied = append(emptied, s)
			} else {
				sets = append(sets, s)
			}
		}
		changed := *x
		changed.Value = value
		fields = append(fields, &changed)
	}
	for _, s := range f.Sections {
		for _, x := range s.Fields {
			look(x)
		}
		for _, r := range s.Rows {
			for _, x := range r.Fields {
				look(x)
			}
		}
	}
	slices.Reverse(emptied)
	return append(sets, emptied...), fields
}

func sameValue(x *Field, value string) bool {
	switch x.Kind {
	case FieldTick:
		return (value == "true") == (x.Value == "true")
	case FieldSwitch:
		return (value == "true") == x.On()
	case fieldNames, fieldWholes:
		return slices.Equal(splitNames(value), splitNames(x.Value))
	case FieldCode, FieldArea, FieldGroups, FieldLines:
		return strings.TrimRight(value, "\n") == strings.TrimRight(x.Value, "\n")
	case FieldMacros:
		return value == strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(x.Value)
	case FieldSelect:
		return value == x.Value
	}
	return strings.TrimSpace(value) == strings.TrimSpace(x.Value)
}

func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// setsOf converts a field's value to YAML values. Invalid input is kept, so that validation reports it.
func setsOf(x *Field, value string, in url.Values) []catalog.Set {
	if len(x.Path) == 3 && x.Path[0] == "actions" && x.Path[2] == "automator" && x.Line == 0 {
		// A plain script becomes an action in the long form.
		of := x.Path[:2]
		return []catalog.Set{{Path: of, Value: map[string]any{}}, {Path: x.Path, Value: value},
			{Path: append(slices.Clone(of), "fields", "script"), Value: typed(in, fieldName(of))}}
	}
	set := catalog.Set{Path: x.Path}
	if !multiline(x.Kind) {
		value = strings.TrimSpace(value)
	}
	if value == "" || x.Kind == FieldTick && value != "true" || (x.Kind == fieldNames || x.Kind == fieldWholes) && len(splitNames(value)) == 0 {
		return []catalog.Set{set}
	}
	switch x.Kind {
	case FieldTick:
		set.Value = true
	case FieldSwitch:
		set.Value = value == "true"
	case FieldWhole, fieldNumber, fieldScalar:
		set.Value = plainValue(x.Kind, value)
	case fieldNames:
		set.Value = splitNames(value)
	case fieldWholes:
		var list []any
		for _, word := range splitNames(value) {
			list = append(list, plainValue(FieldWhole, word))
		}
		set.Value = list
	case FieldLines:
		set.Value = strings.FieldsFunc(value, func(r rune) bool { return r == '\n' })
	case FieldGroups:
		var groups [][]string
		for _, line := range strings.Split(value, "\n") {
			if names := splitNames(line); len(names) > 0 {
				groups = append(groups, names)
			}
		}
		set.Value = groups
	default:
		if x.Kind == FieldCode && strings.Contains(value, "\n") && !strings.HasSuffix(value, "\n") {
			value += "\n"
		}
		set.Value = value
	}
	return []catalog.Set{set}
}

func multiline(kind string) bool {
	return kind == FieldArea || kind == FieldCode || kind == FieldMacros || kind == FieldGroups || kind == FieldLines
}

// plainValue converts text to a number if it is one; a scalar may also be a boolean.
func plainValue(kind, value string) any {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value {
		return n
	}
	if kind != FieldWhole {
		if x, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) && math.Abs(x) < 1e12 && value[0] != '0' || err == nil && strings.HasPrefix(value, "0.") {
			return x
		}
	}
	if kind == fieldScalar && (value == "true" || value == "false") {
		return value == "true"
	}
	return value
}

// eachField visits all fields with their sections.
func eachField(f *Form, do func(s *Section, x *Field)) {
	for i := range f.Sections {
		s := &f.Sections[i]
		for _, x := range s.Fields {
			do(s, x)
		}
		for _, r := range s.Rows {
			for _, x := range r.Fields {
				do(s, x)
			}
		}
	}
}

// fieldWords describes a problem at its field, whose label says where it is.
func fieldWords(p catalog.Problem) string {
	words := ProblemWords(p)
	for _, between := range []string{": ", " "} {
		if rest, ok := strings.CutPrefix(words, p.Field+between); ok && p.Field != "" {
			return rest
		}
	}
	return words
}

// complain shows problems at their fields, and opens the fields' sections. A problem about a single value of a field takes precedence.
func complain(f *Form, file string, problems []catalog.Problem) {
	problems = slices.Clone(problems)
	slices.SortStableFunc(problems, func(a, b catalog.Problem) int {
		return strings.Count(b.Field, "[") - strings.Count(a.Field, "[")
	})
	for _, p := range problems {
		if p.File != file && p.File != "" {
			continue
		}
		var best *Field
		var in *Section
		long := -1
		eachField(f, func(s *Section, x *Field) {
			place := dotted(x.Path)
			switch {
			case p.Field != "" && (p.Field == place || strings.HasPrefix(p.Field, place+".") || strings.HasPrefix(p.Field, place+"[")):
				if len(place) > long {
					best, in, long = x, s, len(place)
				}
			case p.Field == "" && p.Line > 0 && p.Line == x.Line && long < 0:
				best, in, long = x, s, 0
			}
		})
		if best != nil && best.Complaint.Message == "" {
			best.Complaint = page.Complaint{Message: fieldWords(p), Hint: p.Hint}
			in.Open = true
		}
	}
}
