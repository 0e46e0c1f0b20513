package plan

import "muster/app/layout"

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// triedWords say what came of a place; when is said beside it.
func triedWords(k layout.Candidate) string {
	words := map[layout.CandidateState]string{layout.CandidateTrying: "in progress", layout.CandidateFull: "no capacity", layout.CandidateRefused: "not possible",
		layout.CandidateFailed: "failed", layout.CandidateUsed: "created", layout.CandidateImpossible: "not possible"}[k.State]
	if words == "" {
		words = "not tried"
	}
	return k.Text() + ": " + words
}

func placesWords(p layout.Places) string {
	switch p.State {
	case layout.PlacesTrying:
		return "next one if there's no capacity"
	case layout.PlacesLeaving:
		return "deleting what was created before the next one is tried"
	}
	return map[layout.PlaceOrder]string{layout.OrderCheapest: "cheapest first", layout.OrderFastest: "fastest first",
		layout.OrderListed: "in the order listed"}[p.Order]
}
