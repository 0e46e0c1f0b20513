package app

import "strings"

// SecretPlace is where a secret belongs: ${secret:NAME}.
type SecretPlace string

// Name gives the name that the place has; false where the text is no place.
func (p SecretPlace) Name() (string, bool) {
	name, begins := strings.CutPrefix(string(p), "${secret:")
	name, ends := strings.CutSuffix(name, "}")
	return name, begins && ends && SecretPattern.MatchString(name)
}
