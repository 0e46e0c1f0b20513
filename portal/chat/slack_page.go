package chat

import (
	"strconv"
	"time"

	"muster/app/chat"
	"muster/app/humanize"
	"muster/portal/page"
)

// Slack is the page on which admins look after Muster in Slack.
type Slack struct {
	Now      time.Time
	House    chat.ChatHouse
	Form     SlackForm
	Tenant   string
	Done     string
	Has      bool // this server speaks to Slack
	Installs bool // Muster can be installed into workspaces
	May      bool
}

// SlackForm is what was typed into one of its forms, and what was wrong with it.
type SlackForm struct {
	About                 string // which: "install", "channel", "approvals"
	Team, Channel, Tenant string
	page.Complaint
}

// Error returns the complaint about one form; of a button without a form "".
func (f SlackForm) Error(about string) page.Complaint {
	if f.About == about {
		return f.Complaint
	}
	return page.Complaint{}
}

func workspaceMark(w chat.ChatWorkspace) (mark, word string) {
	switch w.State {
	case chat.ChatConnected:
		return "succeeded", "connected"
	case chat.ChatBroken:
		return "failed", "to be installed again"
	}
	return "dropped", "removed"
}

func linkMark(l chat.ChatLink) string {
	switch l.State {
	case "connected":
		return "succeeded"
	case "connecting":
		return "waiting"
	}
	return "failed"
}

// ago says how long ago something was; "never" where it was not.
func (s Slack) ago(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return humanize.Rough(max(s.Now.Sub(t), 0)) + " ago"
}

// calls says how many calls were made in the last minute.
func (s Slack) calls(w chat.ChatWorkspace) string {
	switch {
	case w.LimitedUntil.After(s.Now):
		return "none for " + humanize.Rough(w.LimitedUntil.Sub(s.Now))
	case s.Now.Sub(w.CallsAt) > 2*time.Minute:
		return "0 a minute"
	}
	return strconv.Itoa(w.Calls) + " a minute"
}

// token says how long the token holds.
func (s Slack) token(w chat.ChatWorkspace) string {
	switch {
	case w.Fixed:
		return "a setting of the servers"
	case w.State != chat.ChatConnected:
		return "none"
	case w.ExpiresAt.IsZero():
		return "does not end"
	case !w.ExpiresAt.After(s.Now):
		return "is over"
	}
	return "renewed within " + humanize.Rough(w.ExpiresAt.Sub(s.Now))
}

// connected are the workspaces that requests can be shown in.
func (s Slack) connected() (list []chat.ChatWorkspace) {
	for _, w := range s.House.Workspaces {
		if w.State == chat.ChatConnected {
			list = append(list, w)
		}
	}
	return list
}

// approvals fills the form of the approvals channel.
func (s Slack) approvals() (team, channel string) {
	if s.Form.About == "approvals" {
		return s.Form.Team, s.Form.Channel
	}
	if a := s.House.Approvals; a != nil {
		return a.Team, a.Channel
	}
	return "", ""
}

func agreement(c chat.ChatChannel) string {
	switch {
	case c.Agreed():
		return "agreed by " + c.Host + " and " + c.Guest
	case c.Host != "":
		return "waits for an admin of " + c.Tenant
	}
	return "waits for an admin of the workspace's tenant"
}
