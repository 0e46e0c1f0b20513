package layout

import (
	"context"

	"muster/app"
	"muster/app/template"
)

// Explainer says why there is no layout. It is pure, like Solver, and calls nothing but it.
type Explainer interface {
	// Explain returns why the request has no layout. For a request that cannot even be asked (an unknown service, a missing
	// dependency) Problems holds all that is wrong at once; else Conflict is a smallest set of constraints that cannot
	// hold together, and Fixes are changes that were each checked by solving. A request that has a layout returns an empty
	// Explanation. The error is only that of a done ctx before anything could be said: ETimeout.
	Explain(ctx context.Context, c *template.Catalog, r Request) (Explanation, error)
}

// Explanation is why there is no layout, in words, and what would make one possible.
type Explanation struct {
	Problems []*app.Error `json:"problems,omitempty"`
	Conflict []Clause     `json:"conflict,omitempty"`
	// Minimal is true when every clause was proven to be needed: without any one of them there is a layout.
	Minimal bool  `json:"minimal,omitempty"`
	Fixes   []Fix `json:"fixes,omitempty"`
}

// Clause is one constraint, in the template's own words.
type Clause struct {
	Kind     string   `json:"kind"` // size, min, max, placed, must_coexist, cant_coexist, hardware, image, resources, ratio, zones, hosts, compatibility
	Text     string   `json:"text"` // a sentence
	Services []string `json:"services,omitempty"`
	Origin   string   `json:"origin,omitempty"` // file:line where it is written, as far as known
}

// Fix is a change that makes a layout possible; it was checked by solving.
type Fix struct {
	Text string `json:"text"` // "7 nodes instead of 5"
	// Request is what to ask instead, where asking otherwise is enough; nil where the template must change.
	Request *Request `json:"request,omitempty"`
}
