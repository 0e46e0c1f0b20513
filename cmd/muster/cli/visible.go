package cli

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// visible wraps every command's stdout and stderr. Names, logs, errors and responses come from outside, and a terminal obeys
// control bytes: they could set the clipboard, hide text, move the cursor or turn the reading direction. They are written as
// visible escapes, \x1b or \u202e; newlines and tabs stay. In JSON these are escapes too, so a document keeps its meaning. The CLI's
// own control sequences go through Control, and requested files through Bytes.
type visible struct {
	mu   sync.Mutex
	w    io.Writer
	own  string // precedes each control byte of our own; text from outside cannot contain it
	held []byte // the beginning of a character or of own, whose rest is not written yet
}

func NewVisible(w io.Writer) *visible { return &visible{w: w, own: "\x1b" + rand.Text()} }

func (v *visible) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	out, held := v.show(append(v.held, p...))
	v.held = bytes.Clone(held)
	if len(out) > 0 {
		if _, err := v.w.Write(out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush writes what was held back.
func (v *visible) Flush() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, b := range v.held {
		fmt.Fprintf(v.w, `\x%02x`, b)
	}
	v.held = nil
}

// show returns the visible form of some bytes, and the incomplete rest at their end.
func (v *visible) show(b []byte) (out, held []byte) {
	out = make([]byte, 0, len(b))
	for len(b) > 0 {
		switch {
		case bytes.HasPrefix(b, []byte(v.own)) && len(b) > len(v.own):
			out = append(out, b[len(v.own)])
			b = b[len(v.own)+1:]
			continue
		case b[0] == v.own[0] && strings.HasPrefix(v.own, string(b[:min(len(b), len(v.own))])), !utf8.FullRune(b):
			return out, b
		}
		r, size := utf8.DecodeRune(b)
		out = appendVisible(out, r, b[:size])
		b = b[size:]
	}
	return out, nil
}

func appendVisible(out []byte, r rune, as []byte) []byte {
	switch {
	case r == utf8.RuneError && len(as) == 1, r < ' ' && r != '\n' && r != '\t':
		return fmt.Appendf(out, `\x%02x`, as[0])
	case Misleads(r):
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
		return out
	}
	return append(out, as...)
}

// Misleads reports whether a non-ASCII character acts on a terminal or a reader instead of being visible. The two joiners are part of words
// and emoji.
func Misleads(r rune) bool {
	return r >= 0x7f && r != 0x200c && r != 0x200d && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// InLine shows a text from outside on one line: newlines and tabs would break a table.
func InLine(text string) string {
	var out []byte
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch r {
		case '\n':
			out = append(out, `\n`...)
		case '\t':
			out = append(out, `\t`...)
		default:
			out = appendVisible(out, r, []byte(text[:size]))
		}
		text = text[size:]
	}
	return string(out)
}

// Control marks the control bytes of a sequence as our own, for a stream on which that matters.
func Control(w io.Writer, sequence string) string {
	v, ok := w.(*visible)
	if !ok {
		return sequence
	}
	var out strings.Builder
	for _, b := range []byte(sequence) {
		if b < ' ' {
			out.WriteString(v.own)
		}
		out.WriteByte(b)
	}
	return out.String()
}

// Raw is the stream itself, for programs that we start and that speak for themselves.
func Raw(w io.Writer) io.Writer {
	if v, ok := w.(*visible); ok {
		return v.w
	}
	return w
}

// Bytes is stdout for what was asked for as bytes: a file, a program's input. On a terminal a person would see it, so there it is text
// like any other.
func (c *Context) Bytes() io.Writer {
	if IsTerminal(c.Stdout) {
		return c.Stdout
	}
	return Raw(c.Stdout)
}
