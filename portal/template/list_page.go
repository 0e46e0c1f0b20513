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

// List is the catalog as people choose from it.
type List struct {
	Query, Provider, Service string // what is looked for, as it was typed
	Cards                    []Card
	All                      int // templates that there are
	Providers, Services      []page.Choice
}

// Card is one template as people choose it.
type Card struct {
	*template.Template
	Runs   []string // its services, as people call them
	Places []string // the providers where its clusters can be made
	Price  float64  // of its smallest cluster per hour; 0: not known
	May    bool     // the actor may make a cluster of it

	words string // what a search looks at
	names []string
	at    []string
}

// NewCards makes a card of each template that is offered, in that order.
func NewCards(c *template.Catalog, prices map[string]float64, may bool) []Card {
	var cards []Card
	for _, t := range c.Offered() {
		k := Card{Template: t, Price: prices[t.Name], May: may, at: placesOf(c, t)}
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

// placesOf are the providers that have hardware and an image which the template allows, its own first.
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

// newList returns the cards that fit what is looked for: all words of the search, the provider and the service.
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
	l.Services = filterChoices("any service", services, l.Service, func(s string) string { return serviceTitle(c, s) })
	l.Providers = filterChoices("any provider", places, l.Provider, func(p string) string {
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

// filterChoices offers what there is, and what a link asks for even where there is no such thing, so that it can be seen and undone.
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

// Narrowed tells whether something is looked for.
func (l List) Narrowed() bool { return l.Query != "" || l.Provider != "" || l.Service != "" }

// Found says how many there are.
func (l List) Found() string {
	if !l.Narrowed() {
		return humanize.Count(l.All, "template")
	}
	return strconv.Itoa(len(l.Cards)) + " of " + humanize.Count(l.All, "template")
}

// NewPath leads to the form for a cluster of the template.
func (k Card) NewPath() string { return "/clusters/new?template=" + url.QueryEscape(k.Name) }

// runs are the first services, and how many more there are.
func (k Card) runs(most int) (first []string, more int) {
	if len(k.Runs) > most+1 {
		return k.Runs[:most], len(k.Runs) - most
	}
	return k.Runs, 0
}

// picture is the address of the template's own picture, where the portal may show it: pages load nothing from elsewhere.
func (k Card) picture() string {
	if strings.HasPrefix(k.Icon, "/static/") && !strings.Contains(k.Icon, "..") {
		return k.Icon
	}
	return ""
}

// Sigil is a sign made from a name: squares in three rows, alike on both sides, and the number of a colour.
type Sigil struct {
	Cells [9]bool
	Hue   int
}

// SigilOf returns the same sign for the same name, on every page and day.
func SigilOf(name string) (s Sigil) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	n := h.Sum32()
	n ^= n >> 15
	s.Hue = int(n>>8) % page.MostHues
	for i := range 6 { // left and middle column; the right one is like the left
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
	if full < 3 || full > 7 { // too little or too much to be a sign
		for i := range s.Cells {
			s.Cells[i] = i%2 == int(n&1) // a checkerboard or its opposite
		}
	}
	return s
}
