package page

// Hue is a service with the number of its colour.
type Hue struct {
	Name  string
	Index int
}

// Hues is how many colours services have in the style sheet; more services than that share them.
const Hues = 8

// MostHues is how many keys a chart tells apart; the rest is drawn as one.
const MostHues = 7
