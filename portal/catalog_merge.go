package portal

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/portal/page"
)

// typed is what was typed into a field, with line ends as files have them.
func typed(in url.Values, name string) string {
	return strings.ReplaceAll(in.Get(name), "\r\n", "\n")
}

// catalogChanges gives what was changed in the fields since they were made from a text, and the fields that were.
func catalogChanges(f page.CatalogForm, in url.Values) (sets []app.CatalogSet, fields []*page.CatalogField) {
	look := func(x *page.CatalogField) {
		value := typed(in, x.Name)
		switch {
		case x.Fixed || x.Secret(), x.Kind != page.FieldTick && !in.Has(x.Name), sameValue(x, value):
			return
		}
		sets = append(sets, setsOf(x, value, in)...)
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
	return sets, fields
}

func sameValue(x *page.CatalogField, value string) bool {
	switch x.Kind {
	case page.FieldTick:
		return (value == "true") == (x.Value == "true")
	case page.FieldSwitch:
		return (value == "true") == x.On()
	case page.FieldNames, page.FieldWholes:
		return slices.Equal(splitNames(value), splitNames(x.Value))
	case page.FieldCode, page.FieldArea, page.FieldGroups, page.FieldLines:
		return strings.TrimRight(value, "\n") == strings.TrimRight(x.Value, "\n")
	case page.FieldSelect:
		return value == x.Value
	}
	return strings.TrimSpace(value) == strings.TrimSpace(x.Value)
}

func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// setsOf turns what was typed into values of the text. What does not fit the kind of the field is written as it is, and found wrong there.
func setsOf(x *page.CatalogField, value string, in url.Values) []app.CatalogSet {
	if len(x.Path) == 3 && x.Path[0] == "actions" && x.Path[2] == "automator" && x.Line == 0 {
		// A script alone becomes an action at full length.
		of := x.Path[:2]
		return []app.CatalogSet{{Path: of, Value: map[string]any{}}, {Path: x.Path, Value: value},
			{Path: append(slices.Clone(of), "fields", "script"), Value: typed(in, fieldName(of))}}
	}
	set := app.CatalogSet{Path: x.Path}
	if !multiline(x.Kind) {
		value = strings.TrimSpace(value)
	}
	if value == "" || x.Kind == page.FieldTick && value != "true" || (x.Kind == page.FieldNames || x.Kind == page.FieldWholes) && len(splitNames(value)) == 0 {
		return []app.CatalogSet{set}
	}
	switch x.Kind {
	case page.FieldTick:
		set.Value = true
	case page.FieldSwitch:
		set.Value = value == "true"
	case page.FieldWhole, page.FieldNumber, page.FieldScalar:
		set.Value = plainValue(x.Kind, value)
	case page.FieldNames:
		set.Value = splitNames(value)
	case page.FieldWholes:
		var list []any
		for _, word := range splitNames(value) {
			list = append(list, plainValue(page.FieldWhole, word))
		}
		set.Value = list
	case page.FieldLines:
		set.Value = strings.FieldsFunc(value, func(r rune) bool { return r == '\n' })
	case page.FieldGroups:
		var groups [][]string
		for _, line := range strings.Split(value, "\n") {
			if names := splitNames(line); len(names) > 0 {
				groups = append(groups, names)
			}
		}
		set.Value = groups
	default:
		if x.Kind == page.FieldCode && strings.Contains(value, "\n") && !strings.HasSuffix(value, "\n") {
			value += "\n"
		}
		set.Value = value
	}
	return []app.CatalogSet{set}
}

func multiline(kind string) bool {
	return kind == page.FieldArea || kind == page.FieldCode || kind == page.FieldGroups || kind == page.FieldLines
}

// plainValue is a number where the text is one; a scalar may also be a truth value.
func plainValue(kind, value string) any {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && strconv.FormatInt(n, 10) == value {
		return n
	}
	if kind != page.FieldWhole {
		if x, err := strconv.ParseFloat(value, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) && math.Abs(x) < 1e12 && value[0] != '0' || err == nil && strings.HasPrefix(value, "0.") {
			return x
		}
	}
	if kind == page.FieldScalar && (value == "true" || value == "false") {
		return value == "true"
	}
	return value
}

// eachField walks the fields of a form with the section that each is in.
func eachField(f *page.CatalogForm, do func(s *page.CatalogSection, x *page.CatalogField)) {
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

// complain puts problems of the text beside the fields that they are about, and unfolds the parts that these are in.
// Of several about a field, the one about a single value of it says most.
func complain(f *page.CatalogForm, file string, problems []app.CatalogProblem) {
	problems = slices.Clone(problems)
	slices.SortStableFunc(problems, func(a, b app.CatalogProblem) int { return strings.Count(b.Field, "[") - strings.Count(a.Field, "[") })
	for _, p := range problems {
		if p.File != file && p.File != "" {
			continue
		}
		var best *page.CatalogField
		var in *page.CatalogSection
		long := -1
		eachField(f, func(s *page.CatalogSection, x *page.CatalogField) {
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
			best.Complaint = page.Complaint{Message: strings.TrimPrefix(page.ProblemWords(p), p.Field+": "), Hint: p.Hint}
			in.Open = true
		}
	}
}
