package identity

import (
	"net/http"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// devices sign in programs: a person enters the program's code and allows it.
type devices struct {
	*site.Site

	attempts *attempts
}

func (p *devices) routes() []site.Route {
	return []site.Route{
		site.Show(devicePath, p.Ask),
		site.Submit(devicePath, p.Answer),
	}
}

func (p *devices) operations() []site.Operation {
	return []site.Operation{
		site.Post("/device/code", p.APIStart, site.Open, site.About("Start a program's sign-in, which a person allows in the portal")),
		site.Post("/device/token", p.APIPoll, site.Open, site.About("Get the token once a person has allowed the sign-in"), site.Answers(http.StatusCreated)),
	}
}

// Ask asks for the code, or shows which program it belongs to. It changes nothing, since not only people open links.
func (p *devices) Ask(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	code := strings.TrimSpace(r.URL.Query().Get("code"))
	if code == "" {
		return p.show(w, r, http.StatusOK, Device{})
	}
	d, status, err := p.find(r, a, code)
	if err != nil {
		return err
	}
	d.Scopes = identity.ScopesOf(a.Role)
	return p.show(w, r, status, d)
}

// find finds the program of a code. Failed attempts are limited, against guessing.
func (p *devices) find(r *http.Request, a app.Actor, code string) (d Device, status int, err error) {
	d.Code = code
	key := AttemptKey{site.Address(r), "\x00device " + homeOf(a) + "/" + a.User}
	if wait := p.attempts.Begin(key, true); wait > 0 {
		d.Complaint = page.Complaint{Message: "Too many wrong codes.", Hint: "Try again in " + humanize.Duration(wait) + "."}
		return d, http.StatusTooManyRequests, nil
	}
	found, err := p.Devices.ShowDevice(r.Context(), a, code)
	if e := app.AsError(err); err != nil && e.Code == app.ENotFound {
		d.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
		return d, http.StatusNotFound, nil
	}
	p.attempts.Forget(key)
	d.Device, d.Ago, d.Ends = &found, p.Now().Sub(found.At), found.ExpiresAt.Sub(p.Now())
	return d, http.StatusOK, err
}

func (p *devices) show(w http.ResponseWriter, r *http.Request, status int, d Device) error {
	f := p.Frame(r, "Authorize a program")
	f.At = "account"
	p.Render(w, r, status, DevicePage(f, d))
	return nil
}

func (p *devices) Answer(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	code, said := r.PostForm.Get("code"), r.PostForm.Get("answer")
	if said != "yes" && said != "no" {
		return &app.Error{Code: app.EInvalid, Field: "answer", Message: "Choose allow or deny."}
	}
	d, status, err := p.find(r, a, code)
	if err != nil {
		return err
	}
	if d.Device == nil {
		return p.show(w, r, status, d)
	}
	scopes := []app.Scope{}
	for _, s := range r.PostForm["scopes"] {
		scopes = append(scopes, app.Scope(s))
	}
	if err := p.Devices.AnswerDevice(r.Context(), a, code, said == "yes", scopes); err != nil {
		return err
	}
	d.Answered = said
	return p.show(w, r, http.StatusOK, d)
}
