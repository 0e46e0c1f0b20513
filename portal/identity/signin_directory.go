package identity

import (
	"net/http"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// directoryNamed returns a directory by its name, or nil.
func directoryNamed(p *site.Site, name string) identity.Directory {
	for _, d := range p.Directories {
		if d.Name() == name {
			return d
		}
	}
	return nil
}

// attemptBy tries a password of a directory's person. Attempts count for the person, whatever tenant was entered; since directories ignore case, so does the
// count.
func (p *limiter) attemptBy(r *http.Request, in []identity.Directory, user string, try func() error) (wait time.Duration, err error) {
	name := identity.AccountName(user)
	return p.attemptAs(r, "\x00directory/"+name, func(address string) bool {
		return slices.ContainsFunc(in, func(d identity.Directory) bool {
			return slices.ContainsFunc(d.Tenants(), func(tenant string) bool { return p.SignIns.KnownAddress(r.Context(), tenant, name, address) })
		})
	}, try)
}

// byDirectory signs in someone who has no password in Muster, by directories.
func (p *passwordSignIn) byDirectory(w http.ResponseWriter, r *http.Request, in SignIn, password string) error {
	var s identity.Subject
	wait, err := p.limiter.attemptBy(r, p.Directories, in.User, func() (err error) {
		s, err = p.SignIns.ProveBy(r.Context(), p.Directories, in.Tenant, in.User, password, site.VisitOf(r))
		return err
	})
	e := app.AsError(err)
	switch {
	case wait > 0:
		w.Header().Set("Retry-After", seconds(wait))
		in.Field, in.Error, in.Hint = "password", "Too many attempts.", "Try again in "+humanize.Duration(wait)+"."
		showSignIn(p.Site, w, r, http.StatusTooManyRequests, in)
		return nil
	case err == nil:
		return p.providers.admit(w, r, s, in.Tenant, in.Next)
	case e.Code == app.EInternal:
		return err
	case e.Code == app.EUnauthorized:
		in.Field, in.Error, in.Hint = "password", e.Message, e.Hint
	default:
		p.Log.WarnContext(r.Context(), "sign-in by directory failed", "error", err, "cause", e.Err, "reason", e.Reason, "from", site.Address(r), "request",
			site.RequestOf(r.Context()).Id)
		in.Trouble = page.Complaint{Message: e.Message, Hint: e.Hint}
	}
	showSignIn(p.Site, w, r, site.StatusOf(err), in)
	return nil
}

// confirmBy re-authenticates someone who signed in by a directory.
func (p *stepUps) confirmBy(r *http.Request, a app.Actor, d identity.Directory, password string) (wait time.Duration, err error) {
	login := p.Sessions.GetString(r.Context(), site.KeyLogin)
	return p.limiter.attemptBy(r, []identity.Directory{d}, login, func() error {
		s, err := p.SignIns.ProveBy(r.Context(), []identity.Directory{d}, homeOf(a), login, password, site.VisitOf(r))
		if err != nil {
			return err
		}
		return p.Accounts.StepUpBy(r.Context(), a, s.Issuer, s.ID)
	})
}
