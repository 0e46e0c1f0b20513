package secret

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	// inText are parts of a value that are others on each node, or no values at all.
	inText = regexp.MustCompile(`\$\{[^}]*\}|%[^%\s]+%`)
	// password is that of an address.
	password = regexp.MustCompile(`://[^/\s:@]*:([^/\s@]+)@`)
)

// Values gathers the values of configurations that a reader may not see, to hide them in texts.
type Values struct {
	seen, shown map[string]bool
	secretsOnly bool
}

// NewValues gathers all values, or only those that may be secret. What is shown is hidden only where it may be secret.
func NewValues(secretsOnly bool, shown ...string) *Values {
	l := &Values{seen: map[string]bool{}, shown: map[string]bool{}, secretsOnly: secretsOnly}
	for _, s := range shown {
		l.shown[s] = true
	}
	return l
}

// Show says that the reader sees all values within v elsewhere. It comes before Add.
func (l *Values) Show(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			l.Show(x)
		}
	case []any:
		for _, x := range v {
			l.Show(x)
		}
	default:
		l.shown[leafText(v)] = true
	}
}

// Add gathers the values within v.
func (l *Values) Add(v any) { l.walk(v, false) }

// List returns what was gathered, sorted.
func (l *Values) List() []string { return slices.Sorted(maps.Keys(l.seen)) }

func (l *Values) walk(v any, keyed bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			l.walk(x, keyed || SecretKeyPattern.MatchString(k))
		}
	case []any:
		for _, x := range v {
			l.walk(x, keyed)
		}
	default:
		text := leafText(v)
		hidden := keyed || SecretTextPattern.MatchString(text)
		if !hidden && (l.secretsOnly || l.shown[text]) {
			return
		}
		for _, m := range password.FindAllStringSubmatch(text, -1) {
			l.seen[m[1]] = true
		}
		for _, part := range inText.Split(text, -1) {
			if part = strings.TrimSpace(part); len(part) >= shortestSecret && (hidden || !l.shown[part]) {
				l.seen[part] = true
			}
		}
	}
}

// leafText writes a value that is no list or map as programs print it; "" for true, false and nothing.
func leafText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil, bool:
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
