package chat

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"muster/app"
	"muster/app/chat"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// slackKind is the kind of chat of these pages.
const slackKind = "slack"

// Chat installs Muster in a chat's workspaces.
type Chat interface {
	// Installs reports whether an app for installation is configured.
	Installs() bool
	// InstallURL is the page where a workspace admin consents.
	InstallURL(state string) string
	// Exchange exchanges the code from that page for tokens.
	Exchange(ctx context.Context, code string) (chat.Workspace, chat.ChatTokens, error)
}

func (p *Service) slackShow(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	return p.showSlack(w, r, a, http.StatusOK, SlackForm{})
}

func (p *Service) showSlack(w http.ResponseWriter, r *http.Request, a app.Actor, status int, form SlackForm) error {
	settings, err := p.Chats.ChatSettings(r.Context(), a, slackKind)
	if err != nil {
		return err
	}
	f := p.AdminFrame(r, "Slack")
	p.Render(w, r, status, SlackPage(f, Slack{Now: p.Now(), Settings: settings, Form: form, Tenant: a.Tenant, Has: p.Chat != nil, Installs: p.Chat != nil && p.Chat.Installs(),
		Done: p.Sessions.PopString(r.Context(), site.KeyDone), May: a.May("SetApprovals")}))
	return nil
}

// slackDone redirects to the page with a message, or shows an error beside the form.
func (p *Service) slackDone(w http.ResponseWriter, r *http.Request, a app.Actor, form SlackForm, done string, err error) error {
	if err != nil {
		e, answer := site.Known(err)
		if e.Reason == app.StepUpReason || !slices.Contains([]app.Code{app.EInvalid, app.EForbidden, app.EConflict, app.ENotFound, app.ETooLarge}, e.Code) {
			return err
		}
		form.Complaint = page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.showSlack(w, r, a, answer.Status, form)
	}
	p.Sessions.Put(r.Context(), site.KeyDone, done)
	http.Redirect(w, r, "/admin/slack", http.StatusSeeOther)
	return nil
}

func (p *Service) slackEmail(on bool) site.MemberHandler {
	return func(w http.ResponseWriter, r *http.Request, a app.Actor) error {
		_, err := p.Chats.ChangeWorkspace(r.Context(), a, slackKind, chi.URLParam(r, "team"), on)
		done := "Linking by email turned off. Members connect their accounts with a link."
		if on {
			done = "Linking by email turned on for full members."
		}
		return p.slackDone(w, r, a, SlackForm{}, done, err)
	}
}

func (p *Service) slackRemove(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	err := p.Chats.RemoveWorkspace(r.Context(), a, slackKind, chi.URLParam(r, "team"))
	return p.slackDone(w, r, a, SlackForm{}, "Workspace removed. Remove the app in Slack too.", err)
}

func (p *Service) slackChannel(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	in := SlackForm{About: "channel", Team: strings.TrimSpace(r.PostForm.Get("team")), Channel: strings.TrimSpace(r.PostForm.Get("channel")), Tenant: strings.TrimSpace(r.PostForm.Get("tenant"))}
	c, err := p.Chats.UseChannel(r.Context(), a, chat.Channel{Kind: slackKind, Team: in.Team, Channel: in.Channel, Tenant: in.Tenant})
	done := "Channel " + in.Channel + " assigned to " + in.Tenant + "."
	if err == nil && !c.Agreed() {
		done = "Waiting for an admin of the other tenant to assign the channel too."
	}
	return p.slackDone(w, r, a, in, done, err)
}

func (p *Service) slackChannelReset(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	err := p.Chats.ResetChannel(r.Context(), a, slackKind, r.PostForm.Get("team"), r.PostForm.Get("channel"))
	return p.slackDone(w, r, a, SlackForm{}, "Channel reset to the tenant of its workspace.", err)
}

func (p *Service) slackApprovals(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if err := site.Form(r); err != nil {
		return err
	}
	in := SlackForm{About: "approvals", Team: r.PostForm.Get("team"), Channel: strings.TrimSpace(r.PostForm.Get("channel"))}
	done := "Requests that need approval are posted in " + in.Channel + "."
	if in.Channel == "" {
		done = "Posting requests in Slack turned off."
	}
	err := p.Chats.SetApprovals(r.Context(), a, chat.Approvals{Kind: slackKind, Team: in.Team, Channel: in.Channel})
	return p.slackDone(w, r, a, in, done, err)
}

// slackInstall redirects an admin to Slack, which redirects to slackInstalled. It changes nothing yet.
func (p *Service) slackInstall(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.Chat == nil || !p.Chat.Installs() {
		return &app.Error{Code: app.EConflict, Message: "Installing in workspaces isn't configured.", Hint: "Set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET on the server; see docs/slack.md."}
	}
	state, err := p.Chats.StartChatInstall(r.Context(), a)
	if err != nil {
		return err
	}
	http.Redirect(w, r, p.Chat.InstallURL(state), http.StatusSeeOther)
	return nil
}

func (p *Service) slackInstalled(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if p.Chat == nil || !p.Chat.Installs() {
		return site.ErrNoSuchPage
	}
	q := r.URL.Query()
	if q.Get("error") != "" {
		return p.slackDone(w, r, a, SlackForm{About: "install"}, "", &app.Error{Code: app.EInvalid, Message: "Muster wasn't installed: the request was denied in Slack.", Hint: "Start the installation again if this was a mistake."})
	}
	got, err := p.Chats.InstallChat(r.Context(), a, q.Get("state"), func(ctx context.Context) (chat.Workspace, chat.ChatTokens, error) {
		return p.Chat.Exchange(ctx, q.Get("code"))
	})
	return p.slackDone(w, r, a, SlackForm{About: "install"}, "Muster installed in "+got.Name+".", err)
}
