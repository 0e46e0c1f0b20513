package identity

import (
	"net/http"

	"muster/app"
	"muster/portal/site"
)

// AskLink shows the identity to link to the account. It changes nothing: browsers and chats prefetch links.
func (p *accounts) AskLink(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	token := r.URL.Query().Get("token")
	l, err := p.Accounts.ShowLink(r.Context(), a, token)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, LinkPage(p.Frame(r, "Link identity"), Link{Label: l.Label, Kind: l.Kind, External: l.External, Token: token,
		Ends: l.ExpiresAt.Sub(p.Now())}))
	return nil
}

func (p *accounts) ConfirmLink(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	i, err := p.Accounts.ConfirmLink(r.Context(), a, r.PostForm.Get("token"))
	if err != nil {
		return err
	}
	p.Sessions.Put(r.Context(), site.KeyDone, i.Label+" linked to your account.")
	http.Redirect(w, r, "/account#identities", http.StatusSeeOther)
	return nil
}
