package cluster

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
	"muster/portal/page"
	"muster/portal/site"
)

// maxAlso limits how many places and hardware types the form offers.
const maxAlso = 60

// offersPlaces reports whether there is more than one place to choose from.
func (f Create) offersPlaces() bool { return len(f.AlsoAt) > 1 || len(f.AlsoHardware) > 1 }

// placeOptions sets the places that can be tried besides the chosen one. A template that names places offers them by itself.
func (n *Form) placeOptions(in url.Values, typed bool) {
	v, t := &n.View, n.View.Template
	if typed {
		v.Also, v.AlsoKinds, v.Order = in["also"], in["also_hardware"], in.Get("place_order")
	}
	v.Also, v.AlsoKinds = v.Also[:min(len(v.Also), maxAlso)], v.AlsoKinds[:min(len(v.AlsoKinds), maxAlso)]
	if len(t.Places) == 0 {
		for _, name := range site.Names(n.Catalog.Providers) {
			v.AlsoAt = append(v.AlsoAt, page.Choice{Value: name, Label: n.Title("provider", name)})
			for _, zone := range n.Catalog.Providers[name].Zones {
				v.AlsoAt = append(v.AlsoAt, page.Choice{Value: name + "/" + zone, Label: n.Title("provider", name) + " zone " + zone})
			}
		}
		for _, name := range Allowed(n.Catalog.Hardware, t.Compatibility.Hardware, nil) {
			v.AlsoHardware = append(v.AlsoHardware, page.Choice{Value: name, Label: n.Title("hardware", name)})
		}
	}
	v.AlsoAt, v.AlsoHardware = ticked(v.AlsoAt, v.Also), ticked(v.AlsoHardware, v.AlsoKinds)
	standard := cmp.Or(t.PlaceOrder, layout.OrderCheapest)
	for _, o := range []page.Choice{{Value: string(layout.OrderCheapest), Label: "Cheapest first"}, {Value: string(layout.OrderFastest), Label: "Fastest first"},
		{Value: string(layout.OrderListed), Label: "As listed"}} {
		if o.Value == string(standard) {
			o.Value, o.Label = "", o.Label+" (default)"
		}
		o.Chosen = o.Value == v.Order
		v.Orders = append(v.Orders, o)
	}
	v.Orders = withChosen(v.Orders, v.Order)
}

func ticked(list []page.Choice, chosen []string) []page.Choice {
	list = list[:min(len(list), maxAlso)]
	for i := range list {
		list[i].Chosen = slices.Contains(chosen, list[i].Value)
	}
	return list
}

// readPlaces fills in the places of the request: every combination of the chosen and the ticked ones.
func (n *Form) readPlaces() {
	v, r := &n.View, &n.request
	r.Order = layout.PlaceOrder(v.Order)
	if err := r.Order.Check(); err != nil {
		n.complain("place_order", page.Complaint{Message: "Unknown order.", Hint: "Choose one from the list."})
		r.Order = ""
	}
	if len(v.Also)+len(v.AlsoKinds) == 0 {
		r.Order = "" // nothing to order
		return
	}
	providers, kinds := slices.Clone(v.Also), slices.Clone(v.AlsoKinds)
	if first := cmp.Or(v.Provider, v.Template.Defaults.Provider); (first != "" || len(v.Also) == 0) && !slices.Contains(providers, first) {
		providers = slices.Insert(providers, 0, first)
	}
	if first := cmp.Or(v.Hardware, v.Template.Defaults.Hardware); (first != "" || len(v.AlsoKinds) == 0) && !slices.Contains(kinds, first) {
		kinds = slices.Insert(kinds, 0, first)
	}
	if len(providers)*len(kinds) > layout.MaxPlaces {
		e := app.AsError(layout.PlaceOptions{Places: make([]template.Place, len(providers)*len(kinds))}.Check())
		n.complain("places", page.Complaint{Message: e.Message, Hint: e.Hint})
		return
	}
	for _, p := range providers {
		provider, zone, _ := strings.Cut(p, "/")
		for _, h := range kinds {
			r.Places = append(r.Places, layout.Place{Provider: provider, Zone: zone, Hardware: h})
		}
	}
	r.Provider, r.Hardware = "", ""
}

// sharePlaces adds the places to the address of a form.
func (n *Form) sharePlaces(q url.Values) {
	v := n.View
	if len(v.Also) > 0 {
		q["also"] = v.Also
	}
	if len(v.AlsoKinds) > 0 {
		q["also_hardware"] = v.AlsoKinds
	}
	if v.Order != "" {
		q.Set("place_order", v.Order)
	}
}
