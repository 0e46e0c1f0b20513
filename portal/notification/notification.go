package notification

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/humanize"
	"muster/app/notification"
	"muster/portal/address"
	"muster/portal/page"
	"muster/portal/site"
)

// Service serves the pages and REST operations of notifications.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

// Routes are the pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/notifications", p.list),
		site.Submit("/notifications/read", p.markRead),
		site.Show("/notifications/{notification}", p.open),
		site.Show("/account/notifications", p.preferences),
		site.Submit("/account/notifications", p.savePreferences),
	}
}

// pageSize is how many notifications a page shows.
const pageSize = 30

// List is the page of a person's notifications.
type List struct {
	Items  []notification.Item
	Query  notification.Query
	Unread int
	Now    time.Time
	All    bool // link to what admins see
}

// newest is the number of the newest one that is shown.
func (l List) newest() string {
	if len(l.Items) == 0 {
		return "0"
	}
	return strconv.FormatInt(l.Items[0].ID, 10)
}

// older is the address of the next page; "" for none.
func (l List) older() string {
	if len(l.Items) < pageSize {
		return ""
	}
	at := "/notifications?before=" + strconv.FormatInt(l.Items[len(l.Items)-1].ID, 10)
	if l.Query.Unread {
		at += "&show=unread"
	}
	return at
}

// path is where a notification is opened.
func path(n notification.Item) string { return "/notifications/" + strconv.FormatInt(n.ID, 10) }

func kindName(k app.NoticeKind) string {
	for _, x := range notification.Kinds {
		if x.Kind == k {
			return x.Name
		}
	}
	return humanize.Spaced(string(k))
}

// within reports whether a link is within the portal.
func within(at string) bool {
	return strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "//") && !strings.ContainsAny(at, "\\\r\n\t")
}

func number(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, &app.Error{Code: app.EInvalid, Field: "before", Message: "Invalid page address.", Hint: "Open the first page."}
	}
	return n, nil
}

func (p *Service) read(ctx context.Context, a app.Actor, q url.Values) (List, error) {
	before, err := number(q.Get("before"))
	if err != nil {
		return List{}, err
	}
	l := List{Query: notification.Query{Before: before, Unread: q.Get("show") == "unread", Limit: pageSize}, Now: p.Now(), All: a.May("Hooks")}
	l.Items, err = p.Notifications.Notifications(ctx, a, l.Query)
	l.Unread = p.Unread(ctx, a)
	return l, err
}

func (p *Service) list(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	l, err := p.read(r.Context(), a, r.URL.Query())
	if err != nil {
		return err
	}
	f := p.Frame(r, "Notifications")
	f.At, f.Live, f.Styles = "notices", true, []string{"cluster.css"}
	p.Render(w, r, http.StatusOK, ListPage(f, l))
	return nil
}

// Live updates the list.
func (p *Service) Live(ctx context.Context, a app.Actor, at *url.URL) ([]site.LiveOne, error) {
	l, err := p.read(ctx, a, at.Query())
	return []site.LiveOne{{ID: "notices", HTML: items(l)}}, err
}

// open marks a notification as read and leads to what it's about.
func (p *Service) open(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	id, err := strconv.ParseInt(chi.URLParam(r, "notification"), 10, 64)
	if err != nil || id <= 0 {
		return site.ErrNoSuchPage
	}
	n, err := p.Notifications.OpenNotification(r.Context(), a, id)
	if err != nil {
		return err
	}
	to := address.Of(n.About)
	if r.URL.Query().Get("act") != "" {
		to = address.Of(n.Act)
	}
	if !within(to) {
		to = "/notifications"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

func (p *Service) markRead(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	upTo, err := number(r.PostForm.Get("up_to"))
	if err != nil {
		return err
	}
	if _, err := p.Notifications.MarkNotifications(r.Context(), a, notification.Mark{UpTo: upTo}); err != nil {
		return err
	}
	http.Redirect(w, r, "/notifications", http.StatusSeeOther)
	return nil
}

// Preferences is the page of how a person is notified.
type Preferences struct {
	notification.Preferences
	Bad  page.Complaint
	Done bool
}

func (p *Service) preferences(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	is, err := p.Notifications.NotificationPreferences(r.Context(), a)
	if err != nil {
		return err
	}
	f := p.Frame(r, "Notification preferences")
	f.At = "account"
	p.Render(w, r, http.StatusOK, PreferencesPage(f, Preferences{Preferences: is, Done: r.URL.Query().Get("saved") != ""}))
	return nil
}

// savePreferences takes the whole table: boxes that aren't ticked aren't sent.
func (p *Service) savePreferences(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	on := func(c app.NoticeChannel, k app.NoticeKind) *bool {
		yes := r.PostForm.Get(string(c)+"-"+string(k)) != ""
		return &yes
	}
	var changes []notification.Change
	for _, k := range notification.Kinds {
		c := notification.Change{Kind: k.Kind, Portal: on(app.ChannelPortal, k.Kind), Email: on(app.ChannelEmail, k.Kind)}
		if notification.Offers(k.Kind, app.ChannelSlack) {
			c.Slack = on(app.ChannelSlack, k.Kind)
		}
		changes = append(changes, c)
	}
	if _, err := p.Notifications.SaveNotificationPreferences(r.Context(), a, changes); err != nil {
		return err
	}
	http.Redirect(w, r, "/account/notifications?saved=1", http.StatusSeeOther)
	return nil
}

// alarming reports whether a kind is shown as something bad.
func alarming(k app.NoticeKind) bool {
	return k == app.NoticeFailed || k == app.NoticeLost || k == app.NoticeAlarm
}

func historyName(all bool) string {
	if all {
		return "Tenant history"
	}
	return "History"
}
