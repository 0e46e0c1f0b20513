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
	maxWord   = 200 // bytes of names and numbers that are only shown
	maxLabels = 50
)

// clean keeps an event within its limits, whatever was sent: what is shown to people or compared by rules has no control characters, is not
// too long, and leads nowhere but to https.
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

// plain puts a mark in the place of what cannot be seen or turns text around. It does not drop it: "ma\u200bin" must not become "main".
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// word is a short name that is only shown: it may come from where nothing is signed.
func word(s string) string { return clip(plain(strings.ToValidUTF8(s, "\ufffd")), maxWord) }

// clip cuts a text to so many bytes, between letters.
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

// key keeps builds apart whose names are too long to be kept: their hash stands for the end.
func key(s string) string {
	s = plain(s)
	if len(s) <= build.MaxBuildKey {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	end := "~" + hex.EncodeToString(sum[:16])
	return strings.ToValidUTF8(s[:build.MaxBuildKey-len(end)], "") + end
}

// secure returns an address that a person may be sent to, "" for any other.
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
