package app

import "regexp"

// FactPattern is how facts are named: as parameters are, so that macros can speak of them.
var FactPattern = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// FactName names what a service may have told.
type FactName struct{ Service, Name string }
