package chat

import (
	"strconv"
	"time"

	"muster/app/chat"
	"muster/app/humanize"
	"muster/portal/page"
)

// Slack is the page on which admins manage Muster in Slack.
type Slack struct {
	Now      time.Time
	Settings chat.Settings
	Form     SlackForm
	Tenant   string
	Done     string
	Has      bool // Slack is configured on this server
	Installs bool // Muster can be installed in workspaces
	May      bool
}

// SlackForm is the input of one of the page's forms, with its error.
type SlackForm struct {
	About                 string // the form: "install", "channel" or "approvals"
	Team, Channel, Tenant string
	page.Complaint
}

// Error returns the error of a form; "" for a button without a form.
func (f SlackForm) Error(about string) page.Complaint {
	if f.About == about {
		return f.Complaint
	}
	return page.Complaint{}
}

func workspaceMark(w chat.Workspace) (mark, word string) {
	switch w.State {
	case chat.StateConnected:
		return "succeeded", "connected"
	case chat.StateBroken:
		return "failed", "reinstall required"
	}
	return "dropped", "removed"
}

func linkMark(l chat.Connection) string {
	switch l.State {
	case "connected":
		return "succeeded"
	case "connecting":
		return "waiting"
	}
	return "failed"
}

// ago is the time since t; "never" for none.
func (s Slack) ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return humanize.Ago(s.Now, t)
}

// calls is the rate of API calls in the last minute.
func (s Slack) calls(w chat.Workspace) string {
	switch {
	case w.LimitedUntil.After(s.Now):
		return "rate limited for " + humanize.Rough(w.LimitedUntil.Sub(s.Now))
	case s.Now.Sub(w.CallsAt) > 2*time.Minute:
		return "0/min"
	}
	return strconv.Itoa(w.Calls) + "/min"
}

// token is the state of the token.
func (s Slack) token(w chat.Workspace) string {
	switch {
	case w.Fixed:
		return "from server settings"
	case w.State != chat.StateConnected:
		return "none"
	case w.ExpiresAt.IsZero():
		return "doesn't expire"
	case !w.ExpiresAt.After(s.Now):
		return "expired"
	}
	return "renewed within " + humanize.Rough(w.ExpiresAt.Sub(s.Now))
}

// connected are the workspaces that requests can be posted in.
func (s Slack) connected() (list []chat.Workspace) {
	for _, w := range s.Settings.Workspaces {
		if w.State == chat.StateConnected {
			list = append(list, w)
		}
	}
	return list
}

// approvals is the input of the form for the approvals channel.
func (s Slack) approvals() (team, channel string) {
	if s.Form.About == "approvals" {
		return s.Form.Team, s.Form.Channel
	}
	if a := s.Settings.Approvals; a != nil {
		return a.Team, a.Channel
	}
	return "", ""
}

func agreement(c chat.Channel) string {
	switch {
	case c.Agreed():
		return "approved by " + c.Host + " and " + c.Guest
	case c.Host != "":
		return "waiting for an admin of " + c.Tenant
	}
	return "waiting for an admin of the workspace's tenant"
}
