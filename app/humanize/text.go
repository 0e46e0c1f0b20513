package humanize

import (
	"strings"
)

// CutText returns the first runes of a text, with a sign where something is left out.
func CutText(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}

// Clip keeps what a stranger sent short and on one line.
func Clip(s string) string {
	const most = 80
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func Upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func LowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// Cause is what went wrong as the end of a sentence: with a period, and saying so where it's unknown.
func Cause(s string) string {
	if s == "" {
		return "the cause is unknown."
	}
	if s[len(s)-1] != '.' {
		s += "."
	}
	return s
}
