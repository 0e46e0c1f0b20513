package portal

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/webhook"
	"muster/portal/page"
	webhookpage "muster/portal/webhook"
)

func hookPath(name string) string { return "/admin/hooks/" + name }

func (p *Portal) noticeList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	before, err := number(r, "before")
	if err != nil {
		return err
	}
	all, err := p.noticing().Notices(r.Context(), a, before, webhookpage.NoticePage)
	if err != nil {
		return err
	}
	f := p.frame(r, "Notices")
	f.At = "notices"
	p.render(w, r, http.StatusOK, webhookpage.NoticeListPage(f, webhookpage.NoticeList{Now: p.now(), Notices: all, Before: before,
		All: a.May("Hooks"), Hooks: p.hooking() != nil && a.May("SaveHook")}))
	return nil
}

// number reads a number of the query; 0 where there is none.
func number(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, &app.Error{Code: app.EInvalid, Field: name, Message: "That is not the address of a page.", Hint: "Begin with the newest."}
	}
	return n, nil
}

func (p *Portal) hookList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showHooks(w, r, a, http.StatusOK, webhookpage.Form{New: true, Format: app.HookMuster})
}

func (p *Portal) showHooks(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form webhookpage.Form) error {
	all, err := p.hooking().Hooks(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Hooks")
	p.render(w, r, status, webhookpage.ListPage(f, webhookpage.List{Now: p.now(), Hooks: all, Form: form}))
	return nil
}

func (p *Portal) hookShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showHook(w, r, a, http.StatusOK, chi.URLParam(r, "hook"), nil, "")
}

// showHook shows a hook, with the form as it was typed where that was refused, and the secret where one was just made.
func (p *Portal) showHook(w http.ResponseWriter, r *http.Request, a app.Actor, status int, name string, form *webhookpage.Form, secret string) error {
	before, err := number(r, "before")
	if err != nil {
		return err
	}
	h, err := p.hooking().Hook(r.Context(), a, name)
	if err != nil {
		return err
	}
	s := webhookpage.Show{Now: p.now(), Hook: h, Before: before, Secret: secret,
		Form: webhookpage.Form{Name: h.Name, Shown: h.URL, To: h.To, Format: h.Format, Kinds: h.Kinds}}
	if form != nil {
		s.Form = *form
		s.Form.Shown = h.URL
	}
	if s.Deliveries, err = p.hooking().HookDeliveries(r.Context(), a, name, before, webhookpage.HookPage); err != nil {
		return err
	}
	f := p.adminFrame(r, "Hook "+name)
	// What was refused, or is shown once, stands at an address that is another page when it is asked for again.
	f.Live = r.Method == http.MethodGet
	if s.Busy() && f.Live {
		f.Refresh = 3
	}
	p.render(w, r, status, webhookpage.ShowPage(f, s))
	return nil
}

func (p *Portal) hookLive(ctx context.Context, a app.Actor, at *url.URL) ([]liveOne, error) {
	before, err := strconv.ParseInt(cmp.Or(at.Query().Get("before"), "0"), 10, 64)
	if err != nil || before < 0 || p.hooking() == nil {
		return nil, errNotLive
	}
	name := path.Base(at.Path)
	h, err := p.hooking().Hook(ctx, a, name)
	if err != nil {
		return nil, err
	}
	s := webhookpage.Show{Now: p.now(), Hook: h, Before: before}
	s.Deliveries, err = p.hooking().HookDeliveries(ctx, a, name, before, webhookpage.HookPage)
	return []liveOne{{ID: "list", HTML: webhookpage.DeliveriesPart(s)}}, err
}

