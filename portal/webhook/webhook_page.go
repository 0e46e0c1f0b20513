package webhook

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
	"muster/app/webhook"
	"muster/portal/page"
)

// List is the page of a tenant's webhooks, with the form for a new one.
type List struct {
	Now   time.Time
	Hooks []webhook.Endpoint
	Form  Form
}

// Form is the input of a form, with its error.
type Form struct {
	Name, URL, To string
	Shown         string // URL of an existing webhook
	Format        webhook.Format
	Kinds         []app.NoticeKind // none: all
	New, Enabled  bool
	Field         string // of the complaint
	Complaint     page.Complaint
}

// Error returns the error of a field.
func (f Form) Error(field string) page.Complaint {
	if f.Field == field {
		return f.Complaint
	}
	return page.Complaint{}
}

func (f Form) wants(k app.NoticeKind) bool {
	for _, w := range f.Kinds {
		if w == k {
			return true
		}
	}
	return false
}

// Show is the page of one hook.
type Show struct {
	Now        time.Time
	Hook       webhook.Endpoint
	Deliveries []webhook.Delivery
	Before     int64  // the page starts before this delivery; 0 for the newest
	Secret     string // if just created
	Form       Form
}

// Older is where the next page starts; 0 for none.
func (h Show) Older() int64 {
	if len(h.Deliveries) < HookPage {
		return 0
	}
	return h.Deliveries[len(h.Deliveries)-1].ID
}

// HookPage is how many deliveries a page shows.
const HookPage = 25

// Busy reports whether a delivery is due within moments.
func (h Show) Busy() bool {
	for _, d := range h.Deliveries {
		if d.State == webhook.DeliveryWaiting && d.NextAt.Sub(h.Now) < time.Minute {
			return true
		}
	}
	return false
}

// Delivery is the page of one delivery.
type Delivery struct {
	Now      time.Time
	Delivery webhook.Delivery
}

// NoticeList is the page of notifications.
type NoticeList struct {
	Now     time.Time
	Notices []app.Notice
	All     bool // of the whole tenant
	Before  int64
	Hooks   bool // link to the webhooks
}

// noticePage is how many notifications a page shows.
const noticePage = 30

// Older is where the next page starts; 0 for none.
func (l NoticeList) Older() int64 {
	if len(l.Notices) < noticePage {
		return 0
	}
	return l.Notices[len(l.Notices)-1].ID
}

func (l NoticeList) summary() string {
	if l.All {
		return "Notifications to all users of this tenant, newest first. Kept for 90 d."
	}
	return "Notifications to you and your groups, newest first. Kept for 90 d."
}

// Within reports whether a notification's link is within the portal.
func Within(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsAny(path, "\\\r\n\t")
}

func NoticeWord(k app.NoticeKind) string {
	switch k {
	case app.NoticeLease:
		return "leases"
	case app.NoticeApproval:
		return "approvals"
	case app.NoticeIdle:
		return "idle clusters"
	case app.NoticeBudget:
		return "budgets and quotas"
	case app.NoticeAlarm:
		return "alarms"
	case app.NoticeCluster:
		return "ownership transfers and missed schedules"
	case app.NoticeReady:
		return "ready clusters"
	case app.NoticeFailed:
		return "failed operations"
	case app.NoticeLost:
		return "lost machines"
	case app.NoticeHealth:
		return "cluster health"
	case app.NoticePool:
		return "pools that can't be refilled"
	case app.NoticeHook:
		return "disabled webhooks"
	case app.NoticeManualStep:
		return "manual steps"
	case app.NoticeResource:
		return "resources in use"
	case app.NoticeAccount:
		return "account security"
	case app.NoticeTest:
		return "test"
	}
	return string(k)
}

func kindsWords(kinds []app.NoticeKind) string {
	if len(kinds) == 0 {
		return "all notifications"
	}
	var words []string
	for _, k := range kinds {
		words = append(words, NoticeWord(k))
	}
	return strings.Join(words, ", ")
}

// about says what triggers a hook: kinds of notifications, or the stage and kinds of operations.
func about(h webhook.Endpoint) string {
	switch {
	case h.When == "":
		return kindsWords(h.Kinds)
	case h.When == template.HookTemplate:
		return "when a template lists this hook"
	case len(h.Operations) == 0 && h.When == template.HookRequest:
		return "asked about each request"
	case len(h.Operations) == 0 && h.When == template.HookFailure:
		return "when any operation fails"
	case len(h.Operations) == 0:
		return string(h.When) + " any operation"
	}
	var words []string
	for _, k := range h.Operations {
		words = append(words, k.Text())
	}
	if h.When == template.HookRequest {
		return "asked about requests: " + strings.Join(words, ", ")
	}
	if h.When == template.HookFailure {
		return "when an operation fails: " + strings.Join(words, ", ")
	}
	return string(h.When) + " " + strings.Join(words, ", ")
}

// whereTo is the target of a hook.
func whereTo(h webhook.Endpoint) string {
	if h.Script != "" {
		return "Script on nodes"
	}
	return h.URL
}

func formatWords(f webhook.Format) string {
	switch f {
	case webhook.HookSlack:
		return "Slack-compatible text"
	case webhook.HookMail:
		return "Mail gateway (to, subject, text)"
	}
	return "Muster JSON (all fields)"
}

func hookMark(h webhook.Endpoint) (mark, word string) {
	switch {
	case h.State == webhook.HookOff:
		return "dropped", "disabled"
	case h.State == webhook.HookStopped:
		return "failed", "stopped"
	case h.Last == nil:
		return "waiting", "unused"
	case h.Last.Code != "":
		return "failed", "failing"
	}
	return "succeeded", "healthy"
}

func deliveryMark(d webhook.Delivery) (mark, word string) {
	switch d.State {
	case webhook.DeliveryMade:
		return "succeeded", "delivered"
	case webhook.DeliveryFailed:
		return "failed", "failed"
	}
	if d.Attempts > 0 {
		return "running", "retrying"
	}
	return "queued", "waiting"
}

func (l List) summary() string {
	on := 0
	for _, h := range l.Hooks {
		if h.State == webhook.HookActive {
			on++
		}
	}
	return humanize.Count(len(l.Hooks), "webhook") + ", " + strconv.Itoa(on) + " enabled."
}

// lastTime says when a hook was last used.
func lastTime(now time.Time, h webhook.Endpoint) string {
	if h.Last == nil {
		return "never"
	}
	return humanize.Ago(now, h.Last.At)
}

func statusWords(status int) string {
	if status == 0 {
		return "no response"
	}
	return strconv.Itoa(status)
}

// took is the duration of a request: "84 ms", "1.2 s".
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return "less than 1 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// maxShown is how many bytes of a request a page shows.
const maxShown = 16 << 10

// ReadableJSON indents a JSON body.
func ReadableJSON(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if e.Encode(v) == nil {
			text = b.String()
		}
	}
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// title is the title of a delivery's notification, which may have expired.
func title(d webhook.Delivery) string {
	if d.Title == "" {
		return "Notification " + strconv.FormatInt(d.Notification, 10)
	}
	return d.Title
}

func triesWords(n int) string { return humanize.Count(n, "attempt") }
