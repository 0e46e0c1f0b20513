package portal

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/portal/page"
)

// searchShown is how many of each kind a search shows.
const searchShown = 10

// search looks for clusters, templates, people and requests, as far as the actor may see them. Where one is just what was looked
// for, it leads there.
func (p *Portal) search(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if n := []rune(q); len(n) > 100 {
		q = string(n[:100])
	}
	s := page.Search{Query: q}
	var exact []string
	if q != "" {
		var err error
		if exact, err = p.find(r.Context(), a, &s); err != nil {
			return err
		}
	}
	slices.Sort(exact)
	if exact = slices.Compact(exact); len(exact) == 1 {
		http.Redirect(w, r, exact[0], http.StatusSeeOther)
		return nil
	}
	f := p.frame(r, "Search")
	f.At, f.Sought = "search", q
	p.render(w, r, http.StatusOK, page.SearchPage(f, s))
	return nil
}

// find fills a search, and gives where what has exactly that name or id is.
func (p *Portal) find(ctx context.Context, a app.Actor, s *page.Search) (exact []string, err error) {
	q := s.Query
	same := func(name string) bool { return strings.EqualFold(name, q) }
	hit := func(kind *page.Hits, path, name, about string) {
		if len(kind.Hits) == searchShown {
			kind.More = true
			return
		}
		kind.Hits = append(kind.Hits, page.Hit{Path: path, Name: name, About: about})
	}

	found, err := p.muster.ClusterPage(ctx, a, app.ClusterFilter{Text: q, Limit: searchShown + 1})
	if err != nil {
		return nil, err
	}
	clusters := page.Hits{Kind: "Clusters", All: "/clusters?q=" + url.QueryEscape(q)}
	for _, c := range found.Clusters {
		hit(&clusters, "/clusters/"+c.ID, c.Name, c.ID+" · "+c.StatusWord(c.Operation)+" · "+c.Template+" · of "+c.Owner)
		if same(c.Name) || same(c.ID) {
			exact = append(exact, "/clusters/"+c.ID)
		}
	}
	if len(exact) == 0 { // one that is gone is found by its id
		gone, err := p.muster.ClusterPage(ctx, a, app.ClusterFilter{IDs: []string{strings.ToLower(q)}, Deleted: true})
		if err != nil {
			return nil, err
		}
		for _, c := range gone.Clusters {
			exact = append(exact, "/clusters/"+c.ID)
		}
	}
	s.Kinds = append(s.Kinds, clusters)

	if p.templating() != nil {
		c, err := p.muster.Catalog(ctx, a)
		if err != nil {
			return nil, err
		}
		kind := page.Hits{Kind: "Templates", All: "/templates"}
		names := make([]string, 0, len(c.Templates))
		for name := range c.Templates {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			t := c.Templates[name]
			if strings.Contains(strings.ToLower(name+" "+t.Label+" "+t.Description), strings.ToLower(q)) {
				hit(&kind, "/templates/"+url.PathEscape(name), t.Title(), t.Description)
			}
			if same(name) {
				exact = append(exact, "/templates/"+url.PathEscape(name))
			}
		}
		s.Kinds = append(s.Kinds, kind)
	}
	if p.people() != nil && a.May("Users") {
		users, _, err := p.people().Users(ctx, a, app.UserFilter{Search: q, Limit: searchShown + 1})
		if err != nil {
			return nil, err
		}
		kind := page.Hits{Kind: "People", All: "/admin/users?search=" + url.QueryEscape(q)}
		for _, u := range users {
			path := "/admin/users/" + url.PathEscape(u.Name)
			hit(&kind, path, u.Name, strings.Trim(u.FullName+" · "+string(u.Role), " ·"))
			if same(u.Name) {
				exact = append(exact, path)
			}
		}
		s.Kinds = append(s.Kinds, kind)
	}
	if id, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimPrefix(q, "request "), "#"), 10, 64); err == nil && id > 0 && p.requesting() != nil {
		one, err := p.requesting().Request(ctx, a, id)
		switch app.CodeOf(err) {
		case "":
			path := "/requests/" + strconv.FormatInt(id, 10)
			s.Kinds = append(s.Kinds, page.Hits{Kind: "Requests", Hits: []page.Hit{{Path: path, Name: "Request " + strconv.FormatInt(id, 10), About: string(one.Status) + " · of " + one.Requester}}})
			exact = append(exact, path)
		case app.ENotFound, app.EForbidden:
		default:
			return nil, err
		}
	}
	return exact, nil
}
