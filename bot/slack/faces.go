package slack

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/bot"
)

var (
	_ bot.Threads   = poster{}
	_ bot.Messenger = poster{}
	_ bot.Publisher = poster{}
)

func answerMessage(a bot.Answer) []slack.MsgOption {
	summary, blocks := answerBlocks(a)
	return []slack.MsgOption{slack.MsgOptionText(summary, false), slack.MsgOptionBlocks(blocks...), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl()}
}

func (p poster) Reply(ctx context.Context, channel, message string, a bot.Answer) (string, error) {
	_, ts, err := p.api.PostMessageContext(ctx, channel, append(answerMessage(a), slack.MsgOptionTS(message))...)
	return ts, coded(err)
}

func (p poster) EditReply(ctx context.Context, channel, reply string, a bot.Answer) error {
	_, _, _, err := p.api.UpdateMessageContext(ctx, channel, reply, answerMessage(a)...)
	return coded(err)
}

// dmEvent marks direct messages, with a key to find them.
const dmEvent = "muster_notice"

func (p poster) SendDM(ctx context.Context, person, key string, a bot.Answer) error {
	_, _, err := p.api.PostMessageContext(ctx, person, append(answerMessage(a),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: dmEvent, EventPayload: map[string]any{"key": key}}))...)
	return coded(err)
}

// maxSearched limits how many of a person's latest messages are searched for one that may have been sent.
const maxSearched = 100

func (p poster) FindDM(ctx context.Context, person, key string, since time.Time) (bool, error) {
	c, _, _, err := p.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{person}, ReturnIM: true})
	if err != nil {
		return false, coded(err)
	}
	h, err := p.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: c.ID, Limit: maxSearched, IncludeAllMetadata: true,
		Oldest: strconv.FormatInt(since.Unix(), 10)})
	if err != nil {
		return false, coded(err)
	}
	return slices.ContainsFunc(h.Messages, func(m slack.Message) bool {
		return m.Metadata.EventType == dmEvent && m.Metadata.EventPayload["key"] == key
	}), nil
}

func (p poster) Publish(ctx context.Context, person string, h bot.Home) error {
	_, err := p.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: person, View: homeView(h)})
	return coded(err)
}

// open shows a modal. A trigger works once, for 3 seconds: ETransient means that it expired.
func (p poster) open(ctx context.Context, trigger string, m bot.Modal) error {
	_, err := p.api.OpenViewContext(ctx, trigger, modalView(m))
	return coded(err)
}

// renew replaces an open modal; with a hash, only if it hasn't changed since. Otherwise a newer answer is on its way, and ECancelled is
// harmless.
func (p poster) renew(ctx context.Context, view, hash string, m bot.Modal) error {
	_, err := p.api.UpdateViewContext(ctx, modalView(m), "", hash, view)
	if reason(err) == "hash_conflict" {
		return &app.Error{Code: app.ECancelled, Message: "the modal has changed since", Err: err}
	}
	return coded(err)
}

// unfurl shows link previews of a message or, if by is set, of one that's still being written.
func (p poster) unfurl(ctx context.Context, channel, message, by, source string, list []bot.Unfurl) error {
	how := slack.MsgOptionUnfurl(message, unfurls(list))
	if by != "" {
		how = slack.MsgOptionUnfurlByID(by, source, unfurls(list))
	}
	_, _, _, err := p.api.SendMessageContext(ctx, channel, how)
	return coded(err)
}
