package cluster

import (
	"muster/app"
	"muster/app/layout"
)

// PlaceSet is what a request for one of several places needs to be run in each of them, just as it was shown.
type PlaceSet struct {
	Order      layout.PlaceOrder  `json:"order"`
	Candidates []layout.Candidate `json:"candidates"` // those that can be tried, in their order, and then the impossible ones
	Payloads   []RequestPayload   `json:"payloads"`   // of those that can be tried
}

// PlaceAttempt says that a new cluster is an attempt at one of several places.
type PlaceAttempt struct {
	PlaceSet
	Run      string            // the cluster of the first attempt; "" for a first attempt
	Position int               // of the candidate
	Choice   app.FailureChoice // what was asked to happen when it fails for another reason than capacity
}

// TryIn makes a new cluster an attempt. While another place is left, nothing happens by itself when it fails, but that.
func (n *NewCluster) TryIn(set PlaceSet, run string, position int) {
	n.Places = &PlaceAttempt{PlaceSet: set, Run: run, Position: position, Choice: n.Operation.Operation.OnFailure}
	if position+1 < len(set.Payloads) {
		n.Operation.Operation.OnFailure = app.FailureLeave
	}
}
