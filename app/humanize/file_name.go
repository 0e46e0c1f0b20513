package humanize

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// FileName is the name or path of a file as it may be shown: what doesn't print, such as line breaks, marks that change the direction of text, and
// bytes that aren't UTF-8, is escaped as in Go strings.
func FileName(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) {
		return name
	}
	quoted := strings.ReplaceAll(strconv.Quote(name), `\"`, `"`)
	return quoted[1 : len(quoted)-1]
}
