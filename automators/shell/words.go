package shell

import (
	"strings"

	"muster/app"
)

// words splits the field "args" as sh would, but expands nothing: quotes and backslashes keep words together, "$" and "*"
// are themselves. A quote that does not end is EInvalid.
func words(args string) ([]string, error) {
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
			Code: app.EInvalid, Reason: "unbalanced_quotes", Field: "args",
			Message: "The quotes in the field \"args\" do not match.",
			Hint:    "Words are split at spaces; put '…' around a word that holds spaces.",
		}
	}
	if inWord {
		out = append(out, word.String())
	}
	return out, nil
}

// interpreter says what runs a script: what its first line asks for after "#!", or sh -eu where that line asks for sh
// or for nothing.
func interpreter(script string) []string {
	sh := []string{"sh", "-eu"}
	first, _, _ := strings.Cut(script, "\n")
	ask, ok := strings.CutPrefix(strings.TrimSuffix(first, "\r"), "#!")
	if !ok {
		return sh
	}
	program, arg, _ := strings.Cut(strings.TrimSpace(ask), " ")
	if program == "" || strings.HasSuffix(program, "/sh") {
		return sh
	}
	if arg = strings.TrimSpace(arg); arg == "" {
		return []string{program}
	}
	if strings.HasSuffix(program, "/env") {
		if name := strings.Fields(arg); len(name) == 1 && name[0] == "sh" {
			return sh
		}
	}
	return []string{program, arg} // the kernel passes the rest of the line as one word, too
}
