package slack

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/rivo/uniseg"
	"github.com/slack-go/slack"
)

// Slack's limits, in characters. We count UTF-16 units, of which an emoji has two, to be safe whatever Slack counts.
const (
	maxHeader      = 150
	maxSection     = 3000
	maxContext     = 2000
	maxButton      = 75
	maxValue       = 2000
	maxURL         = 3000
	maxBlocks      = 50   // of a message
	maxLetters     = 8000 // of all texts of a message; undocumented: Slack rejects some above 11,000 as msg_blocks_too_long
	maxViewBlocks  = 100  // of a modal or a home
	maxRow         = 25   // buttons in a row
	maxSummary     = 300
	maxTitle       = 24 // of a modal, and of its buttons
	maxNote        = 3000
	maxName        = 255 // of blocks, actions and modals
	maxLabel       = 2000
	maxPlaceholder = 150
	maxOption      = 75 // its name, and its description
	maxOptionValue = 150
	maxOptions     = 100
	maxTyped       = 3000
	maxConfirmHead = 100
	maxConfirmText = 300
	maxConfirmYes  = 30
)

// units counts a text as Slack may do at most.
func units(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// clean removes invalid UTF-8, control characters, and characters that change the direction of the text around them.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		case unicode.IsControl(r):
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// cut shortens a text between grapheme clusters, so that no accent or emoji is split, and ends it with an ellipsis.
func cut(s string, most int) string {
	s = clean(s)
	if len(s) <= most || units(s) <= most {
		return s
	}
	left, at, state := most-1, 0, -1
	for rest := s; rest != ""; {
		var letter string
		letter, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if left -= units(letter); left < 0 {
			break
		}
		at += len(letter)
	}
	return strings.TrimRight(s[:at], " \n") + "…"
}

// marks escapes markup. Everything else is sent as plain text, in which Slack reads no markup.
var marks = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// plain is a text without markup; Slack rejects an empty one.
func plain(text string, most int) *slack.TextBlockObject {
	if text = cut(text, most); strings.TrimSpace(text) == "" {
		text = "–"
	}
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}

// summary is what Slack shows without blocks, such as in notifications. It reads markup there, so < is escaped; automatic bold and
// links are harmless.
func summary(title string) string { return marks.Replace(plain(title, maxSummary).Text) }

// pages joins lines, as many to a text as fit.
func pages(lines []string, most int) (texts []string) {
	var text strings.Builder
	had := 0
	for _, l := range lines {
		l = cut(l, most-1)
		n := units(l) + 1
		if had > 0 && had+n > most {
			texts = append(texts, text.String())
			text.Reset()
			had = 0
		}
		if had > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(l)
		had += n
	}
	if had > 0 {
		texts = append(texts, text.String())
	}
	return texts
}

// maxRefusal limits how much of Slack's error about a view or message is logged, in bytes.
const maxRefusal = 1000
