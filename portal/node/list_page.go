package node

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"muster/app"
	"muster/app/node"
	"muster/app/template"
	"muster/portal/page"
)

// List is what the page of nodes shows.
type List struct {
	Page   node.Page
	Filter node.Filter
	Query  url.Values // as asked for
	Error  page.Complaint
	Actor  app.Actor

	Templates, Providers, Hardware, Services []string
}

// offer sets the choices of the filter to the names of the catalog.
func (l *List) offer(c *template.Catalog) {
	l.Templates = choices(c.Templates, l.Filter.Template)
	l.Providers = choices(c.Providers, l.Filter.Provider)
	l.Hardware = choices(c.Hardware, l.Filter.Hardware)
	l.Services = choices(c.Services, l.Filter.Service)
}

// choices are the names of a catalog's entries, and the one in use if it isn't among them.
func choices[E any](entries map[string]E, chosen string) []string {
	names := slices.Collect(maps.Keys(entries))
	if chosen != "" && !slices.Contains(names, chosen) {
		names = append(names, chosen)
	}
	slices.Sort(names)
	return names
}

// at is the page's address with one parameter changed; "" takes it away. The page starts from the beginning.
func (l List) at(name, value string) string {
	q := url.Values{}
	for k, v := range l.Query {
		if k != "after" && len(v) > 0 && v[0] != "" {
			q.Set(k, v[0])
		}
	}
	if value == "" {
		q.Del(name)
	} else {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return "/nodes"
	}
	return "/nodes?" + q.Encode()
}

func (l List) narrowed() bool {
	f := l.Filter
	return f.Text+f.State+f.Cluster+f.Owner+f.Template+f.Provider+f.Hardware+f.Image+f.Zone+f.Service != ""
}

func mark(n node.Listed) string {
	return page.NodeMark(app.Node{Status: app.NodeStatus(strings.Replace(n.State, node.StateLost, string(app.NodeReady), 1)), LostAt: n.LostAt})
}

func state(n node.Listed) string {
	if n.Leaving {
		return n.State + ", being deleted"
	}
	if (app.Node{Status: app.NodeStatus(n.State), LostAt: n.LostAt, LeavesAt: n.LeavesAt}).Interrupted() {
		return n.State + ", will be interrupted at " + n.LeavesAt.UTC().Format("15:04 UTC")
	}
	return n.State
}
