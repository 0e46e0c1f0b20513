package webhook

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/app/webhook"
)

// What is longer is cut: a notice is short, and a body has a limit.
const (
	longestTitle = 300
	longestText  = 16 << 10
	maxNames     = 500
)

// event is the body of the format muster, in the shape that Standard Webhooks advises.
type event struct {
	Type      app.NoticeKind `json:"type"`
	Timestamp time.Time      `json:"timestamp"`
	Data      noticeData     `json:"data"`
}

type noticeData struct {
	app.Notice
	Path       string `json:"path,omitempty"` // from the portal's root
	Action     string `json:"action,omitempty"`
	ActionName string `json:"action_name,omitempty"`
	URL        string `json:"url,omitempty"`
	ActionURL  string `json:"action_url,omitempty"`
}

// Portal is where links lead.
type Portal struct {
	Base string                   // "" where it is not known: then nothing leads there
	Path func(app.Subject) string // the page of a subject, from Base; "" where there is none
}

// url returns the address of the page of a subject.
func (p Portal) url(s app.Subject) string {
	if path := p.Path(s); p.Base != "" && path != "" {
		return strings.TrimSuffix(p.Base, "/") + path
	}
	return ""
}

// body returns what is sent of a notice.
func body(d webhook.DueDelivery, p Portal) ([]byte, *app.Error) {
	if d.News != nil {
		return newsBody(d, p)
	}
	if d.BuildNews != nil {
		return buildBody(*d.BuildNews, p)
	}
	n := d.What
	n.Title, n.Text = short(oneLine(n.Title), longestTitle), short(n.Text, longestText)
	n.Users, n.Groups = n.Users[:min(len(n.Users), maxNames)], n.Groups[:min(len(n.Groups), maxNames)]
	url, action := p.url(n.About), p.url(n.Act)
	var body any
	switch d.Format {
	case webhook.HookSlack:
		body = map[string]string{"text": slackText(n, url, action)}
	case webhook.HookMail:
		body = map[string]string{"to": d.To, "subject": "[Muster] " + n.Title, "text": mailText(n, url, action)}
	default:
		body = event{Type: n.Kind, Timestamp: n.At, Data: noticeData{n, p.Path(n.About), p.Path(n.Act), n.ActionName, url, action}}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, app.Errorf(app.EInternal, "Can't encode the notification: %w", err)
	}
	if len(b) > webhook.MaxHookBody {
		return nil, app.Errorf(app.ETooLarge, "The notification is larger than %s.", humanize.Bytes(webhook.MaxHookBody))
	}
	return b, nil
}

var slackMarks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackText writes a notice as chats of Slack's kind show it. Nothing in it calls anybody, for < is not itself any more.
func slackText(n app.Notice, url, action string) string {
	var links []string
	if action != "" {
		links = append(links, "<"+slackMarks.Replace(action)+"|"+slackMarks.Replace(strings.ReplaceAll(actionName(n), "|", "/"))+">")
	}
	if url != "" && url != action {
		links = append(links, "<"+slackMarks.Replace(url)+"|Open>")
	}
	text := "*" + slackMarks.Replace(strings.ReplaceAll(n.Title, "*", "∗")) + "*"
	for _, more := range []string{slackMarks.Replace(n.Text), strings.Join(links, " · ")} {
		if more != "" {
			text += "\n" + more
		}
	}
	return text
}

func mailText(n app.Notice, url, action string) string {
	text := n.Title + "\n"
	if n.Text != "" {
		text += "\n" + n.Text + "\n"
	}
	if action != "" {
		text += "\n" + actionName(n) + ": " + action + "\n"
	}
	if url != "" && url != action {
		text += "\nMore: " + url + "\n"
	}
	return text + "\n-- \nMuster, tenant " + n.Tenant + "\n"
}

func actionName(n app.Notice) string {
	if n.ActionName == "" {
		return "Open"
	}
	return n.ActionName
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// short cuts a text to so many bytes, between letters.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
