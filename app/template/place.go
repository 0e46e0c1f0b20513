package template

import (
	"fmt"
	"slices"
	"strings"

	"muster/app"
)

// MaxPlaces is how many places a template or a request may name.
const MaxPlaces = 20

// Place is where the machines of a cluster may come from. Empty fields mean any.
type Place struct {
	Provider string `json:"provider,omitempty"`
	Zone     string `json:"zone,omitempty"`
	Hardware string `json:"hardware,omitempty"`
}

// Text names a place: "aws zone eu-1a medium".
func (p Place) Text() string {
	var words []string
	if p.Provider != "" {
		words = append(words, p.Provider)
	}
	if p.Zone != "" {
		words = append(words, "zone "+p.Zone)
	}
	if p.Hardware != "" {
		words = append(words, p.Hardware)
	}
	return strings.Join(words, " ")
}

// Within narrows a place down to what another one says, and reports whether they agree.
func (p Place) Within(q Place) (Place, bool) {
	for _, f := range []struct {
		is   *string
		says string
	}{{&p.Provider, q.Provider}, {&p.Zone, q.Zone}, {&p.Hardware, q.Hardware}} {
		switch {
		case *f.is == "":
			*f.is = f.says
		case f.says != "" && f.says != *f.is:
			return p, false
		}
	}
	return p, true
}

// PlaceOrder says which of several places is tried first.
type PlaceOrder string

// The orders.
const (
	OrderCheapest PlaceOrder = "cheapest"
	OrderFastest  PlaceOrder = "fastest"
	OrderListed   PlaceOrder = "listed"
)

// PlaceOrders are all of them; the first is the default.
var PlaceOrders = []PlaceOrder{OrderCheapest, OrderFastest, OrderListed}

// Check refuses an order that does not exist. "" is the default.
func (o PlaceOrder) Check() error {
	if o == "" || slices.Contains(PlaceOrders, o) {
		return nil
	}
	return &app.Error{Code: app.EInvalid, Field: "place_order", Message: fmt.Sprintf("Unknown place order %.40q.", string(o)),
		Hint: "Use cheapest, fastest or listed."}
}

// CheckPlace refuses machines in a place that the template doesn't allow. A template without places allows all.
func (t *Template) CheckPlace(p Place) error {
	if len(t.Places) == 0 || slices.ContainsFunc(t.Places, func(q Place) bool { q, is := q.Within(p); return is && q == p }) {
		return nil
	}
	words := make([]string, 0, len(t.Places))
	for _, q := range t.Places {
		words = append(words, q.Text())
	}
	return &app.Error{Code: app.EInvalid, Reason: "place", Field: "places", Message: fmt.Sprintf("Template %s doesn't allow %s.", t.Name, p.Text()),
		Hint: "It allows " + strings.Join(words, "; ") + "."}
}
