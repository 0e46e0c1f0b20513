package app

import "fmt"

// AmendTerms are what an amendment that was asked for comes to, for those who decide on it.
type AmendTerms struct {
	Amendment Amendment      `json:"amendment"` // the configuration is left out, since it may hold secrets; see Changes
	Title     string         `json:"title"`
	Before    ClusterFigures `json:"before"`
	After     ClusterFigures `json:"after"`
	Effects   []string       `json:"effects,omitempty"`
	Changes   []ValueChange  `json:"changes,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
}

// Open makes it a request that waits, with what is needed to run it later.
func (n *NewRequest) Open(k Kept, needs []Need) {
	r := &n.Request
	r.Status, r.Needs, n.Kept = RequestWaiting, needs, &k
	r.Decision.Needs = nil
	r.Terms.Seal = k.Seal()
	for _, need := range r.Needs {
		after := need.ExpireAfter
		if after <= 0 {
			after = defaultExpiry
		}
		if at := r.AskedAt.Add(after); r.ExpiresAt.IsZero() || at.Before(r.ExpiresAt) {
			r.ExpiresAt = at
		}
	}
	r.DueAt = r.due()
}

// NoConditions refuses to offer something else than was asked for.
func (r Request) NoConditions() error {
	if r.Kind == OperationCreate {
		return nil
	}
	return &Error{Code: EInvalid, Field: "verdict", Reason: "no_conditions", Message: fmt.Sprintf("There are no conditions for what becomes of a cluster that stands (%s).", r.Kind.Words()),
		Hint: "Approve it as it is, or deny it and say what would be all right."}
}

// endLapsed is what becomes of a request whose cluster has changed.
func (r *Request) endLapsed(m RequestMove) (o RequestOutcome) {
	r.Status, r.Message = RequestExpired, FirstOf(m.Reason, "The cluster has changed since.")
	o.Notices = r.tellExpired(m.Now)
	return o
}
