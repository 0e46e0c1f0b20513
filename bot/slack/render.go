package slack

import (
	"encoding/json"
	"fmt"

	"github.com/slack-go/slack"

	"muster/bot"
)

// JSON returns what Slack is sent for an answer, a card, a modal or a home; view says that it's one of the last two. Tests of the
// bot hold it against Slack's rules, so that a form that Slack refuses fails where it's written and not first in a workspace.
func JSON(v any) (body []byte, view bool, err error) {
	text, blocks := "", []slack.Block(nil)
	switch v := v.(type) {
	case bot.Modal:
		body, err = json.Marshal(modalView(v))
		return body, true, err
	case bot.Home:
		body, err = json.Marshal(homeView(v))
		return body, true, err
	case bot.Answer:
		text, blocks = answerBlocks(v)
	case bot.Card:
		text, blocks = cardBlocks(v)
	default:
		return nil, false, fmt.Errorf("slack: %T is never sent", v)
	}
	body, err = json.Marshal(slack.Msg{Text: text, Blocks: slack.Blocks{BlockSet: blocks}})
	return body, false, err
}
