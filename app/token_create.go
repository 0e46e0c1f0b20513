package app

// Uses reports whether a role allows anything of a scope.
func (r Role) Uses(s Scope) bool {
	for _, p := range PermissionTable {
		if p.Scope == s && p.Of(r) != No {
			return true
		}
	}
	return false
}
