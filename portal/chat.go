package portal

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"muster/app"
	"muster/app/chat"
	chatpage "muster/portal/chat"
	"muster/portal/page"
)

// slackKind is the kind of chat that these pages are about.
const slackKind = "slack"

// Chatting is a power that a Muster may have: to look after the chats in which it is.
type Chatting interface {
	ChatHouse(ctx context.Context, a app.Actor, kind string) (chat.ChatHouse, error)
	// StartChatInstall gives what has to come back with the tokens; it is bound to the actor's sign-in.
	StartChatInstall(ctx context.Context, a app.Actor) (state string, err error)
	InstallChat(ctx context.Context, a app.Actor, state string, exchange func(ctx context.Context) (chat.ChatWorkspace, chat.ChatTokens, error)) (chat.ChatWorkspace, error)
	ChangeWorkspace(ctx context.Context, a app.Actor, kind, team string, email bool) (chat.ChatWorkspace, error)
	RemoveWorkspace(ctx context.Context, a app.Actor, kind, team string) error
	UseChannel(ctx context.Context, a app.Actor, c chat.ChatChannel) (chat.ChatChannel, error)
	ResetChannel(ctx context.Context, a app.Actor, kind, team, channel string) error
	SetApprovals(ctx context.Context, a app.Actor, p chat.ChatApprovals) error
}

// Chat is the chat itself, as far as installing goes.
type Chat interface {
	// Installs tells whether there is an app by which it can be installed.
	Installs() bool
	// InstallURL is where an admin of a workspace consents.
	InstallURL(state string) string
	// Exchange gets the tokens for what came back from there.
	Exchange(ctx context.Context, code string) (chat.ChatWorkspace, chat.ChatTokens, error)
}

func (p *Portal) chatting() Chatting {
	c, _ := p.muster.(Chatting)
	return c
}

func (p *Portal) slackShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showSlack(w, r, a, http.StatusOK, chatpage.SlackForm{})
}

func (p *Portal) showSlack(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form chatpage.SlackForm) error {
	house, err := p.chatting().ChatHouse(r.Context(), a, slackKind)
	if err != nil {
		return err
	}
	f := p.adminFrame(r, "Slack")
	p.render(w, r, status, chatpage.SlackPage(f, chatpage.Slack{Now: p.now(), House: house, Form: form, Tenant: a.Tenant, Has: p.chat != nil, Installs: p.chat != nil && p.chat.Installs(),
		Done: p.sessions.PopString(r.Context(), keyDone), May: a.May("SetApprovals")}))
	return nil
}

// slackDone goes back to the page, with a word about what was done or with what was wrong beside the form.
func (p *Portal) slackDone(w http.ResponseWriter, r *http.Request, a app.Actor, form chatpage.SlackForm, done string, err error) error {
	if err != nil {
		e, answer := known(err)
		if e.Reason == app.StepUpReason || !slices.Contains([]app.Code{app.EInvalid, app.EForbidden, app.EConflict, app.ENotFound, app.ETooLarge}, e.Code) {
			return err
		}
		form.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.showSlack(w, r, a, answer.status, form)
	}
	p.sessions.Put(r.Context(), keyDone, done)
	http.Redirect(w, r, "/admin/slack", http.StatusSeeOther)
	return nil
}

func (p *Portal) slackEmail(on bool) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		_, err := p.chatting().ChangeWorkspace(r.Context(), a, slackKind, chi.URLParam(r, "team"), on)
		done := "Members are linked by links only."
		if on {
			done = "Full members are linked by their verified addresses."
		}
		return p.slackDone(w, r, a, chatpage.SlackForm{}, done, err)
	}
}

func (p *Portal) slackRemove(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	err := p.chatting().RemoveWorkspace(r.Context(), a, slackKind, chi.URLParam(r, "team"))
	return p.slackDone(w, r, a, chatpage.SlackForm{}, "Muster has forgotten the workspace's tokens. Remove the app there, too.", err)
}

func (p *Portal) slackChannel(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	in := chatpage.SlackForm{About: "channel", Team: strings.TrimSpace(r.PostForm.Get("team")), Channel: strings.TrimSpace(r.PostForm.Get("channel")), Tenant: strings.TrimSpace(r.PostForm.Get("tenant"))}
	c, err := p.chatting().UseChannel(r.Context(), a, chat.ChatChannel{Kind: slackKind, Team: in.Team, Channel: in.Channel, Tenant: in.Tenant})
	done := "The channel " + in.Channel + " speaks for " + in.Tenant + " now."
	if err == nil && !c.Agreed() {
		done = "Your side has agreed. An admin of the other side has to say the same."
	}
	return p.slackDone(w, r, a, in, done, err)
}

func (p *Portal) slackChannelReset(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	err := p.chatting().ResetChannel(r.Context(), a, slackKind, r.PostForm.Get("team"), r.PostForm.Get("channel"))
	return p.slackDone(w, r, a, chatpage.SlackForm{}, "The channel speaks for its workspace's tenant again.", err)
}

func (p *Portal) slackApprovals(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := form(r); err != nil {
		return err
	}
	in := chatpage.SlackForm{About: "approvals", Team: r.PostForm.Get("team"), Channel: strings.TrimSpace(r.PostForm.Get("channel"))}
	done := "Requests are shown to their approvers in " + in.Channel + "."
	if in.Channel == "" {
		done = "Requests are shown in no channel any more."
	}
	err := p.chatting().SetApprovals(r.Context(), a, chat.ChatApprovals{Kind: slackKind, Team: in.Team, Channel: in.Channel})
	return p.slackDone(w, r, a, in, done, err)
}

// slackInstall sends an admin to Slack, who comes back to slackInstalled. It changes nothing yet.
func (p *Portal) slackInstall(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.chat == nil || !p.chat.Installs() {
		return &app.Error{Code: app.EConflict, Message: "Muster cannot be installed into workspaces here.", Hint: "That takes SLACK_CLIENT_ID and SLACK_CLIENT_SECRET; see docs/slack.md."}
	}
	state, err := p.chatting().StartChatInstall(r.Context(), a)
	if err != nil {
		return err
	}
	http.Redirect(w, r, p.chat.InstallURL(state), http.StatusSeeOther)
	return nil
}

func (p *Portal) slackInstalled(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.chat == nil || !p.chat.Installs() {
		return errNoSuchPage
	}
	q := r.URL.Query()
	if q.Get("error") != "" {
		return p.slackDone(w, r, a, chatpage.SlackForm{About: "install"}, "", &app.Error{Code: app.EInvalid, Message: "Slack did not install Muster: whoever was asked there has said no.", Hint: "Begin again, if that was not meant."})
	}
	got, err := p.chatting().InstallChat(r.Context(), a, q.Get("state"), func(ctx context.Context) (chat.ChatWorkspace, chat.ChatTokens, error) {
		return p.chat.Exchange(ctx, q.Get("code"))
	})
	return p.slackDone(w, r, a, chatpage.SlackForm{About: "install"}, "Muster is installed in "+got.Name+".", err)
}
