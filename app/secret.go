package app

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Secret is a named value of a tenant, without the value: no face ever reads that back.
type Secret struct {
	Name  string    `json:"name"`
	SetBy string    `json:"set_by"`
	SetAt time.Time `json:"set_at"`
	// UsedAt is when a step or an account was last given the value, to the minute; nil where it never was.
	UsedAt *time.Time `json:"used_at,omitempty"`
}

// SecretName is the form of names.
const SecretName = `[A-Z][A-Z0-9_]{0,63}`

var (
	SecretPattern   = regexp.MustCompile(`^` + SecretName + `$`)
	SecretReference = regexp.MustCompile(`\$\{secret:([^}]*)\}`)
)

func CheckSecretName(name string) error {
	if SecretPattern.MatchString(name) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "name", Message: "Invalid secret name.",
		Hint: "Start with an uppercase letter. Use at most 64 uppercase letters, digits and underscores, such as REGISTRY_TOKEN."}
}

// SecretNames returns the names that values refer to as ${secret:NAME}, sorted, each once.
func SecretNames(values ...any) []string {
	found := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if !strings.Contains(v, "${secret:") {
				return
			}
			for _, m := range SecretReference.FindAllStringSubmatch(v, -1) {
				found[m[1]] = true
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case map[string]string:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, v := range values {
		walk(v)
	}
	return slices.Sorted(maps.Keys(found))
}
