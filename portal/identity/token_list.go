package identity

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// tokens are API tokens: one's own, and those of robots.
type tokens struct {
	*site.Site
}

func (p *tokens) routes() []site.Route {
	return []site.Route{
		site.Show("/account/tokens/new", p.New),
		site.Submit("/account/tokens/new", p.Create),
		site.Submit("/account/tokens/revoke", p.Revoke),
		site.Show("/admin/tokens", p.List),
		site.Submit("/admin/tokens", p.CreateForRobot),
		site.Submit("/admin/tokens/revoke", p.RevokeAny),
	}
}

func (p *tokens) operations() []site.Operation {
	return []site.Operation{
		site.Get("/tokens", p.APIList, site.About("List your API tokens; admins list the tenant's")),
		site.Post("/tokens", p.APICreate, site.About("Create an API token for yourself; admins create tokens for robots too"), site.Answers(http.StatusCreated)),
		site.Delete("/tokens/{id}", p.APIRevoke, site.About("Revoke an API token")),
		site.Delete("/token", p.APIEnd, site.About("Revoke the token used for this request")),
	}
}

func (p *tokens) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, http.StatusOK, a, TokenForm{Days: strconv.Itoa(identity.TokenDays), Scopes: []string{string(app.ScopeCluster)}})
}

func (p *tokens) show(w http.ResponseWriter, r *http.Request, status int, a app.Actor, typed TokenForm) error {
	if !a.May("CreateRobotToken") {
		return &app.Error{Code: app.EForbidden, Message: "Your role doesn't allow this.", Hint: "Manage your own tokens on your account page."}
	}
	tokens, err := p.Tokens.Tokens(r.Context(), a, "")
	if err != nil {
		return err
	}
	robots, _, err := p.Users.Users(r.Context(), a, identity.UserFilter{Role: app.RoleRobot, Limit: 500})
	if err != nil {
		return err
	}
	l := TokenList{Now: p.Now(), Tokens: tokens, Form: typed, Done: p.Sessions.PopString(r.Context(), site.KeyDone),
		Scopes: slices.DeleteFunc(identity.ScopesOf(app.RoleRobot), func(s app.Scope) bool { return s == app.ScopeRead })}
	for _, u := range robots {
		if !u.Disabled() {
			l.Robots = append(l.Robots, u.Name)
		}
	}
	f := p.AdminFrame(r, "API tokens")
	p.Render(w, r, status, TokenListPage(f, l))
	return nil
}

func (p *tokens) CreateForRobot(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	typed := TokenForm{User: r.PostForm.Get("user"), Label: strings.TrimSpace(r.PostForm.Get("label")), Days: strings.TrimSpace(r.PostForm.Get("days")),
		Scopes: r.PostForm["scope"]}
	n := identity.NewAPIToken{User: typed.User, Label: typed.Label}
	for _, s := range typed.Scopes {
		n.Scopes = append(n.Scopes, app.Scope(s))
	}
	var err error
	if typed.Days != "" {
		if n.Days, err = strconv.Atoi(typed.Days); err != nil || n.Days == 0 {
			err = &app.Error{Code: app.EInvalid, Field: "days", Message: "Days must be a whole number.", Hint: "Enter a number such as 90."}
		}
	}
	var t identity.Token
	var secret string
	if err == nil {
		t, secret, err = p.Tokens.CreateRobotToken(r.Context(), a, n)
	}
	if err != nil {
		known, ok := Correctable(err)
		if !ok {
			return err
		}
		typed.Wrong = page.Complaint{Message: known.Message, Hint: known.Hint}
		if slices.Contains([]string{"user", "label", "days", "scopes"}, known.Field) {
			typed.Field = known.Field
		}
		return p.show(w, r, site.StatusOf(err), a, typed)
	}
	return showOnce(p.Site, w, r, Once{Title: "API token for " + t.User,
		Text:  "Programs use the token as MUSTER_TOKEN, or in the header Authorization: Bearer.",
		Label: "Token", Secret: secret, Back: "/admin/tokens", Called: "Done"})
}

func (p *tokens) RevokeAny(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	id, err := strconv.ParseInt(r.PostForm.Get("id"), 10, 64)
	if err != nil {
		return &app.Error{Code: app.EInvalid, Field: "id", Message: "Invalid token ID."}
	}
	if err := p.Tokens.RevokeToken(r.Context(), a, id); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Token revoked.", "/admin/tokens")
}
