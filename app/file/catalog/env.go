package catalog

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/app/file/catalog/form"
)

var (
	envReference = regexp.MustCompile(`\$\{env:([^}]*)\}`)
	envName      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// resolve replaces ${env:NAME} in a provider's settings, at any depth. Ok is false when some are left, because they
// could not be or were not to be looked up.
func (c *checker) resolve(e *form.Entry, settings map[string]any) (out map[string]any, ok bool) {
	ok = true
	var walk func(x any, path []any) any
	walk = func(x any, path []any) any {
		switch x := x.(type) {
		case map[string]any:
			m := make(map[string]any, len(x))
			for _, k := range slices.Sorted(maps.Keys(x)) {
				m[k] = walk(x[k], append(slices.Clone(path), k))
			}
			return m
		case []any:
			l := make([]any, len(x))
			for i := range x {
				l[i] = walk(x[i], append(slices.Clone(path), i))
			}
			return l
		case string:
			s, resolved := c.expand(e, x, path)
			ok = ok && resolved
			return s
		}
		return x
	}
	return walk(settings, []any{"settings"}).(map[string]any), ok
}

var (
	secretReference = regexp.MustCompile(`\$\{secret:([^}]*)\}`)
	secretName      = regexp.MustCompile(`^` + app.SecretName + `$`)
)

// checkSecretReferences reports whether a text holds no ${secret:NAME}: those stand for what a tenant has set, and are put in only
// when a step is handed out.
func (c *checker) checkSecretReferences(e *form.Entry, s string, path []any) bool {
	for _, m := range secretReference.FindAllStringSubmatch(s, -1) {
		if !secretName.MatchString(m[1]) {
			c.report(e, form.SeverityError, path, "use ${secret:NAME}, with capital letters, digits and underscores", "%s: invalid secret name %q",
				e.Spell(path), m[1])
		}
	}
	return !strings.Contains(s, "${secret:")
}

// expand replaces the references in one text. A value that was looked up is not looked into again.
func (c *checker) expand(e *form.Entry, s string, path []any) (string, bool) {
	ok := c.checkSecretReferences(e, s, path)
	out := envReference.ReplaceAllStringFunc(s, func(ref string) string {
		name := envReference.FindStringSubmatch(ref)[1]
		if !envName.MatchString(name) {
			ok = false
			c.report(e, form.SeverityError, path, "use ${env:NAME}", "%s: invalid environment variable name %q", e.Spell(path), name)
			return ref
		}
		if c.options.Env == nil {
			ok = false
			return ref
		}
		v, found := c.options.Env(name)
		if !found {
			ok = false
			c.report(e, form.SeverityError, path, "set it in the environment of Muster", "%s: environment variable %s isn't set", e.Spell(path), name)
			return ref
		}
		return v
	})
	if ok && !strings.Contains(s, "${env:") {
		return out, true
	}
	if strings.Count(s, "${env:") > len(envReference.FindAllString(s, -1)) {
		c.report(e, form.SeverityError, path, "use ${env:NAME}", "%s: ${env: has no closing }", e.Spell(path))
		return s, false
	}
	return out, ok
}
