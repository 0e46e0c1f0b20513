package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const shortestSecret = 6 // bytes; what is shorter would hide half of every log

// Redactor takes values out of texts, in the forms in which programs print them: plain, each line of one with several, base64 at any
// alignment and wrapped as base64(1) does, hex, escaped for URLs, JSON and shells. Its cost is one look into a table for each byte of a
// text. The nil Redactor hides nothing.
type Redactor struct {
	first [1 << 16 / 64]uint64 // which two bytes begin a form
	forms map[uint16][]string  // by those, the longest first
	most  int                  // length of the longest
	whole bool                 // all of every text is hidden
}

// HideAll is a redactor that hides every text as a whole.
func HideAll() *Redactor { return &Redactor{whole: true} }

// NewRedactor returns nil if there is nothing to hide.
func NewRedactor(secrets []string) *Redactor {
	if !slices.ContainsFunc(secrets, func(s string) bool { return len(s) >= shortestSecret }) {
		return nil // a table for each step would be most of what a worker allocates
	}
	r := &Redactor{forms: map[uint16][]string{}}
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
	for _, list := range r.forms {
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	}
	return r
}

// formsOf returns all forms in which a secret may appear, without those that are too short.
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

// base64Forms returns what of the base64 of anything that holds the secret depends on the secret alone, at each of the three places
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

// Hide returns the text without the values.
func (r *Redactor) Hide(text string) string { return r.HideAfter(text, 0) }

// Longest is the length of the longest form of a value.
func (r *Redactor) Longest() int {
	if r == nil {
		return 0
	}
	return r.most
}

// HideAfter is Hide of a text of which skip bytes at the beginning are looked at, and left out.
func (r *Redactor) HideAfter(text string, skip int) string {
	switch {
	case r == nil || len(text) == skip:
		return text[skip:]
	case r.whole:
		return HiddenValue
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
					b.WriteString(HiddenValue)
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

// HiddenValue represents a value that may be secret, wherever a configuration is shown.
const HiddenValue = "•••"

var (
	SecretKeyPattern  = regexp.MustCompile(`(?i)passw|passphrase|passwd|pwd|secret|token|credential|private|api_?-?key|access_?-?key|auth|cookie|salt`)
	SecretTextPattern = regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@|-----BEGIN`)
)
