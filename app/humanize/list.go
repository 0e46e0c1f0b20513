package humanize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Count writes a number with its noun, whose plural is regular: "1 node", "3 nodes", "2 entries", "1,000 steps".
func Count(n int, noun string) string { return english.Plural(n, noun, "") }

// CountOf is Count with both forms given: CountOf(n, "step is", "steps are").
func CountOf(n int, one, many string) string { return english.Plural(n, one, many) }

// CountUpTo is Count where counting ended at a limit: "1,000+ clusters".
func CountUpTo(n, limit int, noun string) string {
	if n < limit {
		return Count(n, noun)
	}
	return humanize.Comma(int64(limit)) + "+ " + english.PluralWord(limit, noun, "")
}

// Bytes writes a number of bytes in binary units: "512 B", "1.5 MiB". Less than none is none.
func Bytes(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// And joins names as a sentence does: "a, b and c"; "" for none.
func And(names []string) string { return english.WordSeries(names, "and") }

// Or joins alternatives as a sentence does: "a, b or c"; "" for none.
func Or(names []string) string { return english.WordSeries(names, "or") }

// Some is And for the first names of a long list, with how many more there are: "a, b and 5 more".
func Some(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + humanize.Comma(int64(len(names)-most)) + " more"
	}
	return And(names)
}

// Spaced writes an identifier such as waiting_for_approval as words.
func Spaced(s string) string { return strings.ReplaceAll(s, "_", " ") }

// WithHint puts a hint behind a message: after a semicolon, or as a sentence of its own if it's written as one.
func WithHint(message, hint string) string {
	first, _ := utf8.DecodeRuneInString(hint)
	switch {
	case hint == "":
		return message
	case unicode.IsUpper(first):
		return strings.TrimSuffix(message, ".") + ". " + hint
	}
	return message + "; " + hint
}
