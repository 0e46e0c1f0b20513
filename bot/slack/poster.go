package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/bot"

	"github.com/slack-go/slack"
)

// poster shows cards through Slack's API.
type poster struct{ api *slack.Client }

var _ bot.Poster = poster{}

func cardMessage(c bot.Card) []slack.MsgOption {
	summary, blocks := cardBlocks(c)
	return []slack.MsgOption{slack.MsgOptionText(summary, false), slack.MsgOptionBlocks(blocks...), slack.MsgOptionDisableLinkUnfurl()}
}

// closed are Slack's errors for channels that the bot can't write to; a direct message may still work.
var closed = []string{"not_in_channel", "channel_not_found", "is_archived", "restricted_action", "restricted_action_read_only_channel", "not_allowed_token_type"}

func (p poster) Post(ctx context.Context, channel, person string, c bot.Card) (where, ts string, err error) {
	where, ts, err = p.api.PostMessageContext(ctx, channel, cardMessage(c)...)
	if slices.Contains(closed, reason(err)) {
		where, ts, err = p.api.PostMessageContext(ctx, person, cardMessage(c)...)
	}
	return where, ts, coded(err)
}

func (p poster) Edit(ctx context.Context, channel, ts string, c bot.Card) error {
	_, _, _, err := p.api.UpdateMessageContext(ctx, channel, ts, cardMessage(c)...)
	return coded(err)
}

// reason is Slack's error; "" for others.
func reason(err error) string {
	var e slack.SlackErrorResponse
	if errors.As(err, &e) {
		return e.Err
	}
	return ""
}

// detailed adds Slack's details, as in "`submit` is required when an `input` block is within the blocks array".
func detailed(err error) error {
	var e slack.SlackErrorResponse
	if !errors.As(err, &e) || len(e.ResponseMetadata.Messages) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", err, humanize.CutText(strings.Join(e.ResponseMetadata.Messages, "; "), maxRefusal))
}

// gone are Slack's errors for messages and channels that are permanently gone.
var gone = append([]string{"message_not_found", "cant_update_message", "edit_window_closed", "user_not_found", "messages_tab_disabled", "cannot_dm_bot"}, closed...)

// coded converts an error of Slack's API, which never contains the bot's token.
func coded(err error) error {
	var limited *slack.RateLimitedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limited):
		return &app.Error{Code: app.ERateLimit, Message: "Slack is rate limiting", RetryAfter: limited.RetryAfter, Err: err}
	case slices.Contains(gone, reason(err)):
		return &app.Error{Code: app.ENotFound, Message: "Slack can't show this there", Err: err}
	case reason(err) == "invalid_auth", reason(err) == "account_inactive", reason(err) == "token_revoked", reason(err) == "not_authed", reason(err) == "missing_scope":
		return &app.Error{Code: app.ECredentials, Message: "Slack rejected the bot's token", Err: err}
	}
	return &app.Error{Code: app.ETransient, Message: "Slack can't be reached", Err: detailed(err)}
}
