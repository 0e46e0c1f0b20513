package build

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/build"
	"muster/portal/address"
	"muster/portal/page"
	"muster/portal/site"
	webhookpage "muster/portal/webhook"
)

func buildHookAddress(name string) string { return "/admin/builds/" + name }

func (p *Service) hookList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showBuildHooks(w, r, a, http.StatusOK, HookForm{Owner: a.User})
}

func (p *Service) showBuildHooks(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form HookForm) error {
	l := HookList{Now: p.Now(), Systems: p.BuildHooks.BuildSystems(), Form: form}
	var err error
	if l.Hooks, err = p.BuildHooks.BuildHooks(r.Context(), a); err != nil {
		return err
	}
	if l.Builds, err = p.Builds.BuildList(r.Context(), a, build.Filter{Live: true, Limit: webhookpage.HookPage}); err != nil {
		return err
	}
	p.Render(w, r, status, HookListPage(p.AdminFrame(r, "Builds"), l))
	return nil
}

// hookMake creates a hook; errors are shown at their fields.
func (p *Service) hookMake(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	text := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	in := HookForm{Name: text("name"), System: text("system"), Owner: text("owner")}
	_, err := p.BuildHooks.BuildHook(r.Context(), a, in.Name)
	switch app.CodeOf(err) {
	case "":
		err = &app.Error{Code: app.EConflict, Field: "name", Message: "A build hook with this name already exists.", Hint: "Choose another name, or change the existing hook."}
	case app.ENotFound:
		var saved build.SavedBuildHook
		if saved, err = p.BuildHooks.SaveBuildHook(r.Context(), a, build.BuildHookRequest{Name: in.Name, System: in.System, Owner: &in.Owner, Secret: text("secret")}); err == nil {
			return p.savedBuildHook(w, r, a, saved)
		}
	}
	e, answer := site.Known(err)
	if !complainable(e) {
		return err
	}
	if in.Field = e.Field; !slices.Contains([]string{"name", "system", "owner", "secret"}, in.Field) {
		in.Field = ""
	}
	in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
	return p.showBuildHooks(w, r, a, answer.Status, in)
}

// complainable reports whether an error is about the input.
func complainable(e *app.Error) bool {
	return slices.Contains([]app.Code{app.EInvalid, app.ETooLarge, app.EConflict}, e.Code) || e.Code == app.EForbidden && e.Field != ""
}

// savedBuildHook shows a newly generated secret, which can't be shown later.
func (p *Service) savedBuildHook(w http.ResponseWriter, r *http.Request, a app.Actor, s build.SavedBuildHook) error {
	if s.Secret != "" {
		return p.showBuildHook(w, r, a, http.StatusOK, s.Name, func(b *HookShow) { b.Secret = s.Secret })
	}
	http.Redirect(w, r, buildHookAddress(s.Name)+"?saved=hook", http.StatusSeeOther)
	return nil
}

func (p *Service) hookShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showBuildHook(w, r, a, http.StatusOK, chi.URLParam(r, "hook"), nil)
}

// showBuildHook shows a hook; with adds temporary content, such as a form with errors.
func (p *Service) showBuildHook(w http.ResponseWriter, r *http.Request, a app.Actor, status int, name string, with func(*HookShow)) error {
	before, err := webhookpage.Number(r, "before")
	if err != nil {
		return err
	}
	h, err := p.BuildHooks.BuildHook(r.Context(), a, name)
	if err != nil {
		return err
	}
	s := HookShow{Now: p.Now(), Hook: h, System: build.System{Name: h.System, Title: h.System}, URL: p.URL + address.BuildHook(h.ID), Before: before}
	for _, system := range p.BuildHooks.BuildSystems() {
		if system.Name == h.System {
			s.System = system
		}
	}
	if s.Deliveries, err = p.BuildHooks.BuildDeliveries(r.Context(), a, name, before, webhookpage.HookPage); err != nil {
		return err
	}
	if s.Builds, err = p.Builds.BuildList(r.Context(), a, build.Filter{Hook: name, Limit: webhookpage.HookPage}); err != nil {
		return err
	}
	if s.Rules.Text, err = p.Rules.Write(h.Rules); err != nil {
		return err
	}
	s.Statuses.API = h.StatusAPI
	if r.Method == http.MethodGet {
		s.Saved = r.URL.Query().Get("saved")
	}
	if with != nil {
		with(&s)
	}
	p.Render(w, r, status, HookShowPage(p.AdminFrame(r, "Build hook "+name), s))
	return nil
}

func (p *Service) hookSwitch(on bool) site.MemberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		return p.changeBuildHook(w, r, a, build.BuildHookRequest{Enabled: &on})
	}
}

// hookSecret generates a new secret, or saves the build system's.
func (p *Service) hookSecret(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	secret := strings.TrimSpace(r.PostForm.Get("secret"))
	err := p.changeBuildHook(w, r, a, build.BuildHookRequest{Secret: secret, Rotate: secret == ""})
	e, answer := site.Known(err)
	if err == nil || !complainable(e) {
		return err
	}
	return p.showBuildHook(w, r, a, answer.Status, chi.URLParam(r, "hook"), func(s *HookShow) {
		s.SecretTyped = page.Complaint{Message: e.Message, Hint: e.Hint}
	})
}

