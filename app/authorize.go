package app

// may tells whether an actor may do something to a cluster of its own tenant: everybody may look; users change what
// they own; admins change everything.
func (a Actor) mayChange(c Cluster) error {
	switch {
	case a.Role == RoleAdmin, a.Role == RoleUser && c.Owner == a.User:
		return nil
	case a.Role == RoleUser:
		return Errorf(EForbidden, "Cluster %q belongs to %s; only its owner and admins may change it.", c.Name, c.Owner)
	}
	return &Error{Code: EForbidden, Message: "You may look, but not change anything.", Hint: "Ask an admin for the role user."}
}

func (a Actor) mayCreate() error {
	if a.Role == RoleAdmin || a.Role == RoleUser {
		return nil
	}
	return &Error{Code: EForbidden, Message: "You may look, but not create clusters.", Hint: "Ask an admin for the role user."}
}
