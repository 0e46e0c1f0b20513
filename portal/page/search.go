package page

// Search is what was looked for, and what was found.
type Search struct {
	Query string
	Kinds []Hits
}

// Hits are what was found of a kind.
type Hits struct {
	Kind string
	All  string // where all of them are
	More bool   // there are more than these
	Hits []Hit
}

// Hit is one thing that was found.
type Hit struct{ Path, Name, About string }

// Sentence says how much was found.
func (s Search) Sentence() string {
	n := 0
	for _, k := range s.Kinds {
		n += len(k.Hits)
	}
	switch {
	case s.Query == "":
		return "Look for clusters by name, id or owner, for templates, for people and for requests by number."
	case n == 0:
		return "Nothing was found for “" + s.Query + "”."
	}
	return "What fits “" + s.Query + "”."
}
