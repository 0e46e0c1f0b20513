package app

import "slices"

// SameAnswer tells whether one answer counts for both.
func (q Question) SameAnswer(other Question) bool {
	return q.Person.Once && q.Operation == other.Operation && q.Service == other.Service && q.Action == other.Action
}

// Look fills in what the question is for somebody who looks.
func (q *Question) Look(actor Actor) {
	q.Mine, q.Waits = q.State == QuestionOpen && q.MayAnswer(actor) == nil, q.WhoInWords()
}

// MayAnswer tells whether the actor may answer the question; EForbidden says whom it waits for.
func (q Question) MayAnswer(a Actor) error {
	if err := a.Authorize("AnswerStep"); err != nil {
		return err
	}
	if q.forbids(a.User) || q.forbids(a.Name()) {
		return &Error{Code: EForbidden, Reason: "requester", Message: "You asked for this yourself, so somebody else has to answer.",
			Hint: "It waits for " + q.WhoInWords() + "."}
	}
	at := a.Home == ""
	switch {
	case a.Role == RoleAdmin || a.Role == RoleSuperadmin:
		return nil
	case at && q.Person.Owners() && q.Access >= AccessCoOwner:
		return nil
	case at && slices.ContainsFunc(q.Person.Groups(), func(g string) bool { return slices.Contains(a.Groups, g) }):
		return nil
	}
	return &Error{Code: EForbidden, Reason: "not_asked", Message: "You are not among those who may answer this.", Hint: "It waits for " + q.WhoInWords() + "."}
}
