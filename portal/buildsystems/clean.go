package buildsystems

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/build"
)

const (
	maxWord   = 200 // bytes of names and numbers for display
	maxLabels = 50
)

// clean enforces an event's limits: what people see or rules compare has no control characters, isn't too long, and links to https only.
func clean(e app.BuildEvent) app.BuildEvent {
	e.Event, e.JobID = word(e.Event), word(e.JobID)
	for _, f := range []*string{&e.Action, &e.Job, &e.Result, &e.Repository, &e.Branch, &e.Tag, &e.Commit, &e.Actor} {
		*f = clip(plain(*f), build.MaxBuildField)
	}
	e.Build = key(e.Build)
	e.URL = secure(e.URL)
	e.Labels = e.Labels[:min(len(e.Labels), maxLabels)]
	for i, l := range e.Labels {
		e.Labels[i] = clip(plain(l), build.MaxBuildField)
	}
	if len(e.Labels) == 0 {
		e.Labels = nil
	}
	if e.Fork {
		e.ForkUnknown = false
	}
	return e
}

// plain replaces invisible characters and those that change the text direction. It doesn't drop them: "ma\u200bin" must not become "main".
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// word is a short name for display, which may come from an unsigned header.
func word(s string) string { return clip(plain(strings.ToValidUTF8(s, "\ufffd")), maxWord) }

// clip cuts a text to a number of bytes, between characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// key shortens long build names with a hash at the end, so that they stay distinct.
func key(s string) string {
	s = plain(s)
	if len(s) <= build.MaxBuildKey {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	end := "~" + hex.EncodeToString(sum[:16])
	return strings.ToValidUTF8(s[:build.MaxBuildKey-len(end)], "") + end
}

// secure returns a URL that is safe to link to, otherwise "".
func secure(s string) string {
	if len(s) > build.MaxBuildField || s != plain(s) {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return u.String()
}
