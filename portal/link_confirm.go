package portal

import (
	"net/http"

	"muster/app"
	identitypage "muster/portal/identity"
)

// linkAsk shows who wants to be linked to the account. It changes nothing: browsers and chats open links by themselves.
func (p *Portal) linkAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	token := r.URL.Query().Get("token")
	l, err := p.accounts().ShowLink(r.Context(), a, token)
	if err != nil {
		return err
	}
	p.render(w, r, http.StatusOK, identitypage.LinkPage(p.frame(r, "Link an identity"), identitypage.Link{Label: l.Label, Kind: l.Kind, External: l.External, Token: token,
		Ends: l.ExpiresAt.Sub(p.now())}))
	return nil
}

func (p *Portal) linkConfirm(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	i, err := p.accounts().ConfirmLink(r.Context(), a, r.PostForm.Get("token"))
	if err != nil {
		return err
	}
	p.sessions.Put(r.Context(), keyDone, i.Label+" is linked to your account.")
	http.Redirect(w, r, "/account#identities", http.StatusSeeOther)
	return nil
}
