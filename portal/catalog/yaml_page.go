package catalog

import (
	"context"
	"io"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// Word is a token with the letter of its class in the style sheet: k key, s text, n number or boolean, c comment, m macro or secret,
// p punctuation; "" anything else.
type Word struct{ Class, Text string }

// maxColoured limits syntax highlighting, in bytes.
const maxColoured = 256 << 10

// YAMLWords splits YAML into tokens, which together are the whole text.
func YAMLWords(text string) [][]Word {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	out := make([][]Word, len(lines))
	block := -1 // the indent of the current block scalar's key; -1: none
	for i, l := range lines {
		switch depth := len(l) - len(strings.TrimLeft(l, " ")); {
		case len(text) > maxColoured:
			out[i] = []Word{{"", l}}
		case block >= 0 && (strings.TrimSpace(l) == "" || depth > block):
			out[i] = macros(nil, "s", l)
		default:
			var opens bool
			out[i], opens = yamlLine(l)
			block = -1
			if opens {
				block = depth
			}
		}
	}
	return out
}

var (
	dashes   = regexp.MustCompile(`^(?:- +)*(?:-$)?`)
	yamlKey  = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#:\[\]{},"'&*!|>%@-][^#:{}\[\],]*?|[^\s#:\[\]{},"'&*!|>%@-]):(?:\s|$)`)
	yamlTurn = regexp.MustCompile(`^[|>][-+0-9]*\s*(?:#.*)?$`)
	yamlBit  = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?|[\[\]{},]|\s+#.*|\s+|[^\s\[\]{},"']+|.)`)
	yamlWord = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*(?:\.[0-9]+)?|true|false|null|~)$`)
	macro    = regexp.MustCompile(`%[A-Za-z][^%\s]*%|\$\{[a-z]+:[^}]*\}`)
)

// yamlLine also reports whether a block scalar starts.
func yamlLine(l string) (words []Word, opens bool) {
	rest := strings.TrimLeft(l, " ")
	add := func(class, text string) {
		if text != "" {
			words = append(words, Word{class, text})
		}
	}
	add("", l[:len(l)-len(rest)])
	d := dashes.FindString(rest)
	add("p", d)
	rest = rest[len(d):]
	if strings.HasPrefix(rest, "#") || rest == "---" {
		add("c", rest)
		return words, false
	}
	if m := yamlKey.FindStringSubmatch(rest); m != nil {
		add("k", m[1])
		add("p", ":")
		rest = rest[len(m[1])+1:]
	}
	value := strings.TrimLeft(rest, " ")
	add("", rest[:len(rest)-len(value)])
	if yamlTurn.MatchString(value) {
		add("p", value)
		return words, true
	}
	for value != "" {
		bit := yamlBit.FindString(value)
		value = value[len(bit):]
		switch {
		case strings.HasPrefix(strings.TrimLeft(bit, " \t"), "#") && bit[0] != '#':
			add("c", bit)
		case strings.ContainsAny(bit[:1], `[]{},`):
			add("p", bit)
		case strings.HasSuffix(bit, ":") && len(bit) > 1 && (value == "" || value[0] == ' '):
			add("k", bit[:len(bit)-1])
			add("p", ":")
		case yamlWord.MatchString(bit):
			add("n", bit)
		case strings.TrimSpace(bit) == "":
			add("", bit)
		default:
			words = macros(words, "s", bit)
		}
	}
	return words, false
}

// macros marks macros and secrets.
func macros(words []Word, class, text string) []Word {
	for text != "" {
		at := macro.FindStringIndex(text)
		if at == nil {
			return append(words, Word{class, text})
		}
		if at[0] > 0 {
			words = append(words, Word{class, text[:at[0]]})
		}
		words = append(words, Word{"m", text[at[0]:at[1]]})
		text = text[at[1]:]
	}
	return words
}

// sourceWords writes a line with all its spaces, which templates would fold.
func sourceWords(words []Word) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString("<code>")
		for _, x := range words {
			if x.Class == "" {
				b.WriteString(templ.EscapeString(x.Text))
				continue
			}
			b.WriteString(`<i class="y-` + x.Class + `">` + templ.EscapeString(x.Text) + "</i>")
		}
		b.WriteString("</code>")
		_, err := io.WriteString(w, b.String())
		return err
	})
}
