package identity

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// Pages of the second factor.
const (
	PendingPath = "/signin/second-factor"
	FactorsPath = "/account/second-factor"
)

// askFactor is what a form asks an account with these second factors for.
func askFactor(p *site.Site, r *http.Request, tenant, user string, have identity.SecondFactors) (ask FactorAsk, err error) {
	ask.Needed, ask.App = len(have.Factors) > 0, have.Has(identity.FactorApp)
	if !have.Has(identity.FactorKey) || !keysPossible(p, r) {
		return ask, nil
	}
	var state []byte
	ask.Options, state, err = p.Keys.StartUse(origin(p, r), tenant, user, have.Factors)
	p.Sessions.Put(r.Context(), site.KeyChallenge, state)
	return ask, err
}

func keysPossible(p *site.Site, r *http.Request) bool {
	return p.Keys != nil && p.Keys.Possible(origin(p, r))
}

// origin is the portal's address without a path, as the browser sees it: the configured one, unless it is an IP address, for which browsers
// don't accept security keys. A page at a wrong host gains nothing: browsers bind keys to their host.
func origin(p *site.Site, r *http.Request) string {
	if u, err := url.Parse(p.URL); err == nil && u.Host != "" {
		if at := u.Scheme + "://" + u.Host; p.Keys == nil || p.Keys.Possible(at) {
			return at
		}
	}
	if p.Secure || r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// proofOf reads the second factor from a form.
func proofOf(p *site.Site, r *http.Request, tenant, user string) identity.FactorProof {
	answer := r.PostForm.Get("key")
	if answer == "" || p.Keys == nil {
		return identity.FactorProof{Code: r.PostForm.Get("code")}
	}
	state := p.Sessions.PopBytes(r.Context(), site.KeyChallenge)
	return identity.FactorProof{Key: func(keys []identity.SecondFactor) (identity.SecondFactor, error) {
		return p.Keys.FinishUse(origin(p, r), tenant, user, keys, state, []byte(answer))
	}}
}

// keyScripts are the scripts of a page that talks to security keys.
func keyScripts(options string) []string {
	if options == "" {
		return nil
	}
	return []string{"key.js"}
}

// factors are the pages that add, remove and require second factors.
type factors struct {
	*site.Site
}

func (p *factors) routes() []site.Route {
	return []site.Route{
		site.Show(FactorsPath, p.List).For(site.Adders),
		site.Show(FactorsPath+"/app", p.NewApp).For(site.Adders),
		site.Submit(FactorsPath+"/app", p.ConfirmApp).For(site.Adders),
		site.Submit(FactorsPath+"/key", p.AddKey).For(site.Adders),
		site.Redirect(FactorsPath+"/key", FactorsPath),
		site.Submit(FactorsPath+"/remove", p.Remove).For(site.Adders),
		site.Submit(FactorsPath+"/codes", p.ReplaceCodes).For(site.Adders),
		site.Redirect(FactorsPath+"/{act:remove|codes}", FactorsPath),
		site.Submit("/admin/users/{user}/reset-second-factor", p.ResetUser),
		site.Submit("/admin/users/second-factor", p.Require),
	}
}

func (p *factors) operations() []site.Operation {
	return []site.Operation{
		site.Post("/users/{name}/reset-second-factor", p.APIResetUser,
			site.About("Remove all second factors of a user and sign them out"), site.Answers(http.StatusOK)),
		site.Put("/second-factor", p.APIRequire, site.About("Set whether the tenant's users with a password need a second factor")),
	}
}

func (p *factors) List(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.show(w, r, a, http.StatusOK, SecondFactors{})
}

// adding is how long people take to name and touch a new key. They re-authenticate before, since a key's answer works only once.
const adding = 2 * time.Minute

func (p *factors) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, in SecondFactors) (err error) {
	if in.SecondFactors, err = p.Factors.SecondFactors(r.Context(), a); err != nil {
		return err
	}
	switch {
	case p.Keys == nil:
	case !keysPossible(p.Site, r):
		in.KeysNeed = keysNeedName
	case !a.Fresh(p.Now(), app.FreshWithin-adding):
		in.KeysNeed = KeysNeedProof
	default:
		var state []byte
		if in.Options, state, err = p.Keys.StartAdd(origin(p.Site, r), homeOf(a), a.User, in.Factors); err != nil {
			return err
		}
		p.Sessions.Put(r.Context(), site.KeyChallenge, state)
	}
	in.Must, in.Now, in.Done = a.MustAddFactor, p.Now(), p.Sessions.PopString(r.Context(), site.KeyDone)
	p.Render(w, r, status, SecondFactorPage(accountFrame(p.Site, r, "Second factor", in.Options), in))
	return nil
}

// accountFrame is the frame of a page of one's own account.
func accountFrame(p *site.Site, r *http.Request, title, options string) page.Frame {
	f := p.Frame(r, title)
	f.At, f.Scripts = "account", keyScripts(options)
	return f
}

