package portal

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/build"
	buildpage "muster/portal/build"
	"muster/portal/page"
	webhookpage "muster/portal/webhook"
)

func buildHookPath(name string) string { return "/admin/builds/" + name }

func (p *Portal) buildHookList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showBuildHooks(w, r, a, http.StatusOK, buildpage.HookForm{Owner: a.User})
}

func (p *Portal) showBuildHooks(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form buildpage.HookForm) error {
	l := buildpage.HookList{Now: p.now(), Systems: p.building().BuildSystems(), Form: form}
	var err error
	if l.Hooks, err = p.building().BuildHooks(r.Context(), a); err != nil {
		return err
	}
	if l.Builds, err = p.building().BuildList(r.Context(), a, app.BuildFilter{Live: true, Limit: webhookpage.HookPage}); err != nil {
		return err
	}
	p.render(w, r, status, buildpage.HookListPage(p.adminFrame(r, "Builds"), l))
	return nil
}

// buildHookMake makes a hook; what is wrong with it is said beside the field.
func (p *Portal) buildHookMake(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	text := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	in := buildpage.HookForm{Name: text("name"), System: text("system"), Owner: text("owner")}
	_, err := p.building().BuildHook(r.Context(), a, in.Name)
	switch app.CodeOf(err) {
	case "":
		err = &app.Error{Code: app.EConflict, Field: "name", Message: "There is already a build hook of this name.", Hint: "Choose another one, or change that one."}
	case app.ENotFound:
		var saved build.SavedBuildHook
		if saved, err = p.building().SaveBuildHook(r.Context(), a, build.BuildHookRequest{Name: in.Name, System: in.System, Owner: &in.Owner, Secret: text("secret")}); err == nil {
			return p.savedBuildHook(w, r, a, saved)
		}
	}
	e, answer := known(err)
	if !complainable(e) {
		return err
	}
	if in.Field = e.Field; !slices.Contains([]string{"name", "system", "owner", "secret"}, in.Field) {
		in.Field = ""
	}
	in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
	return p.showBuildHooks(w, r, a, answer.status, in)
}

// complainable tells whether an error is about what was typed.
func complainable(e *app.Error) bool {
	return slices.Contains([]app.Code{app.EInvalid, app.ETooLarge, app.EConflict}, e.Code) || e.Code == app.EForbidden && e.Field != ""
}

// savedBuildHook shows a secret that was just made, which cannot be shown later.
func (p *Portal) savedBuildHook(w http.ResponseWriter, r *http.Request, a app.Actor, s build.SavedBuildHook) error {
	if s.Secret != "" {
		return p.showBuildHook(w, r, a, http.StatusOK, s.Name, func(b *buildpage.HookShow) { b.Secret = s.Secret })
	}
	http.Redirect(w, r, buildHookPath(s.Name)+"?saved=hook", http.StatusSeeOther)
	return nil
}

func (p *Portal) buildHookShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showBuildHook(w, r, a, http.StatusOK, chi.URLParam(r, "hook"), nil)
}

// showBuildHook shows a hook; with puts in what is only to be seen now, such as a form as it was typed.
func (p *Portal) showBuildHook(w http.ResponseWriter, r *http.Request, a app.Actor, status int, name string, with func(*buildpage.HookShow)) error {
	before, err := number(r, "before")
	if err != nil {
		return err
	}
	h, err := p.building().BuildHook(r.Context(), a, name)
	if err != nil {
		return err
	}
	s := buildpage.HookShow{Now: p.now(), Hook: h, System: build.BuildSystem{Name: h.System, Title: h.System}, URL: p.url + h.Path(), Before: before}
	for _, system := range p.building().BuildSystems() {
		if system.Name == h.System {
			s.System = system
		}
	}
	if s.Deliveries, err = p.building().BuildDeliveries(r.Context(), a, name, before, webhookpage.HookPage); err != nil {
		return err
	}
	if s.Builds, err = p.building().BuildList(r.Context(), a, app.BuildFilter{Hook: name, Limit: webhookpage.HookPage}); err != nil {
		return err
	}
	if s.Rules.Text, err = p.rules.Write(h.Rules); err != nil {
		return err
	}
	s.Statuses.API = h.StatusAPI
	if r.Method == http.MethodGet {
		s.Saved = r.URL.Query().Get("saved")
	}
	if with != nil {
		with(&s)
	}
	p.render(w, r, status, buildpage.HookShowPage(p.adminFrame(r, "Build hook "+name), s))
	return nil
}

func (p *Portal) buildHookSwitch(on bool) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		return p.changeBuildHook(w, r, a, build.BuildHookRequest{Enabled: &on})
	}
}

// buildHookSecret makes a new secret, or takes the one that the build system has made.
func (p *Portal) buildHookSecret(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	secret := strings.TrimSpace(r.PostForm.Get("secret"))
	err := p.changeBuildHook(w, r, a, build.BuildHookRequest{Secret: secret, Rotate: secret == ""})
	e, answer := known(err)
	if err == nil || !complainable(e) {
		return err
	}
	return p.showBuildHook(w, r, a, answer.status, chi.URLParam(r, "hook"), func(s *buildpage.HookShow) {
		s.SecretTyped = page.Complaint{Message: e.Message, Hint: e.Hint}
	})
}

