package humanize

import "strings"

// ShellQuote makes one word of s for sh, whatever s holds, except NUL bytes, which no shell can pass on: they are left
// out.
func ShellQuote(s string) string {
	if s != "" && isPlain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\x00", "")
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plain are the characters that mean nothing to any shell. "~" and "=" are not among them.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%"

// isPlain reports whether a text has no other characters. A step quotes a dozen texts.
func isPlain(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(plain, s[i]) < 0 {
			return false
		}
	}
	return true
}