func (p *factors) NewApp(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showApp(w, r, a, http.StatusOK, page.Complaint{})
}

func (p *factors) showApp(w http.ResponseWriter, r *http.Request, a app.Actor, status int, wrong page.Complaint) error {
	secret, err := p.Factors.StartAuthenticator(r.Context(), a)
	if err != nil {
		return err
	}
	in := NewApp{User: a.User, Issuer: "Muster " + hostOf(p.Site, r), Secret: secret, Code: r.PostForm.Get("code"), Complaint: wrong}
	p.Render(w, r, status, NewAppPage(accountFrame(p.Site, r, "Authenticator app", ""), in))
	return nil
}

// hostOf tells this portal from others in an authenticator app.
func hostOf(p *site.Site, r *http.Request) string {
	if u, err := url.Parse(p.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return r.Host
}

func (p *factors) ConfirmApp(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	codes, err := p.Factors.ConfirmAuthenticator(r.Context(), a, r.PostForm.Get("code"))
	if e := app.AsError(err); err != nil && e.Field == "code" {
		return p.showApp(w, r, a, site.StatusOf(err), page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return err
	}
	return p.added(w, r, codes, "Authenticator app added.")
}

func (p *factors) AddKey(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.Keys == nil {
		return site.ErrNoSuchPage
	}
	if err := site.Form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	record, err := p.Keys.FinishAdd(origin(p.Site, r), homeOf(a), a.User, p.Sessions.PopBytes(r.Context(), site.KeyChallenge), []byte(r.PostForm.Get("key")))
	var codes []string
	if err == nil {
		codes, err = p.Factors.AddSecurityKey(r.Context(), a, name, record)
	}
	if e := app.AsError(err); err != nil && (e.Field == "name" || e.Code == app.EConflict) {
		return p.show(w, r, a, site.StatusOf(err), SecondFactors{Name: name, Complaint: page.Complaint{Message: e.Message, Hint: e.Hint}})
	}
	if err != nil {
		return err
	}
	return p.added(w, r, codes, "Security key added.")
}

// added shows the recovery codes that came with the first factor, or redirects to the list.
func (p *factors) added(w http.ResponseWriter, r *http.Request, codes []string, done string) error {
	if len(codes) > 0 {
		// A change of rights renews the token, against session fixation.
		if err := p.Sessions.RenewToken(r.Context()); err != nil {
			return err
		}
		return p.showCodes(w, r, Codes{Codes: codes, First: true, Next: p.Sessions.PopString(r.Context(), site.KeyNext)})
	}
	return p.PeopleDone(w, r, done, FactorsPath)
}

func (p *factors) showCodes(w http.ResponseWriter, r *http.Request, c Codes) error {
	p.Render(w, r, http.StatusOK, CodesPage(accountFrame(p.Site, r, "Recovery codes", ""), c))
	return nil
}

func (p *factors) Remove(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	if err := p.Factors.RemoveSecondFactor(r.Context(), a, r.PostForm.Get("id")); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Second factor removed.", FactorsPath)
}

func (p *factors) ReplaceCodes(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	codes, err := p.Factors.ReplaceRecoveryCodes(r.Context(), a)
	if err != nil {
		return err
	}
	return p.showCodes(w, r, Codes{Codes: codes})
}

func (p *factors) ResetUser(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := chi.URLParam(r, "user")
	if err := p.Factors.ResetSecondFactor(r.Context(), a, name); err != nil {
		return err
	}
	return p.PeopleDone(w, r, "Second factors of "+name+" removed. "+name+" is signed out everywhere.", "/admin/users/"+url.PathEscape(name))
}

func (p *factors) Require(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	required := r.PostForm.Get("required") == "yes"
	if err := p.Factors.RequireSecondFactor(r.Context(), a, required); err != nil {
		return err
	}
	done := "The second factor is now optional."
	if required {
		done = "A second factor is now required. Users without one must add it before they can continue."
	}
	return p.PeopleDone(w, r, done, "/admin/users")
}

type apiFactorReset struct {
	Body struct {
		User string `json:"user"`
	}
}

func (p *factors) APIResetUser(ctx context.Context, in *apiUserName) (*apiFactorReset, error) {
	if err := p.Factors.ResetSecondFactor(ctx, site.Caller(ctx), in.Name); err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiFactorReset{}
	out.Body.User = in.Name
	return out, nil
}

type apiFactorRule struct {
	Body struct {
		Required bool `json:"required"`
	}
}

func (p *factors) APIRequire(ctx context.Context, in *apiFactorRule) (*apiFactorRule, error) {
	if err := p.Factors.RequireSecondFactor(ctx, site.Caller(ctx), in.Body.Required); err != nil {
		return nil, p.Fail(ctx, err)
	}
	return in, nil
}