// buildHookStatuses keeps the token and the API's URL that commit statuses are written with, or removes the token.
func (p *Portal) buildHookStatuses(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	h, err := p.building().BuildHook(r.Context(), a, name)
	if err != nil {
		return err
	}
	in := buildpage.StatusForm{API: strings.TrimSpace(r.PostForm.Get("status_api"))}
	token, done := strings.TrimSpace(r.PostForm.Get("status_token")), "statuses"
	change := build.BuildHookRequest{Name: name, StatusAPI: &in.API}
	switch {
	case r.PostForm.Get("do") == "remove":
		token, done = "", "no-statuses"
		change.StatusAPI, change.StatusToken = nil, &token
	case token != "":
		change.StatusToken = &token
	case !h.Statuses:
		err = &app.Error{Code: app.EInvalid, Field: "status_token", Message: "Enter a token."}
	}
	if err == nil {
		_, err = p.building().SaveBuildHook(r.Context(), a, change)
	}
	if err == nil {
		http.Redirect(w, r, buildHookPath(name)+"?saved="+done+"#statuses", http.StatusSeeOther)
		return nil
	}
	e, answer := known(err)
	if !complainable(e) {
		return err
	}
	in.Field, in.Complaint = e.Field, page.Complaint{Message: e.Message, Hint: e.Hint}
	return p.showBuildHook(w, r, a, answer.status, name, func(s *buildpage.HookShow) { s.Statuses = in })
}

// changeBuildHook changes a hook that is there.
func (p *Portal) changeBuildHook(w http.ResponseWriter, r *http.Request, a app.Actor, change build.BuildHookRequest) error {
	change.Name = chi.URLParam(r, "hook")
	if _, err := p.building().BuildHook(r.Context(), a, change.Name); err != nil {
		return err
	}
	saved, err := p.building().SaveBuildHook(r.Context(), a, change)
	if err != nil {
		return err
	}
	return p.savedBuildHook(w, r, a, saved)
}

// buildHookRules saves rules, checks them, or tries them with a delivery that was kept. The text as it was typed is never lost.
func (p *Portal) buildHookRules(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	if _, err := p.building().BuildHook(r.Context(), a, name); err != nil {
		return err
	}
	in := buildpage.RulesForm{Text: strings.ReplaceAll(r.PostForm.Get("rules"), "\r\n", "\n")}
	in.Delivery, _ = strconv.ParseInt(r.PostForm.Get("delivery"), 10, 64)
	show := func(status int) error {
		return p.showBuildHook(w, r, a, status, name, func(s *buildpage.HookShow) { s.Rules = in })
	}
	rules, err := p.rules.Read(in.Text)
	if err == nil {
		err = p.building().CheckBuildRules(r.Context(), a, rules)
	}
	if err == nil {
		switch r.PostForm.Get("do") {
		case "try":
			var tried build.BuildTried
			if tried, err = p.building().TryBuild(r.Context(), a, name, build.BuildTrial{Rules: &rules, Delivery: in.Delivery}); err == nil {
				in.Tried = &tried
				return show(http.StatusOK)
			}
		case "check":
			return show(http.StatusOK)
		default:
			if _, err = p.building().SaveBuildHook(r.Context(), a, build.BuildHookRequest{Name: name, Rules: &rules}); err == nil {
				http.Redirect(w, r, buildHookPath(name)+"?saved=rules#rules", http.StatusSeeOther)
				return nil
			}
		}
	}
	e, answer := known(err)
	if !complainable(e) {
		return err
	}
	in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
	return show(answer.status)
}

func (p *Portal) buildHookDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	h, err := p.building().BuildHook(r.Context(), a, chi.URLParam(r, "hook"))
	if err != nil {
		return err
	}
	p.render(w, r, http.StatusOK, buildpage.HookDeletePage(p.adminFrame(r, "Delete "+h.Name), h))
	return nil
}

func (p *Portal) buildHookDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.building().DeleteBuildHook(r.Context(), a, chi.URLParam(r, "hook")); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/builds", http.StatusSeeOther)
	return nil
}

// buildHookEnd ends a build: its cluster is given back.
func (p *Portal) buildHookEnd(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := strconv.ParseInt(chi.URLParam(r, "build"), 10, 64)
	if err != nil || id <= 0 {
		return errNoSuchPage
	}
	if _, err := p.building().EndBuild(r.Context(), a, id); err != nil {
		return err
	}
	http.Redirect(w, r, buildHookPath(chi.URLParam(r, "hook"))+"#builds", http.StatusSeeOther)
	return nil
}

func (p *Portal) buildDeliveryShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := deliveryID(r)
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	d, err := p.building().BuildDelivery(r.Context(), a, name, id)
	if err != nil {
		return err
	}
	p.render(w, r, http.StatusOK, buildpage.DeliveryPage(p.adminFrame(r, "Delivery "+strconv.FormatInt(id, 10)), buildpage.Delivery{Now: p.now(), Hook: name, Delivery: d}))
	return nil
}

// buildDeliveryReplay runs a delivery again, against today's rules.
func (p *Portal) buildDeliveryReplay(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := deliveryID(r)
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	if _, err := p.building().ReplayBuild(r.Context(), a, name, id); err != nil {
		return err
	}
	http.Redirect(w, r, buildHookPath(name)+"/deliveries/"+strconv.FormatInt(id, 10), http.StatusSeeOther)
	return nil
}
