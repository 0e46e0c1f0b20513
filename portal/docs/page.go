package docs

// Show is a page with the list of all pages.
type Show struct {
	Page   *Page
	Groups []Group
	Listed *Page // current in the list; nil for none
}

// parts are the headings that a page begins with a list of; none on short pages, and on the table of contents, which is a list itself.
func (s Show) parts() (all []Section) {
	if s.Page.file == index {
		return nil
	}
	for _, x := range s.Page.Sections() {
		if x.Level == 2 {
			all = append(all, x)
		}
	}
	if len(all) < 3 {
		return nil
	}
	return all
}

// Search is a search with its results.
type Search struct {
	Query  string
	Hits   []Hit
	More   bool
	Groups []Group
}

func (s Search) sentence() string {
	switch {
	case len(s.Hits) == 0:
		return "No results for “" + s.Query + "”."
	case s.More:
		return "Best results for “" + s.Query + "”. Add a word to narrow them down."
	}
	return "Results for “" + s.Query + "”."
}
