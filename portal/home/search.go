package home

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/identity"
)

// searchShown is how many results of each kind a search shows.
const searchShown = 10

// Search finds clusters, templates, people and requests that the actor can see. A single exact match
// redirects to its page.
func (p *Service) Search(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	q := strings.TrimSpace(r.URL.Query().Get("q"))
	if n := []rune(q); len(n) > 100 {
		q = string(n[:100])
	}
	s := Search{Query: q}
	if q != "" {
		if err := p.find(r.Context(), a, &s); err != nil {
			return err
		}
	}
	if one, only := s.only(); only && one.Exact {
		http.Redirect(w, r, one.Path, http.StatusSeeOther)
		return nil
	}
	f := p.Frame(r, "Search")
	f.At, f.Sought = "search", q
	p.Render(w, r, http.StatusOK, SearchPage(f, s))
	return nil
}

// find fills a search. Exact matches of each kind come first.
func (p *Service) find(ctx context.Context, a app.Actor, s *Search) error {
	q := s.Query
	same := func(name string) bool { return strings.EqualFold(name, q) }
	hit := func(kind *Hits, path, name, about string, exact bool) {
		h := Hit{Path: path, Name: name, About: about, Exact: exact}
		at := len(kind.Hits)
		if exact {
			at = slices.IndexFunc(append(kind.Hits, Hit{}), func(x Hit) bool { return !x.Exact })
		}
		if kind.Hits = slices.Insert(kind.Hits, at, h); len(kind.Hits) > searchShown {
			kind.Hits, kind.More = kind.Hits[:searchShown], true
		}
	}

	found, err := p.Clusters.ClusterPage(ctx, a, app.ClusterFilter{Text: q, Limit: searchShown + 1})
	if err != nil {
		return err
	}
	clusters := Hits{Kind: "Clusters", All: "/clusters?q=" + url.QueryEscape(q)}
	all := found.Clusters
	// Deleted clusters are found by id, and one of very many by its exact name.
	for _, f := range []app.ClusterFilter{{Name: q}, {IDs: []string{strings.ToLower(q)}, Deleted: true}} {
		if slices.ContainsFunc(all, func(c app.ClusterSummary) bool { return same(c.Name) || same(c.ID) }) {
			break
		}
		more, err := p.Clusters.ClusterPage(ctx, a, f)
		if err != nil {
			return err
		}
		all = append(all, more.Clusters...)
	}
	for _, c := range all {
		hit(&clusters, "/clusters/"+c.ID, c.Name, c.ID+" · "+c.StatusWord(c.Operation)+" · "+c.Template+" · owner "+c.Owner, same(c.Name) || same(c.ID))
	}
	s.Kinds = append(s.Kinds, clusters)

	c, err := p.Catalogs.Catalog(ctx, a)
	if err != nil {
		return err
	}
	templates := Hits{Kind: "Templates", All: "/templates"}
	names := make([]string, 0, len(c.Templates))
	for name := range c.Templates {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		t := c.Templates[name]
		if strings.Contains(strings.ToLower(name+" "+t.Label+" "+t.Description), strings.ToLower(q)) {
			hit(&templates, "/templates/"+url.PathEscape(name), t.Title(), t.Description, same(name) || same(t.Label))
		}
	}
	s.Kinds = append(s.Kinds, templates)
	if a.May("Users") {
		users, _, err := p.Users.Users(ctx, a, identity.UserFilter{Search: q, Limit: searchShown + 1})
		if err != nil {
			return err
		}
		kind := Hits{Kind: "People", All: "/admin/users?search=" + url.QueryEscape(q)}
		for _, u := range users {
			hit(&kind, "/admin/users/"+url.PathEscape(u.Name), u.Name, strings.Trim(u.FullName+" · "+string(u.Role), " ·"), same(u.Name))
		}
		s.Kinds = append(s.Kinds, kind)
	}
	if id, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimPrefix(q, "request "), "#"), 10, 64); err == nil && id > 0 {
		one, err := p.Requests.Request(ctx, a, id)
		switch app.CodeOf(err) {
		case "":
			path := "/requests/" + strconv.FormatInt(id, 10)
			s.Kinds = append(s.Kinds, Hits{Kind: "Requests", Hits: []Hit{{Path: path, Name: "Request " + strconv.FormatInt(id, 10), About: string(one.Status) + " · requested by " + one.Requester, Exact: true}}})
		case app.ENotFound, app.EForbidden:
		default:
			return err
		}
	}
	return nil
}
