package webhook

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
	"muster/portal/site"
)

func hookPath(name string) string { return "/admin/webhooks/" + name }

func (p *Service) noticeList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	before, err := Number(r, "before")
	if err != nil {
		return err
	}
	all, err := p.Notices.Notices(r.Context(), a, before, noticePage)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Notification history")
	f.At = "notices"
	p.Render(w, r, http.StatusOK, NoticeListPage(f, NoticeList{Now: p.Now(), Notices: all, Before: before,
		All: a.May("Hooks"), Hooks: a.May("SaveHook")}))
	return nil
}

// Number parses a number in the query; 0 for none.
func Number(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, &app.Error{Code: app.EInvalid, Field: name, Message: "Invalid page address.", Hint: "Open the first page."}
	}
	return n, nil
}

func (p *Service) hookList(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showHooks(w, r, a, http.StatusOK, Form{New: true, Format: webhook.HookMuster})
}

func (p *Service) showHooks(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form Form) error {
	all, err := p.Hooks.Hooks(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Webhooks")
	p.Render(w, r, status, ListPage(f, List{Now: p.Now(), Hooks: all, Form: form}))
	return nil
}

func (p *Service) hookShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showHook(w, r, a, http.StatusOK, chi.URLParam(r, "hook"), nil, "")
}

// showHook shows a hook, with a refused form as typed, and a secret that was just created.
func (p *Service) showHook(w http.ResponseWriter, r *http.Request, a app.Actor, status int, name string, form *Form, secret string) error {
	before, err := Number(r, "before")
	if err != nil {
		return err
	}
	h, err := p.Hooks.Hook(r.Context(), a, name)
	if err != nil {
		return err
	}
	s := Show{Now: p.Now(), Hook: h, Before: before, Secret: secret,
		Form: Form{Name: h.Name, Shown: h.URL, To: h.To, Format: h.Format, Kinds: h.Kinds}}
	if form != nil {
		s.Form = *form
		s.Form.Shown = h.URL
	}
	if s.Deliveries, err = p.Hooks.HookDeliveries(r.Context(), a, name, before, HookPage); err != nil {
		return err
	}
	f := p.AdminFrame(r, "Webhook "+name)
	// A refused form or a new secret is the answer to a POST, whose address shows another page on GET.
	f.Live = r.Method == http.MethodGet
	if s.Busy() && f.Live {
		f.Refresh = 3
	}
	p.Render(w, r, status, ShowPage(f, s))
	return nil
}

func (p *Service) HookLive(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	before, err := strconv.ParseInt(cmp.Or(at.Query().Get("before"), "0"), 10, 64)
	if err != nil || before < 0 {
		return nil, site.ErrNotLive
	}
	name := path.Base(at.Path)
	h, err := p.Hooks.Hook(ctx, a, name)
	if err != nil {
		return nil, err
	}
	s := Show{Now: p.Now(), Hook: h, Before: before}
	s.Deliveries, err = p.Hooks.HookDeliveries(ctx, a, name, before, HookPage)
	return []site.LiveOne{{ID: "list", HTML: DeliveriesPart(s)}}, err
}

