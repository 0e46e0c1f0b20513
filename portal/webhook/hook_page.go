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

// List is the page of a tenant's hooks, with the form for a new one.
type List struct {
	Now   time.Time
	Hooks []webhook.Hook
	Form  Form
}

// Form is what was typed into the form, and what is wrong with it.
type Form struct {
	Name, URL, To string
	Shown         string // of a hook that is there: where it leads
	Format        webhook.HookFormat
	Kinds         []app.NoticeKind // none: all
	New, Enabled  bool
	Field         string // where the complaint belongs
	Complaint     page.Complaint
}

// Error returns the complaint about a field.
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
	Hook       webhook.Hook
	Deliveries []webhook.HookDelivery
	Before     int64  // the page shows what came before this delivery; 0: the newest
	Secret     string // that was made just now; "" else
	Form       Form
}

// Older is where the next page begins; 0: there is none.
func (h Show) Older() int64 {
	if len(h.Deliveries) < HookPage {
		return 0
	}
	return h.Deliveries[len(h.Deliveries)-1].ID
}

// HookPage is how many deliveries a page shows.
const HookPage = 25

// Busy tells whether something may change by itself within moments.
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
	Delivery webhook.HookDelivery
}

// noticeList is the page of what someone was told.
type NoticeList struct {
	Now     time.Time
	Notices []app.Notice
	All     bool // those of the whole tenant
	Before  int64
	Hooks   bool // a way to the hooks is shown
}

// noticePage is how many notices a page shows.
const noticePage = 30

// Older is where the next page begins; 0: there is none.
func (l NoticeList) Older() int64 {
	if len(l.Notices) < noticePage {
		return 0
	}
	return l.Notices[len(l.Notices)-1].ID
}

func (l NoticeList) summary() string {
	if l.All {
		return "What people of this tenant were told, newest first. They are kept for ninety days."
	}
	return "What you and your groups were told, newest first. They are kept for ninety days."
}

// local tells whether a notice's way is one within the portal.
func Within(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsAny(path, "\\\r\n\t")
}

func NoticeWord(k app.NoticeKind) string {
	switch k {
	case app.NoticeLease:
		return "leases"
	case app.NoticeApproval:
		return "approvals"
	case app.NoticeBudget:
		return "budgets and quotas"
	case app.NoticeAlarm:
		return "alarms"
	case app.NoticeCluster:
		return "clusters that change hands or miss their schedule"
	case app.NoticeReady:
		return "clusters that are ready"
	case app.NoticeFailed:
		return "operations that fail"
	case app.NoticeLost:
		return "clusters that lose machines"
	case app.NoticeHealth:
		return "the health of clusters"
	case app.NoticePool:
		return "pools that cannot be refilled"
	case app.NoticeHook:
		return "hooks that stop"
	case app.NoticeQuestion:
		return "questions of operations"
	case app.NoticeResource:
		return "resources in use"
	case app.NoticeAccount:
		return "the security of accounts"
	case app.NoticeTest:
		return "test"
	}
	return string(k)
}

func kindsWords(kinds []app.NoticeKind) string {
	if len(kinds) == 0 {
		return "everything"
	}
	var words []string
	for _, k := range kinds {
		words = append(words, NoticeWord(k))
	}
	return strings.Join(words, ", ")
}

// about says what a hook is told: notices of some kinds, or when of which operations it has its turn.
func about(h webhook.Hook) string {
	switch {
	case h.When == "":
		return kindsWords(h.Kinds)
	case h.When == template.HookTemplate:
		return "when templates say so"
	case len(h.Operations) == 0:
		return string(h.When) + " any operation"
	}
	var words []string
	for _, k := range h.Operations {
		words = append(words, k.Words())
	}
	return string(h.When) + " " + strings.Join(words, ", ")
}

// whereTo says what a hook leads to.
func whereTo(h webhook.Hook) string {
	if h.Script != "" {
		return "A script on nodes"
	}
	return h.URL
}

func formatWords(f webhook.HookFormat) string {
	switch f {
	case webhook.HookSlack:
		return "Slack and the like: a text"
	case webhook.HookMail:
		return "A mail gateway: to, subject, text"
	}
	return "Muster: everything, as JSON"
}

func hookMark(h webhook.Hook) (mark, word string) {
	switch {
	case h.State == webhook.HookOff:
		return "dropped", "off"
	case h.State == webhook.HookStopped:
		return "failed", "stopped"
	case h.Last == nil:
		return "waiting", "not used yet"
	case h.Last.Code != "":
		return "failed", "failing"
	}
	return "succeeded", "on"
}

func deliveryMark(d webhook.HookDelivery) (mark, word string) {
	switch d.State {
	case webhook.DeliveryMade:
		return "succeeded", "delivered"
	case webhook.DeliveryFailed:
		return "failed", "failed"
	}
	if d.Attempts > 0 {
		return "running", "tried again"
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
	return humanize.Count(len(l.Hooks), "hook") + ", " + strconv.Itoa(on) + " on."
}

// lastTime says when a hook was last sent something, and how that went.
func lastTime(now time.Time, h webhook.Hook) string {
	if h.Last == nil {
		return "never"
	}
	return humanize.Ago(now, h.Last.At)
}

func statusWords(status int) string {
	if status == 0 {
		return "no answer"
	}
	return strconv.Itoa(status)
}

// took says how long a request took: "84 ms", "1.2 s".
func took(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
}

// mostShown is how much of a request a page shows, in bytes.
const mostShown = 16 << 10

// ReadableJSON sets a body out in lines.
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
	if len(text) > mostShown {
		text = strings.ToValidUTF8(text[:mostShown], "") + "…"
	}
	return text
}

// title returns what a delivery is about; its notice may be forgotten already.
func title(d webhook.HookDelivery) string {
	if d.Title == "" {
		return "Notice " + strconv.FormatInt(d.Notice, 10)
	}
	return d.Title
}

func triesWords(n int) string {
	if n == 1 {
		return "1 try"
	}
	return strconv.Itoa(n) + " tries"
}
