package humanize

import "strings"

// ShellQuote makes one word of s for sh, whatever s holds, except NUL bytes, which no shell can pass on: they are left
// out.
func ShellQuote(s string) string {
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	s = strings.ReplaceAll(s, "\x00", "")
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plain are the characters that mean nothing to any shell. "~" and "=" are not among them.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%"
