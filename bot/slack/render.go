package slack

import (
	"encoding/json"
	"fmt"

	"github.com/slack-go/slack"

	"muster/bot"
)

// JSON returns what is sent to Slack for an answer, a card, a modal or a home; view reports one of the last two. The bot's tests check it
// against Slack's rules.
func JSON(v any) (body []byte, view bool, err error) {
	var text string
	var blocks []slack.Block
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
