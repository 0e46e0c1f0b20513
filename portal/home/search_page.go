package home

// Search is a search with its results.
type Search struct {
	Query string
	Kinds []Hits
}

// Hits are the results of a kind.
type Hits struct {
	Kind string
	All  string // the address of the full list
	More bool   // there are more results
	Hits []Hit
}

// Hit is one result.
type Hit struct {
	Path, Name, About string
	Exact             bool // name or id is exactly the search term
}

// only is the result, if there is just one.
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

// Sentence introduces the results.
func (s Search) Sentence() string {
	n := 0
	for _, k := range s.Kinds {
		n += len(k.Hits)
	}
	switch {
	case s.Query == "":
		return "Find clusters by name, ID or owner, requests by number, templates and people."
	case n == 0:
		return "No results for “" + s.Query + "”."
	}
	return "Results for “" + s.Query + "”."
}
