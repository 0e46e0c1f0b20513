package server

import (
	"testing"

	"muster/app"
)

func TestSlackSettings(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	if c, err := readSlack(env()); err != nil || c != (SlackConfig{}) {
		t.Errorf("without settings: %+v, %v", c, err)
	}
	if c, err := readSlack(env("SLACK_SIGNING_SECRET", "s", "SLACK_BOT_TOKEN", "xoxb-1")); err != nil || c.Tenant != app.DefaultTenant {
		t.Errorf("with both: %+v, %v", c, err)
	}
	for _, good := range [][]string{{"SLACK_APP_TOKEN", "xapp-1", "SLACK_BOT_TOKEN", "xoxb-1"}, {"SLACK_SIGNING_SECRET", "s", "SLACK_CLIENT_ID", "1.2", "SLACK_CLIENT_SECRET", "c"},
		{"SLACK_SIGNING_SECRET", "s", "SLACK_APP_TOKEN", "xapp-1", "SLACK_BOT_TOKEN", "xoxb-1", "SLACK_CLIENT_ID", "1.2", "SLACK_CLIENT_SECRET", "c"}} {
		if _, err := readSlack(env(good...)); err != nil {
			t.Errorf("%v is refused: %v", good, err)
		}
	}
	if c, err := readSlack(env("SLACK_SIGNING_SECRET", "s", "SLACK_BOT_TOKEN", "xoxb-1", "SLACK_API_URL", "https://slack-gov.com/api")); err != nil ||
		c.API != "https://slack-gov.com/api/" {
		t.Errorf("GovSlack is read as %+v, %v", c, err)
	}
	for _, bad := range [][]string{{"SLACK_API_URL", "http://slack-gov.com/api/", "SLACK_SIGNING_SECRET", "s", "SLACK_BOT_TOKEN", "xoxb-1"},
		{"SLACK_SIGNING_SECRET", "s"}, {"SLACK_BOT_TOKEN", "xoxb-1"}, {"SLACK_SIGNING_SECRET", "s", "SLACK_BOT_TOKEN", "xapp-1"}, {"SLACK_APP_TOKEN", "xapp-1"},
		{"SLACK_APP_TOKEN", "xoxb-1", "SLACK_BOT_TOKEN", "xoxb-1"}, {"SLACK_SIGNING_SECRET", "s", "SLACK_CLIENT_ID", "1.2"}, {"SLACK_CLIENT_ID", "1.2", "SLACK_CLIENT_SECRET", "c"},
		{"SLACK_SIGNING_SECRET", "s", "SLACK_BOT_TOKEN", "xoxb-1", "SLACK_CLIENT_SECRET", "c"}} {
		if _, err := readSlack(env(bad...)); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