// hookSave creates or changes a hook, and shows errors beside their fields.
func (p *Service) hookSave(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	to, kinds := strings.TrimSpace(r.PostForm.Get("to")), []app.NoticeKind{}
	for _, k := range r.PostForm["kinds"] {
		kinds = append(kinds, app.NoticeKind(k))
	}
	in := Form{New: r.PostForm.Get("new") != "", Name: strings.TrimSpace(r.PostForm.Get("name")), URL: strings.TrimSpace(r.PostForm.Get("url")), To: to,
		Format: webhook.Format(r.PostForm.Get("format")), Kinds: kinds}
	again := func(err error) error {
		e, answer := site.Known(err)
		if !slices.Contains([]app.Code{app.EInvalid, app.EForbidden, app.ETooLarge, app.EConflict}, e.Code) || e.Code == app.EForbidden && e.Field == "" {
			return err
		}
		if in.Field = e.Field; !slices.Contains([]string{"name", "url", "format", "to", "kinds"}, in.Field) {
			in.Field = ""
		}
		in.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
		if in.New {
			return p.showHooks(w, r, a, answer.Status, in)
		}
		return p.showHook(w, r, a, answer.Status, in.Name, &in, "")
	}
	if in.New {
		all, err := p.Hooks.Hooks(r.Context(), a)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(h webhook.Endpoint) bool { return h.Name == in.Name }) {
			return again(&app.Error{Code: app.EConflict, Field: "name", Message: "Webhook " + in.Name + " already exists.", Hint: "Choose another name, or edit that webhook."})
		}
	} else if _, err := p.Hooks.Hook(r.Context(), a, in.Name); err != nil {
		return err
	}
	saved, err := p.Hooks.SaveHook(r.Context(), a, webhook.EndpointRequest{Name: in.Name, URL: in.URL, Format: in.Format, To: &to, Kinds: &kinds})
	if err != nil {
		return again(err)
	}
	return p.saved(w, r, a, saved)
}

// saved shows a secret that was just created, the only time it can be shown.
func (p *Service) saved(w http.ResponseWriter, r *http.Request, a app.Actor, s webhook.SavedEndpoint) error {
	if s.Secret != "" {
		return p.showHook(w, r, a, http.StatusOK, s.Name, nil, s.Secret)
	}
	http.Redirect(w, r, hookPath(s.Name), http.StatusSeeOther)
	return nil
}

func (p *Service) hookSwitch(on bool) site.MemberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		return p.changeHook(w, r, a, webhook.EndpointRequest{Enabled: &on})
	}
}

func (p *Service) hookRotate(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.changeHook(w, r, a, webhook.EndpointRequest{Rotate: true})
}

// changeHook changes an existing hook.
func (p *Service) changeHook(w http.ResponseWriter, r *http.Request, a app.Actor, change webhook.EndpointRequest) error {
	change.Name = chi.URLParam(r, "hook")
	if _, err := p.Hooks.Hook(r.Context(), a, change.Name); err != nil {
		return err
	}
	saved, err := p.Hooks.SaveHook(r.Context(), a, change)
	if err != nil {
		return err
	}
	return p.saved(w, r, a, saved)
}

func (p *Service) hookTest(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	name := chi.URLParam(r, "hook")
	if _, err := p.Hooks.TestHook(r.Context(), a, name); err != nil {
		return err
	}
	http.Redirect(w, r, hookPath(name)+"#list", http.StatusSeeOther)
	return nil
}

func (p *Service) hookDeleteAsk(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	h, err := p.Hooks.Hook(r.Context(), a, chi.URLParam(r, "hook"))
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Delete "+h.Name)
	p.Render(w, r, http.StatusOK, DeletePage(f, h))
	return nil
}

func (p *Service) hookDelete(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := p.Hooks.DeleteHook(r.Context(), a, chi.URLParam(r, "hook")); err != nil {
		return err
	}
	http.Redirect(w, r, "/admin/webhooks", http.StatusSeeOther)
	return nil
}

// DeliveryID parses the number of a delivery in an address.
func DeliveryID(r *http.Request) (int64, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "delivery"), 10, 64)
	if err != nil || id <= 0 {
		return 0, site.ErrNoSuchPage
	}
	return id, nil
}

func (p *Service) hookDelivery(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := DeliveryID(r)
	if err != nil {
		return err
	}
	d, err := p.Hooks.HookDelivery(r.Context(), a, chi.URLParam(r, "hook"), id)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Delivery "+strconv.FormatInt(id, 10))
	p.Render(w, r, http.StatusOK, DeliveryPage(f, Delivery{Now: p.Now(), Delivery: d}))
	return nil
}

func (p *Service) hookResend(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := DeliveryID(r)
	if err != nil {
		return err
	}
	name := chi.URLParam(r, "hook")
	if _, err := p.Hooks.Redeliver(r.Context(), a, name, id); err != nil {
		return err
	}
	http.Redirect(w, r, hookPath(name)+"#list", http.StatusSeeOther)
	return nil
}
