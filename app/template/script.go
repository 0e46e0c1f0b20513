package template

import "strings"

// ScriptFault is what keeps a shell from reading a script. Line and Column are those of the script, counted from 1. With Warning, some shells of that
// name read it all the same, or it is unknown without running it.
type ScriptFault struct {
	Line, Column  int
	Message, Hint string
	Warning       bool
}

// CoverMacros puts a word of the same length where a macro or a reference to the configuration is, so that a shell's parser can read what will be there
// later, and finds it at the same places.
func CoverMacros(text string) string {
	cover := func(s string) string { return strings.Repeat("x", len(s)) }
	text = configReference.ReplaceAllStringFunc(text, cover)
	parts, problem := SplitMacros(text)
	if problem != nil {
		return text // which is reported where macros are checked
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Macro != nil {
			b.WriteString(cover(p.Macro.source))
		} else {
			b.WriteString(p.text)
		}
	}
	if b.Len() == 0 {
		return text
	}
	return b.String()
}
