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
	mostHeader      = 150
	mostSection     = 3000
	mostContext     = 2000
	mostButton      = 75
	mostValue       = 2000
	mostURL         = 3000
	mostBlocks      = 50   // of a message
	mostLetters     = 8000 // of all texts of a message; undocumented: Slack rejects some above 11,000 as msg_blocks_too_long
	mostViewBlocks  = 100  // of a modal or a home
	mostRow         = 25   // buttons in a row
	mostSummary     = 300
	mostTitle       = 24 // of a modal, and of its buttons
	mostNote        = 3000
	mostName        = 255 // of blocks, actions and modals
	mostLabel       = 2000
	mostPlaceholder = 150
	mostOption      = 75 // its name, and its description
	mostOptionValue = 150
	mostOptions     = 100
	mostTyped       = 3000
	mostConfirmHead = 100
	mostConfirmText = 300
	mostConfirmYes  = 30
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
func summary(title string) string { return marks.Replace(plain(title, mostSummary).Text) }

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

// mostRefusal limits how much of Slack's error about a view or message is logged, in bytes.
const mostRefusal = 1000
