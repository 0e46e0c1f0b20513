package identity

import (
	"net/http"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// atHome is an actor in their home tenant, even while they act in another one.
func atHome(a app.Actor) app.Actor {
	a.Tenant, a.Home = homeOf(a), ""
	return a
}

func (p *tokens) New(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showNew(w, r, http.StatusOK, a, NewToken{Days: "90"})
}

func (p *tokens) showNew(w http.ResponseWriter, r *http.Request, status int, a app.Actor, in NewToken) error {
	f := p.Frame(r, "New API token")
	f.At, in.Scopes = "account", identity.ScopesOf(a.Role)
	p.Render(w, r, status, NewTokenPage(f, in))
	return nil
}

func (p *tokens) Create(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	in := NewToken{Label: strings.TrimSpace(r.PostForm.Get("label")), Days: strings.TrimSpace(r.PostForm.Get("days"))}
	for _, s := range r.PostForm["scopes"] {
		in.Chosen = append(in.Chosen, app.Scope(s))
	}
	days, err := strconv.Atoi(in.Days)
	if err != nil || days < 1 {
		in.Field, in.Complaint = "days", page.Complaint{Message: "Days must be a whole number.", Hint: "Enter a number such as 90."}
		return p.showNew(w, r, http.StatusUnprocessableEntity, a, in)
	}
	t, made, err := p.Tokens.CreateToken(r.Context(), atHome(a), identity.NewAPIToken{Label: in.Label, Scopes: in.Chosen, Days: days})
	if e := app.AsError(err); err != nil && (e.Field == "label" || e.Field == "scopes" || e.Field == "days") {
		in.Field, in.Complaint = e.Field, page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.showNew(w, r, site.StatusOf(err), a, in)
	}
	if err != nil {
		return err
	}
	return p.showNew(w, r, http.StatusCreated, a, NewToken{Label: t.Label, Made: made})
}

func (p *tokens) Revoke(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PostForm.Get("id"), 10, 64)
	if err != nil {
		return &app.Error{Code: app.EInvalid, Field: "id", Message: "Invalid token ID."}
	}
	if err := p.Tokens.RevokeToken(r.Context(), atHome(a), id); err != nil {
		return err
	}
	return accountDone(p.Site, w, r, "Token revoked.", "tokens")
}
