package portal

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/identity"
	identitypage "muster/portal/identity"
	"muster/portal/page"
)

// Where the second factor is asked for and looked after.
const (
	pendingPath = "/signin/second-factor"
	factorsPath = "/account/second-factor"
)

// SecondFactors are the use cases of second factors.
type SecondFactors interface {
	// PendingFactors and FinishSignIn take the session that SignIn left pending; EUnauthorized with reason expired where the password must be entered again.
	PendingFactors(ctx context.Context, pending app.Session) (identity.SecondFactors, error)
	FinishSignIn(ctx context.Context, pending app.Session, f identity.FactorProof, v app.Visit) (app.Session, error)
	SecondFactors(ctx context.Context, a app.Actor) (identity.SecondFactors, error)
	StartAuthenticator(ctx context.Context, a app.Actor) (secret string, err error)
	// ConfirmAuthenticator and AddSecurityKey return recovery codes with the account's first factor.
	ConfirmAuthenticator(ctx context.Context, a app.Actor, code string) ([]string, error)
	AddSecurityKey(ctx context.Context, a app.Actor, name string, record []byte) ([]string, error)
	RemoveSecondFactor(ctx context.Context, a app.Actor, id string) error
	ReplaceRecoveryCodes(ctx context.Context, a app.Actor) ([]string, error)
	ResetSecondFactor(ctx context.Context, a app.Actor, user string) error
	RequireSecondFactor(ctx context.Context, a app.Actor, required bool) error
}

// SecurityKeys speaks with the browser about security keys. Options are for the page's script; state is kept at the server and is good for one answer.
type SecurityKeys interface {
	// Possible reports whether browsers use security keys at an origin.
	Possible(origin string) bool
	StartAdd(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error)
	// FinishAdd returns what is to be kept of the key; EInvalid where the answer is not right.
	FinishAdd(origin, tenant, user string, state, answer []byte) (record []byte, err error)
	// StartUse returns "" where the account has no key.
	StartUse(origin, tenant, user string, have []identity.SecondFactor) (options string, state []byte, err error)
	// FinishUse returns the key that answered, as it is to be kept from now on; EUnauthorized where the answer is not right.
	FinishUse(origin, tenant, user string, have []identity.SecondFactor, state, answer []byte) (identity.SecondFactor, error)
}

// pending is a sign-in whose password was right. It is kept in the browser's session at the server and grants nothing by itself.
type pending struct {
	Tenant, User, Mark, Next string
	At                       time.Time
}

func (s pending) session() app.Session {
	return app.Session{Tenant: s.Tenant, User: s.User, Mark: s.Mark, At: s.At}
}

// askSecondFactor keeps a sign-in until the second factor was shown, and leads to where that is asked for. The session's token is a new one, as at every step of
// a sign-in.
func (p *Portal) askSecondFactor(w http.ResponseWriter, r *http.Request, s app.Session, next string) error {
	if err := p.sessions.RenewToken(r.Context()); err != nil {
		return err
	}
	b, err := json.Marshal(pending{Tenant: s.Tenant, User: s.User, Mark: s.Mark, At: s.At, Next: next})
	if err != nil {
		return err
	}
	p.sessions.Put(r.Context(), keyPending, b)
	http.Redirect(w, r, pendingPath, http.StatusSeeOther)
	return nil
}

// pendingIn returns the pending sign-in of a browser.
func (p *Portal) pendingIn(r *http.Request) (s pending, ok bool) {
	b := p.sessions.GetBytes(r.Context(), keyPending)
	return s, len(b) > 0 && json.Unmarshal(b, &s) == nil
}

func (p *Portal) pendingShow(w http.ResponseWriter, r *http.Request) error {
	return p.showPending(w, r, http.StatusOK, nil)
}

// showPending asks for the second factor, or for the password again where that was too long ago.
func (p *Portal) showPending(w http.ResponseWriter, r *http.Request, status int, wrong *page.Complaint) error {
	s, ok := p.pendingIn(r)
	if !ok {
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
		return nil
	}
	have, err := p.accounts().PendingFactors(r.Context(), s.session())
	if err != nil {
		return p.pendingOver(w, r, s, err)
	}
	in := identitypage.Pending{User: s.User}
	if in.Factor, err = p.askFactor(r, s.Tenant, s.User, have); err != nil {
		return err
	}
	if wrong != nil {
		in.Complaint = *wrong
	}
	f := p.frame(r, "Second factor")
	f.Actor, f.Scripts = nil, keyScripts(in.Factor.Options)
	p.render(w, r, status, identitypage.PendingPage(f, in))
	return nil
}

// pendingOver leads back to the password where that must be entered again.
func (p *Portal) pendingOver(w http.ResponseWriter, r *http.Request, s pending, err error) error {
	e := app.AsError(err)
	if e.Code != app.EUnauthorized || e.Reason == "wrong_code" {
		return err
	}
	p.sessions.Remove(r.Context(), keyPending)
	p.sessions.Put(r.Context(), keyWhy, e.Message)
	http.Redirect(w, r, "/signin?next="+url.QueryEscape(s.Next), http.StatusSeeOther)
	return nil
}