// hookSave makes a hook, or changes one; what is wrong with it is said beside the field.
func (p *Portal) hookSave(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	to, kinds := strings.TrimSpace(r.PostForm.Get("to")), []app.NoticeKind{}
	for _, k := range r.PostForm["kinds"] {
		kinds = append(kinds, app.NoticeKind(k))
	}
	in := webhookpage.Form{New: r.PostForm.Get("new") != "", Name: strings.TrimSpace(r.PostForm.Get("name")), URL: strings.TrimSpace(r.PostForm.Get("url")), To: to,
		Format: app.HookFormat(r.PostForm.Get("format")), Kinds: kinds}
	again := func(err error) error {
		e, answer := known(err)
		if !slices.Contains([]app.Code{app.EInvalid, app.EForbidden, app.ETooLarge, app.EConflict}, e.Code) || e.Code == app.EForbidden && e.Field == "" {
			return err
		}
		if in.Field = e.Field; !slices.Contains([]string{"name", "url", "format", "to", "kinds"}, in.Field) {
			in.Field = ""
		}
		in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
		if in.New {
			return p.showHooks(w, r, a, answer.status, in)
		}
		return p.showHook(w, r, a, answer.status, in.Name, &in, "")
	}
	if in.New {
		all, err := p.hooking().Hooks(r.Context(), a)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(h app.Hook) bool { return h.Name == in.Name }) {
			return again(&app.Error{Code: app.EConflict, Field: "name", Message: "There is already a hook of this name.", Hint: "Choose another one, or change that one."})
		}
	} else if _, err := p.hooking().Hook(r.Context(), a, in.Name); err != nil {
		return err
	}
	saved, err := p.hooking().SaveHook(r.Context(), a, webhook.HookRequest{Name: in.Name, URL: in.URL, Format: in.Format, To: &to, Kinds: &kinds})
	if err != nil {
		return again(err)
	}
	return p.saved(w, r, a, saved)
}

// saved shows a secret that was just made, which cannot be shown later.
func (p *Portal) saved(w http.ResponseWriter, r *http.Request, a app.Actor, s webhook.SavedHook) error {
	if s.Secret != "" {
		return p.showHook(w, r, a, http.StatusOK, s.Name, nil, s.Secret)
	}
	http.Redirect(w, r, hookPath(s.Name), http.StatusSeeOther)
	return nil
}

func (p *Portal) hookSwitch(on bool) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		return p.changeHook(w, r, a, webhook.HookRequest{Enabled: &on})
	}
}

func (p *Portal) hookRotate(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.changeHook(w, r, a, webhook.HookRequest{Rotate: true})
}

// changeHook changes a hook that is there.
func (p *Portal) changeHook(w http.ResponseWriter, r *http.Request, a app.Actor, change webhook.HookRequest) error {
	change.Name = chi.URLParam(r, "hook")
	if _, err := p.hooking().Hook(r.Context(), a, change.Name); err != nil {
		return err
	}
	saved, err := p.hooking().SaveHook(r.Context(), a, change)
	if err != nil {
		return err
	}
	return p.saved(w, r, a, saved)
}

func (p *Portal) hookTest(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := chi.URLParam(r, "hook")
	if _, err := p.hooking().TestHook(r.Context(), a, name); err != nil {
		return err
	}
	http.Redirect(w, r, hookPath(name)+"#list", http.StatusSeeOther)
	return nil
}

func (p *Portal) hookDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	h, err := p.hooking().Hook(r.Context(), a, chi.URLParam(r, "hook"))
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Delete "+h.Name)
	p.render(w, r, http.StatusOK, webhookpage.DeletePage(f, h))
	return nil
}

func (p *Portal) hookDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.hooking().DeleteHook(r.Context(), a, chi.URLParam(r, "hook")); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/hooks", http.StatusSeeOther)
	return nil
}

// deliveryID reads the number of a delivery out of an address.
func deliveryID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "delivery"), 10, 64)
	if err != nil || id <= 0 {
		return 0, errNoSuchPage
	}
	return id, nil
}

func (p *Portal) hookDelivery(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := deliveryID(r)
	if err != nil {
		return err
	}
	d, err := p.hooking().HookDelivery(r.Context(), a, chi.URLParam(r, "hook"), id)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Delivery "+strconv.FormatInt(id, 10))
	p.render(w, r, http.StatusOK, webhookpage.DeliveryPage(f, webhookpage.Delivery{Now: p.now(), Delivery: d}))
	return nil
}

func (p *Portal) hookResend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := deliveryID(r)
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	if _, err := p.hooking().Redeliver(r.Context(), a, name, id); err != nil {
		return err
	}
	http.Redirect(w, r, hookPath(name)+"#list", http.StatusSeeOther)
	return nil
}
