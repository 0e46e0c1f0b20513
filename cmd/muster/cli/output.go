package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"muster/app/humanize"
)

// PrintJSON writes one document on stdout: on one line for programs, indented on a terminal.
func (c *Context) PrintJSON(v any) error {
	c.Printed = true
	enc := json.NewEncoder(c.Stdout)
	enc.SetEscapeHTML(false)
	if IsTerminal(c.Stdout) {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// Clock formats elapsed time as a stopwatch does: 0:08, 12:30, 1:02:03. Parts of a second are left out.
func Clock(d time.Duration) string {
	s := int(max(d, 0).Round(time.Second).Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Time writes a moment in the time zone of this computer, or of TZ, and names the zone: "2026-11-30 18:00:00 CET".
func Time(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 MST") }

// Dash shows an empty value as a dash.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Line writes a line of text.
func Line(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }

func OneLine(s string) string { return humanize.CutText(strings.Join(strings.Fields(s), " "), 100) }

func FirstLine(s string) string {
	before, _, more := bytes.Cut([]byte(s), []byte("\n"))
	if more {
		return string(before) + " …"
	}
	return string(before)
}

// Shown is a value on one line.
func Shown(v string) string {
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
