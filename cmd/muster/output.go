package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"muster/app"
)

// printJSON writes one document on stdout: on one line for programs, indented on a terminal.
func (c *cli) printJSON(v any) error {
	c.printed = true
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	if isTerminal(c.stdout) {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// clock gives a span of time as people read it off a watch: 0:08, 12:30, 1:02:03. Parts of a second are left out.
func clock(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// span gives a length of time in its two greatest units: 45s, 12m, 3h20m, 2d4h.
func span(d time.Duration) string {
	d = max(d, 0)
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}
	for i, u := range units {
		if d < u.size && u.name != "s" {
			continue
		}
		text := fmt.Sprintf("%d%s", d/u.size, u.name)
		if i+1 < len(units)-1 { // no seconds beside minutes
			if rest := d % u.size / units[i+1].size; rest > 0 {
				text += fmt.Sprintf("%d%s", rest, units[i+1].name)
			}
		}
		return text
	}
	return ""
}

// money gives a price with two digits, or as many more as small prices need; "-" where none is known.
func money(v float64) string {
	if v == 0 {
		return "-"
	}
	text := fmt.Sprintf("%.4f", v)
	for strings.HasSuffix(text, "0") && text[len(text)-3] != '.' {
		text = text[:len(text)-1]
	}
	return text
}

// plural gives "1 node", "2 nodes".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// dash stands for nothing.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// line writes a line of text.
func line(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }

func oneLine(s string) string { return app.CutText(strings.Join(strings.Fields(s), " "), 100) }

func firstLine(s string) string {
	before, _, more := bytes.Cut([]byte(s), []byte("\n"))
	if more {
		return string(before) + " …"
	}
	return string(before)
}

// shown is a value on one line.
func shown(v string) string {
	const most = 60
	if v == "" {
		return "(none)"
	}
	v = strings.ReplaceAll(v, "\n", "⏎")
	if r := []rune(v); len(r) > most {
		return string(r[:most]) + "…"
	}
	return v
}
