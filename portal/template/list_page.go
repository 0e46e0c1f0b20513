package template

import (
	"cmp"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app/humanize"
	"muster/app/template"
	"muster/portal/page"
)

// List is the list of templates.
type List struct {
	Query, Provider, Service string // search and filters
	Cards                    []Card
	All                      int // number of templates
	Providers, Services      []page.Choice
}

// Card is a template's card.
type Card struct {
	*template.Template
	Runs     []string // titles of its services
	Places   []string // titles of its providers
	Price    float64  // of its smallest cluster per hour; 0: unknown
	Currency string   // of the price
	May      bool     // the actor can create a cluster from it

	words string // searched text
	names []string
	at    []string
}

// NewCards makes the cards of offered templates, in order.
func NewCards(c *template.Catalog, prices map[string]float64, may bool) []Card {
	var cards []Card
	for _, t := range c.Offered() {
		k := Card{Template: t, Price: prices[t.Name], Currency: c.Currency, May: may, at: placesOf(c, t)}
		text := []string{t.Name, t.Title(), t.Description, t.Version}
		for _, s := range t.Defaults.Services {
			k.Runs = append(k.Runs, serviceTitle(c, s))
		}
		k.names = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(t.Defaults.Services), t.Compatibility.Services...))))
		for _, s := range k.names {
			text = append(text, s, serviceTitle(c, s))
		}
		for _, p := range k.at {
			k.Places = append(k.Places, c.Providers[p].Title())
		}
		k.words = strings.ToLower(strings.Join(text, "\n"))
		cards = append(cards, k)
	}
	return cards
}

// placesOf are the providers with hardware and an image that the template allows, its default first.
func placesOf(c *template.Catalog, t *template.Template) []string {
	fits := func(p string) bool {
		hardware, image := false, false
		for name, h := range c.Hardware {
			_, is := h.Providers[p]
			hardware = hardware || is && allows(t.Compatibility.Hardware, name)
		}
		for name, i := range c.Images {
			_, is := i.Providers[p]
			image = image || is && allows(t.Compatibility.Images, name)
		}
		return hardware && image
	}
	var all []string
	for p := range c.Providers {
		if p == t.Defaults.Provider || fits(p) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		if (a == t.Defaults.Provider) != (b == t.Defaults.Provider) {
			return cmp.Or(map[bool]int{true: -1, false: 1}[a == t.Defaults.Provider])
		}
		return strings.Compare(a, b)
	})
	return all
}

func allows(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

func serviceTitle(c *template.Catalog, name string) string {
	if s := c.Services[name]; s != nil {
		return s.Title()
	}
	return name
}

// newList filters cards by search, provider and service.
func newList(c *template.Catalog, in url.Values, prices map[string]float64, may bool) List {
	l := List{Query: strings.TrimSpace(in.Get("q")), Provider: in.Get("provider"), Service: in.Get("service")}
	cards := NewCards(c, prices, may)
	l.All = len(cards)
	services, places := map[string]bool{}, map[string]bool{}
	for _, k := range cards {
		for _, s := range k.names {
			services[s] = true
		}
		for _, p := range k.at {
			places[p] = true
		}
		if k.fits(l) {
			l.Cards = append(l.Cards, k)
		}
	}
	l.Services = filterChoices("All services", services, l.Service, func(s string) string { return serviceTitle(c, s) })
	l.Providers = filterChoices("All providers", places, l.Provider, func(p string) string {
		if e := c.Providers[p]; e != nil {
			return e.Title()
		}
		return p
	})
	return l
}

func (k Card) fits(l List) bool {
	for _, word := range strings.Fields(strings.ToLower(l.Query)) {
		if !strings.Contains(k.words, word) {
			return false
		}
	}
	return (l.Provider == "" || slices.Contains(k.at, l.Provider)) && (l.Service == "" || slices.Contains(k.names, l.Service))
}

// filterChoices lists existing values, and the current one even if it doesn't exist, so that it can be cleared.
func filterChoices(none string, all map[string]bool, chosen string, title func(string) string) []page.Choice {
	out := []page.Choice{{Label: none, Chosen: chosen == ""}}
	if chosen != "" {
		all[chosen] = true
	}
	for name := range all {
		out = append(out, page.Choice{Value: name, Label: title(name), Chosen: name == chosen})
	}
	slices.SortFunc(out[1:], func(a, b page.Choice) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)), strings.Compare(a.Value, b.Value))
	})
	return out
}

// Narrowed reports whether a filter is active.
func (l List) Narrowed() bool { return l.Query != "" || l.Provider != "" || l.Service != "" }

// Found is the number of results as text.
func (l List) Found() string {
	if !l.Narrowed() {
		return humanize.Count(l.All, "template")
	}
	return strconv.Itoa(len(l.Cards)) + " of " + humanize.Count(l.All, "template")
}

// NewPath is the form for a cluster from the template.
func (k Card) NewPath() string { return "/clusters/new?template=" + url.QueryEscape(k.Name) }

// runs are the first services, and the number of others.
func (k Card) runs(most int) (first []string, more int) {
	if len(k.Runs) > most+1 {
		return k.Runs[:most], len(k.Runs) - most
	}
	return k.Runs, 0
}

// picture is the URL of the template's icon if the portal serves it: pages load nothing from elsewhere.
func (k Card) picture() string {
	if strings.HasPrefix(k.Icon, "/static/") && !strings.Contains(k.Icon, "..") {
		return k.Icon
	}
	return ""
}

// Sigil is an icon generated from a name: a symmetric 3×3 grid and a colour.
type Sigil struct {
	Cells [9]bool
	Hue   int
}

// SigilOf returns a name's icon.
func SigilOf(name string) (s Sigil) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	n := h.Sum32()
	n ^= n >> 15
	s.Hue = int(n>>8) % page.MostHues
	for i := range 6 { // left and middle column; the right mirrors the left
		full := n>>(16+i)&1 == 1
		row := i / 2
		if i%2 == 0 {
			s.Cells[3*row], s.Cells[3*row+2] = full, full
		} else {
			s.Cells[3*row+1] = full
		}
	}
	full := 0
	for _, c := range s.Cells {
		if c {
			full++
		}
	}
	if full < 3 || full > 7 { // too empty or too full
		for i := range s.Cells {
			s.Cells[i] = i%2 == int(n&1) // a checkerboard or its opposite
		}
	}
	return s
}
