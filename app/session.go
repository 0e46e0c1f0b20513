package app

import "strconv"

// SessionID returns the id of the sign-in that the actor asks from, or an error for actors that have none, such as tokens.
func (a Actor) SessionID() (int64, error) {
	id, err := strconv.ParseInt(a.Session, 10, 64)
	if err != nil || a.Token != "" {
		return 0, &Error{Code: EForbidden, Reason: "sign_in", Message: "This requires a person signed in at the portal.",
			Hint: "Sign in at the portal. API tokens and chat can't be used for this."}
	}
	return id, nil
}

// AtHome is the actor in the tenant of its own account, wherever it acts.
func (a Actor) AtHome() Actor {
	if a.Home != "" {
		a.Tenant, a.Home = a.Home, ""
	}
	return a
}

// Meaning returns the actor and the user meant: the one named, or the actor's own account where none is.
func (a Actor) Meaning(user string) (Actor, string) {
	if user == "" {
		return a.AtHome(), a.User
	}
	return a, user
}
