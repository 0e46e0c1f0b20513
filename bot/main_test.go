package bot_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"muster/bot"
	"muster/bot/slack"
	"muster/bot/slack/slacktest"
)

// TestMain has all that the tests' chats are sent checked as Slack would check it.
func TestMain(m *testing.M) {
	bot.SlackRefuses = func(v any) (list []string) {
		body, view, err := slack.JSON(v)
		if err != nil {
			return []string{err.Error()}
		}
		check := slacktest.CheckMessage
		if view {
			check = slacktest.CheckView
		}
		for _, found := range check(fmt.Sprintf("%T", v), body) {
			list = append(list, found.String())
		}
		return list
	}
	goleak.VerifyTestMain(checked{m})
}

// checked fails where something was sent beside a test, as from an updater's goroutine.
type checked struct{ *testing.M }

func (c checked) Run() int {
	code := c.M.Run()
	if list := bot.Refused(); len(list) > 0 {
		fmt.Fprintln(os.Stderr, "Slack would refuse", list)
		return 1
	}
	return code
}
