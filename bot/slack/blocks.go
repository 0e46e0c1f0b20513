package slack

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/bot"
)

// Limits of Slack, in letters, and what we keep to.
const (
	mostHeader  = 149  // of 150, for the sign that it was cut
	mostSection = 2900 // of 3000
	mostButton  = 74   // of 75
	mostValue   = 2000
	mostURL     = 3000
	mostBlocks  = 40 // of 50
	mostSummary = 300
)

// marks are what Slack would read as markup. Everything else goes out as plain text, in which nothing is read at all.
var marks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// plain is a text in which Slack reads nothing; it refuses one that is empty.
func plain(text string, most int) *slack.TextBlockObject {
	if text = strings.ToValidUTF8(text, "�"); strings.TrimSpace(text) == "" {
		text = "–"
	}
	return slack.NewTextBlockObject(slack.PlainTextType, app.CutText(text, most), false, false)
}

// sections shows lines, as many to a block as go into it.
func sections(lines []string) (blocks []slack.Block) {
	var text strings.Builder
	letters := 0
	flush := func() {
		if letters > 0 {
			blocks = append(blocks, slack.NewSectionBlock(plain(text.String(), mostSection), nil, nil))
			text.Reset()
			letters = 0
		}
	}
	for _, l := range lines {
		l = app.CutText(strings.ToValidUTF8(l, "�"), mostSection-1)
		n := len([]rune(l)) + 1
		if letters+n > mostSection {
			flush()
		}
		if letters > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(l)
		letters += n
	}
	flush()
	return blocks
}

// actions shows links and buttons in one row.
func actions(links []bot.Link, buttons []bot.Button) []slack.Block {
	var row []slack.BlockElement
	for i, b := range buttons {
		if len(b.Value) > mostValue {
			continue // cannot be: see bot's own limits
		}
		e := slack.NewButtonBlockElement(fmt.Sprintf("%s%d", actionDo, i), b.Value, plain(b.Name, mostButton)).WithStyle(slack.StylePrimary)
		if b.Danger {
			e = e.WithStyle(slack.StyleDanger)
		}
		row = append(row, e)
	}
	for i, l := range links {
		if len(l.URL) > mostURL {
			continue
		}
		row = append(row, slack.NewButtonBlockElement(fmt.Sprintf("open%d", i), "", plain(l.Name, mostButton)).WithURL(l.URL))
	}
	if len(row) == 0 {
		return nil
	}
	return []slack.Block{slack.NewActionBlock("", row...)}
}

// actionDo begins the names of buttons that do something; others only lead somewhere.
const actionDo = "do"

// message puts blocks together within Slack's limits; the row of buttons is always part of it.
func message(title string, body, row []slack.Block) []slack.Block {
	blocks := []slack.Block{slack.NewHeaderBlock(plain(title, mostHeader))}
	if room := mostBlocks - len(row) - 1; len(body) > room {
		body = append(body[:room-1:room-1], slack.NewSectionBlock(plain("There is more in the portal.", mostSection), nil, nil))
	}
	return append(append(blocks, body...), row...)
}

// summary is what Slack shows where it shows no blocks, such as in notifications.
func summary(title string) string {
	return marks.Replace(app.CutText(strings.ToValidUTF8(title, "�"), mostSummary))
}

// answerBlocks shows an answer.
func answerBlocks(a bot.Answer) (text string, blocks []slack.Block) {
	return summary(a.Title), message(a.Title, sections(a.Lines), actions(a.Links, a.Buttons))
}

// cardBlocks shows a card.
func cardBlocks(c bot.Card) (text string, blocks []slack.Block) {
	body := append(sections([]string{c.Bar}), sections(c.Lines)...)
	if len(c.Log) > 0 {
		body = append(append(body, slack.NewDividerBlock()), sections(c.Log)...)
	}
	return summary(c.Title), message(c.Title, body, actions([]bot.Link{c.Link}, nil))
}
