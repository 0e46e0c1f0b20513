package page

// Hue is a service with the number of its colour.
type Hue struct {
	Name  string
	Index int
}

// hues is how many colours services have in the style sheet; more services than that share them.
const hues = 8

// mostHues is how many keys a chart tells apart; the rest is drawn as one.
const mostHues = 7
