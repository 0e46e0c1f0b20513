package docs

import (
	"net/http"
	"sync"

	"muster/app"
	"muster/docs"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Service serves the documentation.
type Service struct {
	*site.Site
	Book func() *Book
}

// New returns the service. The documentation is read when it's first opened.
func New(s *site.Site) *Service {
	return &Service{Site: s, Book: embedded}
}

// embedded is the binary's documentation, read once.
var embedded = sync.OnceValue(func() *Book {
	b, err := Load(docs.Files)
	if err != nil {
		panic("docs: embedded files cannot be read: " + err.Error())
	}
	return b
})

// Routes are the pages. Like all pages about the installation they need a sign-in: they tell its version.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show(Path, p.open),
		site.Show(Path+"/{page}", p.show),
		site.Show(Path+"/{folder}/{page}", p.show),
	}
}

// open shows the table of contents or, with a search term, what was found.
func (p *Service) open(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := query(r.URL.Query().Get("q"))
	if q == "" {
		return p.show(w, r, a)
	}
	s := Search{Query: q, Groups: p.Book().Groups}
	s.Hits, s.More = p.Book().Search(q)
	f := p.frame(r, "Search the documentation")
	p.Render(w, r, http.StatusOK, SearchPage(f, s))
	return nil
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, _ app.Actor) error {
	name := chi.URLParam(r, "page")
	if folder := chi.URLParam(r, "folder"); folder != "" {
		name = folder + "/" + name
	}
	b := p.Book()
	one, ok := b.Page(name)
	if !ok {
		return site.ErrNoSuchPage
	}
	p.Render(w, r, http.StatusOK, ShowPage(p.frame(r, one.Title), Show{Page: one, Groups: b.Groups, Listed: b.Listed(one)}))
	return nil
}

func (p *Service) frame(r *http.Request, title string) page.Frame {
	f := p.Frame(r, title)
	f.At, f.Styles, f.Scripts = "docs", append(f.Styles, "docs.css"), append(f.Scripts, "docs.js")
	return f
}
