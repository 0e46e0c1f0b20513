package identity

import (
	"net/http"
	"strings"

	"muster/app"
	"muster/app/identity"
	"muster/portal/page"
	"muster/portal/site"
)

// DeviceAsk asks for the code, or shows who asks by it. It changes nothing: links are opened by more than people.
func (p *Service) DeviceAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	code := strings.TrimSpace(r.URL.Query().Get("code"))
	if code == "" {
		return p.showDevice(w, r, http.StatusOK, Device{})
	}
	d, status, err := p.deviceOf(r, a, code)
	if err != nil {
		return err
	}
	d.Scopes = identity.ScopesOf(a.Role)
	return p.showDevice(w, r, status, d)
}

// deviceOf finds who asks by a code. Codes that are made up are few: who tries many has to wait.
func (p *Service) deviceOf(r *http.Request, a app.Actor, code string) (d Device, status int, err error) {
	d.Code = code
	key := AttemptKey{site.Address(r), "\x00device " + homeOf(a) + "/" + a.User}
	if wait := p.Attempts.Begin(key, true); wait > 0 {
		d.Complaint = page.Complaint{Message: "Too many wrong codes.", Hint: "Try again in " + page.Span(wait) + "."}
		return d, http.StatusTooManyRequests, nil
	}
	found, err := p.Devices.ShowDevice(r.Context(), a, code)
	if e := app.AsError(err); err != nil && e.Code == app.ENotFound {
		d.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
		return d, http.StatusNotFound, nil
	}
	p.Attempts.Forget(key)
	d.Device, d.Ago, d.Ends = &found, p.Now().Sub(found.At), found.ExpiresAt.Sub(p.Now())
	return d, http.StatusOK, err
}

func (p *Service) showDevice(w http.ResponseWriter, r *http.Request, status int, d Device) error {
	f := p.Frame(r, "Sign a program in")
	f.At = "account"
	p.Render(w, r, status, DevicePage(f, d))
	return nil
}

func (p *Service) DeviceAnswer(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	code, said := r.PostForm.Get("code"), r.PostForm.Get("answer")
	if said != "yes" && said != "no" {
		return &app.Error{Code: app.EInvalid, Field: "answer", Message: "Say yes or no."}
	}
	d, status, err := p.deviceOf(r, a, code)
	if err != nil {
		return err
	}
	if d.Device == nil {
		return p.showDevice(w, r, status, d)
	}
	scopes := []app.Scope{}
	for _, s := range r.PostForm["scopes"] {
		scopes = append(scopes, app.Scope(s))
	}
	if err := p.Devices.AnswerDevice(r.Context(), a, code, said == "yes", scopes); err != nil {
		return err
	}
	d.Answered = said
	return p.showDevice(w, r, http.StatusOK, d)
}
