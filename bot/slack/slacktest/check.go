package slacktest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Violation is one limit or rule that an app has broken.
type Violation struct {
	Rule  string // such as "section.text"; the tests of a rule name it by this
	Where string // the call, and the place in it: "chat.postMessage blocks[2].text"
	What  string // what was found, and the limit
}

// String is the violation in one line.
func (v Violation) String() string { return v.Where + ": " + v.What + " (" + v.Rule + ")" }

// object is a JSON object.
type object = map[string]any

// surface is where blocks stand.
type surface string

const (
	inMessage surface = "message"
	inModal   surface = "modal"
	inHome    surface = "home"
)

// checker holds what an app sends against Slack's limits.
type checker struct {
	surface surface
	call    string
	found   []Violation
	blocks  map[string]string // ids, and where they stand
	focus   int
	inputs  int
	letters int
}

func (c *checker) add(rule, at, format string, args ...any) {
	c.found = append(c.found, Violation{Rule: rule, Where: strings.TrimSpace(c.call + " " + at), What: fmt.Sprintf(format, args...)})
}

// CheckMessage holds the JSON of a message that is posted, an object with text and blocks, against the limits.
func CheckMessage(call string, body []byte) []Violation {
	c := &checker{surface: inMessage, call: call}
	if m := c.decode(body); m != nil {
		c.message(m)
		c.together()
	}
	return c.found
}

// CheckView holds the JSON of a view, modal or home, against the limits.
func CheckView(call string, body []byte) []Violation {
	c := &checker{call: call}
	if m := c.decode(body); m != nil {
		c.view(m, len(body))
	}
	return c.found
}

// decode reads an object. It reports invalid UTF-8, since encoders replace it silently.
func (c *checker) decode(body []byte) object {
	var m object
	switch err := json.Unmarshal(body, &m); {
	case !utf8.Valid(body):
		c.add("utf8", "", "not UTF-8")
	case err != nil:
		c.add("json", "", "not JSON: %v", err)
	case m == nil:
		c.add("json", "", "not an object")
	default:
		return m
	}
	return nil
}

func str(v any) string { s, _ := v.(string); return s }

func list(v any) []any { l, _ := v.([]any); return l }

// letters counts UTF-16 units, of which many emoji have two: what Slack means by a character it does not say, and it is never more.
func letters(s string) (n int) {
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// most checks the length of a string that may be missing.
func (c *checker) most(rule, at string, v any, most int) {
	if v == nil {
		return
	}
	s, ok := v.(string)
	switch n := letters(s); {
	case !ok:
		c.add(rule, at, "a %T instead of a string", v)
	case n > most:
		c.add(rule, at, "%d letters, at most %d", n, most)
	}
}

func (c *checker) message(m object) {
	text, isText := m["text"].(string)
	if n := letters(text); n > maxMessageText {
		c.add("message.text", "text", "%d letters, at most %d", n, maxMessageText)
	}
	if m["text"] != nil && !isText {
		c.add("message.text", "text", "a %T instead of a string", m["text"])
	}
	c.pings("text", text)
	blocks, ok := m["blocks"].([]any)
	if m["blocks"] != nil && !ok {
		c.add("blocks", "blocks", "a %T instead of a list", m["blocks"])
	}
	if strings.TrimSpace(text) == "" && len(blocks) == 0 && len(list(m["attachments"])) == 0 && m["delete_original"] != true {
		c.add("no_text", "", "neither text nor blocks")
	}
	if text == "" && len(blocks) > 0 {
		c.add("message.fallback", "text", "blocks without a text for notifications and screen readers")
	}
	if len(blocks) > maxBlocksMessage {
		c.add("message.blocks", "blocks", "%d blocks, at most %d", len(blocks), maxBlocksMessage)
	}
	c.all("blocks", blocks)
}

// together checks how much all blocks of a posted message say together.
func (c *checker) together() {
	if c.letters > maxMessageBlocks {
		c.add("message.letters", "blocks", "%d letters in all blocks, at most %d", c.letters, maxMessageBlocks)
	}
}

func (c *checker) all(at string, blocks []any) {
	c.blocks = map[string]string{}
	for i, b := range blocks {
		c.block(fmt.Sprintf("%s[%d]", at, i), b)
	}
	if c.focus > 1 {
		c.add("focus", at, "%d elements want the focus, at most 1", c.focus)
	}
}

func (c *checker) view(v object, size int) {
	c.surface = surface(str(v["type"]))
	if c.surface != inModal && c.surface != inHome {
		c.add("view.type", "type", "%q is no type of a view", v["type"])
		return
	}
	if size > maxViewBytes {
		c.add("view.size", "", "%d bytes, at most %d", size, maxViewBytes)
	}
	blocks := list(v["blocks"])
	if len(blocks) > maxBlocksView || len(blocks) == 0 {
		c.add("view.blocks", "blocks", "%d blocks, 1 to %d", len(blocks), maxBlocksView)
	}
	c.most("view.private_metadata", "private_metadata", v["private_metadata"], maxViewMetadata)
	c.most("view.callback_id", "callback_id", v["callback_id"], maxID)
	c.most("view.external_id", "external_id", v["external_id"], maxID)
	c.all("blocks", blocks)
	if c.surface == inHome {
		for _, k := range []string{"title", "submit", "close"} {
			if v[k] != nil {
				c.add("view."+k, k, "a home has none")
			}
		}
		return
	}
	c.text("view.title", "title", v["title"], maxViewTitle, true)
	for _, k := range []string{"submit", "close"} {
		if v[k] != nil {
			c.text("view."+k, k, v[k], maxViewTitle, true)
		}
	}
	if c.inputs > 0 && v["submit"] == nil {
		c.add("view.submit", "submit", "missing, though there are inputs")
	}
}

// text checks a text object that must be there.
func (c *checker) text(rule, at string, v any, most int, plainOnly bool) {
	o, ok := v.(object)
	if !ok {
		c.add(rule, at, "a text is missing")
		return
	}
	kind, words := str(o["type"]), str(o["text"])
	n := letters(words)
	c.letters += n
	switch {
	case kind != "plain_text" && kind != "mrkdwn":
		c.add("text.type", at, "%q is no type of a text", o["type"])
	case plainOnly && kind != "plain_text":
		c.add(rule, at, "%s where only plain_text may stand", kind)
	case n == 0:
		c.add(rule, at, "no letters, at least 1")
	case n > most:
		c.add(rule, at, "%d letters, at most %d", n, most)
	}
	if kind == "mrkdwn" {
		if o["emoji"] != nil {
			c.add("text.emoji", at, "emoji is of plain_text only")
		}
		c.pings(at, words)
	} else if o["verbatim"] != nil {
		c.add("text.verbatim", at, "verbatim is of mrkdwn only")
	}
	if strings.ContainsRune(words, 0) {
		c.add("nul", at, "a NUL")
	}
}

// broadcasts are what would call many people.
var broadcasts = regexp.MustCompile(`<!(channel|here|everyone|subteam\^[^>]*)(\|[^>]*)?>`)

func (c *checker) pings(at, text string) {
	if m := broadcasts.FindString(text); m != "" {
		c.add("ping", at, "it mentions everyone: %s", m)
	}
}

// id checks an id that may be missing, and must be the only one of its kind.
func (c *checker) id(rule, at string, v any, seen map[string]string) {
	c.most(rule, at, v, maxID)
	s := str(v)
	if s == "" {
		return
	}
	if other, twice := seen[s]; twice {
		c.add(rule, at, "%q is already used at %s", s, other)
	}
	seen[s] = at
}
