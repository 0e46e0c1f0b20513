package terminal

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/terminal"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Show is the page of a terminal.
type Show struct {
	View  cluster.View
	Node  app.Node
	Nonce string
	// Announce is for how long a recording of the terminal is kept; "" where it isn't recorded.
	Announce string
}

// stream is the address of the terminal's stream.
func (s Show) stream() string {
	return "/clusters/" + s.View.ID + "/nodes/" + s.Node.Name + "/terminal/stream"
}

// show is the page. The library for terminals writes style sheets of its own, which only this page allows, by a nonce.
func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	v, err := p.Clusters.Cluster(r.Context(), a, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	if err := a.MayChange("OpenTerminal", v.Cluster); err != nil {
		return err
	}
	name := chi.URLParam(r, "node")
	i := slices.IndexFunc(v.Nodes, func(n app.Node) bool { return n.Name == name })
	if i < 0 {
		return app.Errorf(app.ENotFound, "Cluster %q has no node %q.", v.Name, name)
	}
	s := Show{View: v, Node: v.Nodes[i], Nonce: newNonce()}
	set, err := p.Terminals.TerminalSettings(r.Context(), a)
	if err != nil {
		return err
	}
	if set.StepUp {
		if err := p.stepUp(r.Context(), a, v.ID, name); err != nil {
			return err
		}
	}
	if set.Record {
		s.Announce = humanize.Count(set.KeepDays, "day")
	}
	f := p.Frame(r, "Terminal on "+s.Node.Name+" of "+v.Name)
	f.At, f.Styles, f.Scripts = "clusters", []string{"xterm.css", "terminal.css"}, []string{"xterm.js", "xterm-fit.js", "terminal-style.js", "terminal.js"}
	w.Header().Set("Content-Security-Policy", site.ContentPolicy("'nonce-"+s.Nonce+"'"))
	p.Render(w, r, http.StatusOK, ShowPage(f, s))
	return nil
}

// stepUp asks people to re-authenticate for a new terminal: not those who may be back for one that is open.
func (p *Service) stepUp(ctx context.Context, a app.Actor, cluster, node string) error {
	fresh := a.MustStepUp()
	if fresh == nil {
		return nil
	}
	list, err := p.Terminals.Terminals(ctx, a, terminal.Filter{Cluster: cluster, User: a.Name(), Open: true})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(t terminal.Terminal) bool { return t.Node == node }) {
		return nil
	}
	return fresh
}

func newNonce() string { return rand.Text() }
