package jobs

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"muster/app"
)

const (
	shortestSecret = 6        // bytes; what is shorter would hide half of every log
	hidden         = "•••"    // stands for a secret
	longPiece      = 32 << 10 // a line so long may be a piece of one that goes on in the next
)

// redactor takes the secrets that a step was given out of what it says, in the forms in which programs print them: plain, each
// line of one with several, base64 at any alignment and wrapped as base64(1) does, hex, escaped for URLs, JSON and shells. It is
// made for one step. Its cost is one look into a table for each byte of a line.
type redactor struct {
	first [1 << 16 / 64]uint64 // which two bytes begin a form
	forms map[uint16][]string  // by those, the longest first
	most  int                  // length of the longest
}

// newRedactor gives nil where there is nothing to hide; that redactor hides nothing.
func newRedactor(secrets []string) *redactor {
	r := &redactor{forms: map[uint16][]string{}}
	seen := map[string]bool{}
	for _, s := range secrets {
		for _, form := range formsOf(s) {
			if len(form) < shortestSecret || seen[form] {
				continue
			}
			seen[form] = true
			k := uint16(form[0])<<8 | uint16(form[1])
			r.first[k/64] |= 1 << (k % 64)
			r.forms[k] = append(r.forms[k], form)
			r.most = max(r.most, len(form))
		}
	}
	if r.most == 0 {
		return nil
	}
	for _, list := range r.forms {
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	}
	return r
}

// formsOf gives all ways in which a secret may show. Forms of parts that are too short are left out.
func formsOf(secret string) []string {
	if len(secret) < shortestSecret {
		return nil
	}
	plain := []string{secret}
	if trimmed := strings.TrimSpace(secret); trimmed != secret {
		plain = append(plain, trimmed)
	}
	if strings.Contains(secret, "\n") {
		for line := range strings.Lines(secret) {
			plain = append(plain, strings.TrimRight(line, "\r\n"), strings.TrimSpace(line))
		}
	}
	var all []string
	for _, p := range plain {
		if len(p) < shortestSecret {
			continue
		}
		all = append(all, p, hex.EncodeToString([]byte(p)), strings.ToUpper(hex.EncodeToString([]byte(p))),
			url.QueryEscape(p), url.PathEscape(p), strings.ReplaceAll(p, "'", `'\''`), strings.ReplaceAll(p, "'", `'"'"'`), strings.ToValidUTF8(p, "\uFFFD"))
		if b, err := json.Marshal(p); err == nil {
			all = append(all, strings.Trim(string(b), `"`))
		}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(p) == nil {
			all = append(all, strings.Trim(strings.TrimSpace(b.String()), `"`))
		}
		all = append(all, base64Forms(p)...)
	}
	return all
}

// base64Forms gives what of the base64 of anything that holds the secret depends on the secret alone, at each of the three places
// where it may begin, and the lines into which the secret's own is wrapped.
func base64Forms(secret string) (all []string) {
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := enc.EncodeToString([]byte(secret))
		all = append(all, whole, strings.TrimRight(whole, "="))
		for _, width := range []int{64, 76} {
			for rest := whole; len(rest) > width; {
				all = append(all, rest[:width])
				if rest = rest[width:]; len(rest) <= width {
					all = append(all, rest)
				}
			}
		}
		for before := range 3 {
			text := enc.EncodeToString(append(make([]byte, before), secret...))
			from := []int{0, 2, 3}[before] // characters that the bytes before have a part in
			to := (before + len(secret)) * 8 / 6
			if to-from >= shortestSecret+2 {
				all = append(all, text[from:to])
			}
		}
	}
	return all
}

// hide gives the text without secrets; skip bytes at its beginning are looked at, and left out.
func (r *redactor) hide(text string, skip int) string {
	if r == nil {
		return text[skip:]
	}
	var b strings.Builder
	done, changed := skip, false
	for i := 0; i+1 < len(text); i++ {
		k := uint16(text[i])<<8 | uint16(text[i+1])
		if r.first[k/64]&(1<<(k%64)) == 0 {
			continue
		}
		for _, form := range r.forms[k] {
			if !strings.HasPrefix(text[i:], form) {
				continue
			}
			if end := i + len(form); end > done {
				if i > done || !changed { // else it overlaps the one before, or follows it at once
					b.WriteString(text[done:max(i, done)])
					b.WriteString(hidden)
				}
				done, changed = end, true
			}
			break
		}
	}
	if !changed {
		return text[skip:]
	}
	b.WriteString(text[done:])
	return b.String()
}

// over gives an output that passes everything on without secrets. A secret over the border of two pieces of a very long line is
// hidden in the second; the log keeps only the beginning of the first.
func (r *redactor) over(out app.Output) app.Output {
	if r == nil {
		return out
	}
	streams := newTails()
	return func(s app.Stream, line string) {
		before := streams.swap(s, line, r.most)
		out(s, r.hide(before+line, len(before)))
	}
}

// error hides secrets in what is told of a failure.
func (r *redactor) error(e *app.Error) *app.Error {
	if r == nil || e == nil {
		return e
	}
	out := *e
	out.Message, out.Hint = r.hide(e.Message, 0), r.hide(e.Hint, 0)
	if e.Err != nil {
		if text := e.Err.Error(); r.hide(text, 0) != text {
			out.Err = hiddenError(r.hide(text, 0))
		}
	}
	return &out
}

type hiddenError string

// Error implements error.
func (h hiddenError) Error() string { return string(h) }
