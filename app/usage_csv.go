package app

import (
	"strings"
	"unicode/utf8"
)

// SheetCell keeps a spreadsheet from taking a text for a formula. Some read wide forms of the signs, too.
func SheetCell(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
