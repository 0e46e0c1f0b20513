package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Text and what it says is the same however it is cut into writes, and nothing of it acts.
func TestVisibleShowsWhatActs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"two\n\tlines, ümläut, 日本, 👩‍👧": "two\n\tlines, ümläut, 日本, 👩‍👧",
		"\x1b]52;c;aGk=\a":              `\x1b]52;c;aGk=\x07`,
		"a\rb\b\x7f":                    `a\x0db\x08\u007f`,
		"\u009b31m\u202e\u2028":         `\u009b31m\u202e\u2028`,
		"\U000e0041 \x9b \xe2\x80 ‍":    `\udb40\udc41 \x9b \xe2\x80 ‍`,
		"cut short \xe2\x80":            `cut short \xe2\x80`,
	} {
		rapid.Check(t, func(t *rapid.T) {
			var out bytes.Buffer
			v := NewVisible(&out)
			for rest := text; rest != ""; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
				if _, err := v.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			v.Flush()
			if out.String() != want {
				t.Fatalf("%q is shown as %q", text, out.String())
			}
		})
	}
}

// Our own sequences act, beside text from outside that holds the same; text cannot pass for ours without knowing what marks it.
func TestVisibleLetsOurOwnThrough(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := NewVisible(&out)
	paint := (&Context{Color: colorAlways}).Painter(v)
	text := paint(ColourGoes, "\x1b[0m") + Control(v, "\r\x1b[K") + Control(NewVisible(nil), "\x1b[2J")
	if _, err := v.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	v.Flush()
	if got := out.String(); !strings.HasPrefix(got, "\x1b[31m\\x1b[0m\x1b[0m\r\x1b[K\\x1b") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("%q", got)
	}
}

// A JSON document says the same behind the writer.
func TestVisibleKeepsJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		var out bytes.Buffer
		if err := (&Context{Stdout: NewVisible(&out)}).PrintJSON(want); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got != want {
			t.Fatalf("%q became %q: %v", want, got, err)
		}
	})
}
