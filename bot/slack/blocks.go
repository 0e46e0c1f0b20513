package slack

import (
	"fmt"

	"github.com/slack-go/slack"

	"muster/bot"
)

// Names of buttons and fields start with how they're handled; all others are links.
const (
	actionDo   = "do"   // bot.Bot.Press
	actionFill = "fill" // bot.Bot.Fill
	actionKeep = "keep" // nothing until the modal is submitted
)

// sections shows lines, as many to a block as fit.
func sections(lines []string) (blocks []slack.Block) {
	for _, text := range pages(lines, maxSection) {
		blocks = append(blocks, slack.NewSectionBlock(plain(text, maxSection), nil, nil))
	}
	return blocks
}

// asides shows lines in small letters.
func asides(lines []string) (blocks []slack.Block) {
	for _, text := range pages(lines, maxContext) {
		blocks = append(blocks, slack.NewContextBlock("", plain(text, maxContext)))
	}
	return blocks
}

// logged shows log lines. The text of such a block is literal: nothing in it is markup.
func logged(lines []string) (blocks []slack.Block) {
	for _, text := range pages(lines, maxSection) {
		words := plain(text, maxSection).Text
		blocks = append(blocks, slack.NewRichTextBlock("", &slack.RichTextPreformatted{
			Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(words, nil)}}))
	}
	return blocks
}

// button makes a button; its name is unique in a message if at is.
func button(b bot.Button, at string) *slack.ButtonBlockElement {
	act := actionDo
	if b.Fill {
		act = actionFill
	}
	e := slack.NewButtonBlockElement(act+at, b.Value, plain(b.Name, maxButton))
	switch {
	case b.Danger:
		e = e.WithStyle(slack.StyleDanger)
	case !b.Quiet:
		e = e.WithStyle(slack.StylePrimary)
	}
	if c := b.Confirm; c != nil {
		e.Confirm = slack.NewConfirmationBlockObject(plain(c.Title, maxConfirmHead), plain(c.Text, maxConfirmText), plain(c.Yes, maxConfirmYes), plain(c.No, maxConfirmYes))
		if b.Danger {
			e.Confirm.Style = slack.StyleDanger
		}
	}
	return e
}

// actions shows links and buttons in rows. At distinguishes rows of one message. A button whose value doesn't fit is left out, since
// half of the value would mean something else.
func actions(links []bot.Link, buttons []bot.Button, at string) (rows []slack.Block) {
	var all []slack.BlockElement
	for i, b := range buttons {
		if len(b.Value) <= maxValue && b.Value != "" {
			all = append(all, button(b, fmt.Sprintf("%s%d", at, i)))
		}
	}
	for i, l := range links {
		if len(l.URL) <= maxURL && l.URL != "" {
			all = append(all, slack.NewButtonBlockElement(fmt.Sprintf("open%s%d", at, i), "", plain(l.Name, maxButton)).WithURL(l.URL))
		}
	}
	for len(all) > 0 {
		n := min(len(all), maxRow)
		rows = append(rows, slack.NewActionBlock("", all[:n]...))
		all = all[n:]
	}
	return rows
}

// message combines blocks within Slack's limits; the rows of buttons are always included.
func message(title string, body, rows []slack.Block) []slack.Block {
	blocks := []slack.Block{slack.NewHeaderBlock(plain(title, maxHeader))}
	rows = rows[:min(len(rows), maxBlocks/2)]
	if room := min(maxBlocks-len(rows)-1, roomy(body)); len(body) > room {
		body = append(body[:room-1:room-1], more())
	}
	return append(append(blocks, body...), rows...)
}

// roomy returns how many of the first blocks fit into one message by length; at least one.
func roomy(body []slack.Block) int {
	left := maxLetters
	for i, b := range body {
		switch b := b.(type) {
		case *slack.SectionBlock:
			left -= units(b.Text.Text)
		case *slack.ContextBlock:
			for _, e := range b.ContextElements.Elements {
				if o, ok := e.(*slack.TextBlockObject); ok {
					left -= units(o.Text)
				}
			}
		case *slack.RichTextBlock:
			left -= maxSection // its maximum: see logged
		}
		if left < 0 {
			return max(i, 1)
		}
	}
	return len(body)
}

// more says that the message was shortened.
func more() slack.Block {
	return slack.NewContextBlock("", plain("More in the portal.", maxContext))
}

// answerBlocks shows an answer.
func answerBlocks(a bot.Answer) (text string, blocks []slack.Block) {
	return summary(a.Title), message(a.Title, append(sections(a.Lines), logged(a.Log)...), actions(a.Links, a.Buttons, ""))
}

// cardBlocks shows a card.
func cardBlocks(c bot.Card) (text string, blocks []slack.Block) {
	body := sections([]string{c.Bar})
	if c.Bar == "" {
		body = nil
	}
	body = append(append(append(body, sections(c.Lines)...), logged(c.Log)...), asides(c.Asides)...)
	return summary(c.Title), message(c.Title, body, actions([]bot.Link{c.Link}, c.Buttons, ""))
}