// hookStatuses saves the token and API URL for commit statuses, or removes the token.
func (p *Service) hookStatuses(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	h, err := p.BuildHooks.BuildHook(r.Context(), a, name)
	if err != nil {
		return err
	}
	in := StatusForm{API: strings.TrimSpace(r.PostForm.Get("status_api"))}
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
		_, err = p.BuildHooks.SaveBuildHook(r.Context(), a, change)
	}
	if err == nil {
		http.Redirect(w, r, buildHookAddress(name)+"?saved="+done+"#statuses", http.StatusSeeOther)
		return nil
	}
	e, answer := site.Known(err)
	if !complainable(e) {
		return err
	}
	in.Field, in.Complaint = e.Field, page.Complaint{Message: e.Message, Hint: e.Hint}
	return p.showBuildHook(w, r, a, answer.Status, name, func(s *HookShow) { s.Statuses = in })
}

// changeBuildHook changes an existing hook.
func (p *Service) changeBuildHook(w http.ResponseWriter, r *http.Request, a app.Actor, change build.BuildHookRequest) error {
	change.Name = chi.URLParam(r, "hook")
	if _, err := p.BuildHooks.BuildHook(r.Context(), a, change.Name); err != nil {
		return err
	}
	saved, err := p.BuildHooks.SaveBuildHook(r.Context(), a, change)
	if err != nil {
		return err
	}
	return p.savedBuildHook(w, r, a, saved)
}

// hookRules saves rules, checks them, or tries them with a stored delivery. The typed text is never lost.
func (p *Service) hookRules(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	if _, err := p.BuildHooks.BuildHook(r.Context(), a, name); err != nil {
		return err
	}
	in := RulesForm{Text: strings.ReplaceAll(r.PostForm.Get("rules"), "\r\n", "\n")}
	in.Delivery, _ = strconv.ParseInt(r.PostForm.Get("delivery"), 10, 64)
	show := func(status int) error {
		return p.showBuildHook(w, r, a, status, name, func(s *HookShow) { s.Rules = in })
	}
	rules, err := p.Rules.Read(in.Text)
	if err == nil {
		err = p.BuildHooks.CheckBuildRules(r.Context(), a, rules)
	}
	if err == nil {
		switch r.PostForm.Get("do") {
		case "try":
			var tried build.RuleTrialResult
			if tried, err = p.BuildHooks.TryBuild(r.Context(), a, name, build.Trial{Rules: &rules, Delivery: in.Delivery}); err == nil {
				in.Tried = &tried
				return show(http.StatusOK)
			}
		case "check":
			return show(http.StatusOK)
		default:
			if _, err = p.BuildHooks.SaveBuildHook(r.Context(), a, build.BuildHookRequest{Name: name, Rules: &rules}); err == nil {
				http.Redirect(w, r, buildHookAddress(name)+"?saved=rules#rules", http.StatusSeeOther)
				return nil
			}
		}
	}
	e, answer := site.Known(err)
	if !complainable(e) {
		return err
	}
	in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
	return show(answer.Status)
}

func (p *Service) hookDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	h, err := p.BuildHooks.BuildHook(r.Context(), a, chi.URLParam(r, "hook"))
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, HookDeletePage(p.AdminFrame(r, "Delete "+h.Name), h))
	return nil
}

func (p *Service) hookDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.BuildHooks.DeleteBuildHook(r.Context(), a, chi.URLParam(r, "hook")); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/builds", http.StatusSeeOther)
	return nil
}

// hookEnd ends a build and deletes its cluster.
func (p *Service) hookEnd(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := strconv.ParseInt(chi.URLParam(r, "build"), 10, 64)
	if err != nil || id <= 0 {
		return site.ErrNoSuchPage
	}
	if _, err := p.Builds.EndBuild(r.Context(), a, id); err != nil {
		return err
	}
	http.Redirect(w, r, buildHookAddress(chi.URLParam(r, "hook"))+"#builds", http.StatusSeeOther)
	return nil
}

func (p *Service) deliveryShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := webhookpage.DeliveryID(r)
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	d, err := p.BuildHooks.BuildDelivery(r.Context(), a, name, id)
	if err != nil {
		return err
	}
	p.Render(w, r, http.StatusOK, DeliveryPage(p.AdminFrame(r, "Delivery "+strconv.FormatInt(id, 10)), Delivery{Now: p.Now(), Hook: name, Delivery: d}))
	return nil
}

// deliveryReplay replays a delivery with the current rules.
func (p *Service) deliveryReplay(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := webhookpage.DeliveryID(r)
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	if _, err := p.BuildHooks.ReplayBuild(r.Context(), a, name, id); err != nil {
		return err
	}
	http.Redirect(w, r, buildHookAddress(name)+"/deliveries/"+strconv.FormatInt(id, 10), http.StatusSeeOther)
	return nil
}
