package home

// Need is a number of things that need attention.
type Need struct {
	Count     int
	One, Many string // the noun, after the number
	Path      string // the page to deal with them
}

// Text is the noun for the number.
func (n Need) Text() string {
	if n.Count == 1 {
		return n.One
	}
	return n.Many
}
