package slack

import (
	"fmt"

	"github.com/slack-go/slack"

	"muster/bot"
)

// The names of what people press or fill in begin with what happens to it; the rest only lead somewhere.
const (
	actionDo   = "do"   // bot.Talker.Press
	actionFill = "fill" // bot.Talker.Fill
	actionKeep = "keep" // nothing, before the modal is sent off
)

// sections shows lines, as many to a block as go into it.
func sections(lines []string) (blocks []slack.Block) {
	for _, text := range pages(lines, mostSection) {
		blocks = append(blocks, slack.NewSectionBlock(plain(text, mostSection), nil, nil))
	}
	return blocks
}

// asides shows lines in small letters.
func asides(lines []string) (blocks []slack.Block) {
	for _, text := range pages(lines, mostContext) {
		blocks = append(blocks, slack.NewContextBlock("", plain(text, mostContext)))
	}
	return blocks
}

// logged shows lines as a program printed them. The text of such a block is taken as it is: nothing in it is markup.
func logged(lines []string) (blocks []slack.Block) {
	for _, text := range pages(lines, mostSection) {
		words := plain(text, mostSection).Text
		blocks = append(blocks, slack.NewRichTextBlock("", &slack.RichTextPreformatted{
			Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(words, nil)}}))
	}
	return blocks
}

// button makes one; its name is unique within a message where at is.
func button(b bot.Button, at string) *slack.ButtonBlockElement {
	act := actionDo
	if b.Fill {
		act = actionFill
	}
	e := slack.NewButtonBlockElement(act+at, b.Value, plain(b.Name, mostButton))
	switch {
	case b.Danger:
		e = e.WithStyle(slack.StyleDanger)
	case !b.Quiet:
		e = e.WithStyle(slack.StylePrimary)
	}
	if c := b.Confirm; c != nil {
		e.Confirm = slack.NewConfirmationBlockObject(plain(c.Title, mostConfirmHead), plain(c.Text, mostConfirmText), plain(c.Yes, mostConfirmYes), plain(c.No, mostConfirmYes))
		if b.Danger {
			e.Confirm.Style = slack.StyleDanger
		}
	}
	return e
}

// actions shows links and buttons in rows. At tells rows of one message apart. A button that cannot be made whole is left out,
// since half of its value would mean something else.
func actions(links []bot.Link, buttons []bot.Button, at string) (rows []slack.Block) {
	var all []slack.BlockElement
	for i, b := range buttons {
		if len(b.Value) <= mostValue && b.Value != "" {
			all = append(all, button(b, fmt.Sprintf("%s%d", at, i)))
		}
	}
	for i, l := range links {
		if len(l.URL) <= mostURL && l.URL != "" {
			all = append(all, slack.NewButtonBlockElement(fmt.Sprintf("open%s%d", at, i), "", plain(l.Name, mostButton)).WithURL(l.URL))
		}
	}
	for len(all) > 0 {
		n := min(len(all), mostRow)
		rows = append(rows, slack.NewActionBlock("", all[:n]...))
		all = all[n:]
	}
	return rows
}

// message puts blocks together within Slack's limits; the rows of buttons are always part of it.
func message(title string, body, rows []slack.Block) []slack.Block {
	blocks := []slack.Block{slack.NewHeaderBlock(plain(title, mostHeader))}
	rows = rows[:min(len(rows), mostBlocks/2)]
	if room := min(mostBlocks-len(rows)-1, roomy(body)); len(body) > room {
		body = append(body[:room-1:room-1], more())
	}
	return append(append(blocks, body...), rows...)
}

// roomy tells how many of the first blocks have room in one message by their letters; at least one.
func roomy(body []slack.Block) int {
	left := mostLetters
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
			left -= mostSection // of which it is made at most: see logged
		}
		if left < 0 {
			return max(i, 1)
		}
	}
	return len(body)
}

// more says that not all is shown.
func more() slack.Block {
	return slack.NewContextBlock("", plain("There is more in the portal.", mostContext))
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