func (p *Portal) pendingFinish(w http.ResponseWriter, r *http.Request) error {
	if err := form(r); err != nil {
		return err
	}
	s, ok := p.pendingIn(r)
	if !ok {
		http.Redirect(w, r, "/signin", http.StatusSeeOther)
		return nil
	}
	var begun app.Session
	wait, err := p.attempt(r, s.Tenant, s.User, func() (err error) {
		begun, err = p.accounts().FinishSignIn(r.Context(), s.session(), p.proofOf(r, s.Tenant, s.User), visitOf(r))
		return err
	})
	if wait > 0 {
		w.Header().Set("Retry-After", seconds(wait))
		return p.showPending(w, r, http.StatusTooManyRequests, &page.Complaint{Message: "Too many attempts.", Hint: "Try again in " + page.Span(wait) + "."})
	}
	if e := app.AsError(err); err != nil && e.Field == "code" {
		return p.showPending(w, r, statusOf(err), &page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return p.pendingOver(w, r, s, err)
	}
	if err := p.replace(r, begun); err != nil {
		return err
	}
	http.Redirect(w, r, cmp.Or(s.Next, "/"), http.StatusSeeOther)
	return nil
}

// askFactor is what a form asks for from an account that has such second factors.
func (p *Portal) askFactor(r *http.Request, tenant, user string, have identity.SecondFactors) (ask identitypage.FactorAsk, err error) {
	ask.Needed, ask.App = len(have.Factors) > 0, have.Has(identity.FactorApp)
	if !have.Has(identity.FactorKey) || !p.keysPossible(r) {
		return ask, nil
	}
	var state []byte
	ask.Options, state, err = p.keys.StartUse(p.origin(r), tenant, user, have.Factors)
	p.sessions.Put(r.Context(), keyChallenge, state)
	return ask, err
}

func (p *Portal) keysPossible(r *http.Request) bool {
	return p.keys != nil && p.keys.Possible(p.origin(r))
}

// origin is the portal's address without a path, as the browser sees it: the one that is set, unless that is an IP address, for which no browser takes security keys.
// A page at a wrong host gains nothing by that: browsers keep keys apart by host.
func (p *Portal) origin(r *http.Request) string {
	if u, err := url.Parse(p.url); err == nil && u.Host != "" {
		if at := u.Scheme + "://" + u.Host; p.keys == nil || p.keys.Possible(at) {
			return at
		}
	}
	if p.secure || r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// proofOf reads the second factor from a form.
func (p *Portal) proofOf(r *http.Request, tenant, user string) identity.FactorProof {
	answer := r.PostForm.Get("key")
	if answer == "" || p.keys == nil {
		return identity.FactorProof{Code: r.PostForm.Get("code")}
	}
	state := p.sessions.PopBytes(r.Context(), keyChallenge)
	return identity.FactorProof{Key: func(keys []identity.SecondFactor) (identity.SecondFactor, error) {
		return p.keys.FinishUse(p.origin(r), tenant, user, keys, state, []byte(answer))
	}}
}

// keyScripts are the scripts of a page that talks to security keys.
func keyScripts(options string) []string {
	if options == "" {
		return nil
	}
	return []string{"key.js"}
}

func (p *Portal) factorList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showFactors(w, r, a, http.StatusOK, identitypage.SecondFactors{})
}

// adding is how long people take to name and touch a new key. The proof of who they are is asked for before, since an answer of a key is good only once.
const adding = 2 * time.Minute

func (p *Portal) showFactors(w http.ResponseWriter, r *http.Request, a app.Actor, status int, in identitypage.SecondFactors) (err error) {
	if in.SecondFactors, err = p.accounts().SecondFactors(r.Context(), a); err != nil {
		return err
	}
	switch {
	case p.keys == nil:
	case !p.keysPossible(r):
		in.KeysNeed = identitypage.KeysNeedName
	case !a.Fresh(p.now(), app.FreshWithin-adding):
		in.KeysNeed = identitypage.KeysNeedProof
	default:
		var state []byte
		if in.Options, state, err = p.keys.StartAdd(p.origin(r), homeOf(a), a.User, in.Factors); err != nil {
			return err
		}
		p.sessions.Put(r.Context(), keyChallenge, state)
	}
	in.Must, in.Now, in.Done = a.MustAddFactor, p.now(), p.sessions.PopString(r.Context(), keyDone)
	p.render(w, r, status, identitypage.SecondFactorPage(p.accountFrame(r, "Second factor", in.Options), in))
	return nil
}

// accountFrame is the frame of a page of one's own account.
func (p *Portal) accountFrame(r *http.Request, title, options string) page.Frame {
	f := p.frame(r, title)
	f.At, f.Scripts = "account", keyScripts(options)
	return f
}

func (p *Portal) factorApp(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showApp(w, r, a, http.StatusOK, page.Complaint{})
}

func (p *Portal) showApp(w http.ResponseWriter, r *http.Request, a app.Actor, status int, wrong page.Complaint) error {
	secret, err := p.accounts().StartAuthenticator(r.Context(), a)
	if err != nil {
		return err
	}
	in := identitypage.NewApp{User: a.User, Issuer: "Muster " + p.host(r), Secret: secret, Code: r.PostForm.Get("code"), Complaint: wrong}
	p.render(w, r, status, identitypage.NewAppPage(p.accountFrame(r, "Authenticator app", ""), in))
	return nil
}

// host is how people know this portal from others.
func (p *Portal) host(r *http.Request) string {
	if u, err := url.Parse(p.url); err == nil && u.Host != "" {
		return u.Host
	}
	return r.Host
}

func (p *Portal) factorAppConfirm(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	codes, err := p.accounts().ConfirmAuthenticator(r.Context(), a, r.PostForm.Get("code"))
	if e := app.AsError(err); err != nil && e.Field == "code" {
		return p.showApp(w, r, a, statusOf(err), page.Complaint{Message: e.Message, Hint: e.Hint})
	}
	if err != nil {
		return err
	}
	return p.factorAdded(w, r, codes, "The authenticator app was added.")
}

func (p *Portal) factorKeyAdd(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	record, err := p.keys.FinishAdd(p.origin(r), homeOf(a), a.User, p.sessions.PopBytes(r.Context(), keyChallenge), []byte(r.PostForm.Get("key")))
	var codes []string
	if err == nil {
		codes, err = p.accounts().AddSecurityKey(r.Context(), a, name, record)
	}
	if e := app.AsError(err); err != nil && (e.Field == "name" || e.Code == app.EConflict) {
		return p.showFactors(w, r, a, statusOf(err), identitypage.SecondFactors{Name: name, Complaint: page.Complaint{Message: e.Message, Hint: e.Hint}})
	}
	if err != nil {
		return err
	}
	return p.factorAdded(w, r, codes, "The security key was added.")
}

// factorAdded shows the recovery codes that came with the first factor, or leads back to the list.
func (p *Portal) factorAdded(w http.ResponseWriter, r *http.Request, codes []string, done string) error {
	if len(codes) > 0 {
		// A new right, a new token.
		if err := p.sessions.RenewToken(r.Context()); err != nil {
			return err
		}
		return p.showCodes(w, r, identitypage.Codes{Codes: codes, First: true, Next: p.sessions.PopString(r.Context(), keyNext)})
	}
	return p.peopleDone(w, r, done, factorsPath)
}

func (p *Portal) showCodes(w http.ResponseWriter, r *http.Request, c identitypage.Codes) error {
	p.render(w, r, http.StatusOK, identitypage.CodesPage(p.accountFrame(r, "Recovery codes", ""), c))
	return nil
}

func (p *Portal) factorRemove(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	if err := p.accounts().RemoveSecondFactor(r.Context(), a, r.PostForm.Get("id")); err != nil {
		return err
	}
	return p.peopleDone(w, r, "The second factor was removed.", factorsPath)
}

func (p *Portal) factorCodes(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	codes, err := p.accounts().ReplaceRecoveryCodes(r.Context(), a)
	if err != nil {
		return err
	}
	return p.showCodes(w, r, identitypage.Codes{Codes: codes})
}

func (p *Portal) userResetFactor(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := chi.URLParam(r, "user")
	if err := p.accounts().ResetSecondFactor(r.Context(), a, name); err != nil {
		return err
	}
	return p.peopleDone(w, r, "All second factors of "+name+" were removed, and all sign-ins ended.", "/admin/users/"+url.PathEscape(name))
}

func (p *Portal) factorRequire(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	required := r.PostForm.Get("required") == "yes"
	if err := p.accounts().RequireSecondFactor(r.Context(), a, required); err != nil {
		return err
	}
	done := "A second factor is optional now."
	if required {
		done = "A second factor is required now. People without one are asked to add it before they can do anything else."
	}
	return p.peopleDone(w, r, done, "/admin/users")
}

type apiFactorReset struct {
	Body struct {
		User string `json:"user"`
	}
}

func (p *Portal) apiUserResetFactor(ctx context.Context, in *apiUserName) (*apiFactorReset, error) {
	if err := p.accounts().ResetSecondFactor(ctx, caller(ctx), in.Name); err != nil {
		return nil, p.fail(ctx, err)
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

func (p *Portal) apiFactorRequire(ctx context.Context, in *apiFactorRule) (*apiFactorRule, error) {
	if err := p.accounts().RequireSecondFactor(ctx, caller(ctx), in.Body.Required); err != nil {
		return nil, p.fail(ctx, err)
	}
	return in, nil
}
