package home

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
type Hit struct {
	Path, Name, About string
	Exact             bool // it has just the name or id that was looked for
}

// only is what was found, where it is just one thing.
func (s Search) only() (one Hit, only bool) {
	for _, k := range s.Kinds {
		if only && len(k.Hits) > 0 || len(k.Hits) > 1 {
			return Hit{}, false
		}
		if len(k.Hits) == 1 {
			one, only = k.Hits[0], true
		}
	}
	return one, only
}

// Sentence says how much was found.
func (s Search) Sentence() string {
	n := 0
	for _, k := range s.Kinds {
		n += len(k.Hits)
	}
	switch {
	case s.Query == "":
		return "Find clusters by name, ID or owner, templates, people, and requests by number."
	case n == 0:
		return "No results for “" + s.Query + "”."
	}
	return "Results for “" + s.Query + "”."
}
