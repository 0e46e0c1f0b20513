package app

import (
	"maps"
	"slices"
)

// How far a role gets with a use case, as Permission says it.
const (
	ReachNone = "no"  // not at all
	ReachOwn  = "own" // with what belongs to the user
	ReachUse  = "use" // with clusters that the user may use
	ReachSee  = "see" // with clusters that the user may see
	ReachAll  = "all" // with everything of the tenant, or, where it is about the installation, with that
)

// Permission is a line of the authorisation table, for people and tests.
type Permission struct {
	UseCase string          `json:"use_case"`
	Scope   Scope           `json:"scope"`
	Reach   map[Role]string `json:"reach"`
	Proof   string          `json:"proof"` // whether people who are signed in must have just proved who they are: never, partly, always
}

// Permissions returns the authorisation table, by name of the use case.
func Permissions() []Permission {
	words := map[reach]string{No: ReachNone, Own: ReachOwn, use: ReachUse, see: ReachSee, All: ReachAll}
	var list []Permission
	for _, name := range slices.Sorted(maps.Keys(PermissionTable)) {
		p := Permission{UseCase: name, Scope: PermissionTable[name].Scope, Reach: map[Role]string{}, Proof: string(PermissionTable[name].proof)}
		for _, r := range Roles {
			p.Reach[r] = words[PermissionTable[name].Of(r)]
		}
		list = append(list, p)
	}
	return list
}
