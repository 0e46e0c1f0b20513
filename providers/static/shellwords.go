package static

import (
	"errors"
	"strings"
)

// shellwords takes a line apart as a shell does: spaces between words, quotes around what holds spaces, and what follows a # is for people.
func shellwords(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	begun := false
	var quote rune
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, begun = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\r':
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		case r == '#' && !begun:
			return out, nil
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote isn't closed, or the line ends with a backslash")
	}
	if begun {
		out = append(out, word.String())
	}
	return out, nil
}
