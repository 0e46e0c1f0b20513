package node

import (
	"strings"

	"muster/app"
)

// Shellwords splits a field as sh would, but expands nothing: quotes and backslashes keep words together, "$" and "*"
// are themselves. A quote that does not end is EInvalid for that field.
func Shellwords(field, args string) ([]string, error) {
	var out []string
	var word strings.Builder
	inWord := false
	var open rune // the quote that we are in
	escaped := false
	for _, r := range args {
		switch {
		case escaped:
			if open == '"' && !strings.ContainsRune("\"\\$`\n", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && open != '\'':
			escaped, inWord = true, true
		case open != 0:
			if r == open {
				open = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			open, inWord = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if inWord {
				out = append(out, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if open != 0 || escaped {
		return nil, &app.Error{
			Code: app.EInvalid, Reason: "unbalanced_quotes", Field: field,
			Message: "Unbalanced quotes in the field \"" + field + "\".",
			Hint:    "Words are separated by spaces; put '…' around a word with spaces.",
		}
	}
	if inWord {
		out = append(out, word.String())
	}
	return out, nil
}
