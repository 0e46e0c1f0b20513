package home

// Need is a number of things that want someone's attention.
type Need struct {
	Count     int
	One, Many string // what they are, after the number
	Path      string // where to see to them
}

// Words are what they are.
func (n Need) Words() string {
	if n.Count == 1 {
		return n.One
	}
	return n.Many
}
