package slacktest

import (
	"regexp"
	"slices"
	"strings"
)

// chatAPI plays chat.*: messages, and the addresses by which the app answers later.
type chatAPI struct {
	*core
	rates     *rates
	views     *viewAPI
	responses map[string]*response
}

// say holds the message of a call against the limits; it returns Slack's word for what is wrong. The lock is held.
func (s *chatAPI) say(where string, m object, posted bool) string {
	k := &checker{surface: inMessage, call: where}
	k.message(m)
	if posted {
		k.together()
	}
	return s.judge(k)
}

// judge notes what a checker has found.
func (s *core) judge(k *checker) string {
	s.violations = append(s.violations, k.found...)
	if len(k.found) == 0 {
		return ""
	}
	switch k.found[0].Rule {
	case "no_text":
		return "no_text"
	case "message.text":
		return "msg_too_long"
	case "message.letters":
		return "msg_blocks_too_long"
	case "message.fallback", "ping":
		return "" // Slack takes it; people suffer
	}
	if k.surface == inMessage {
		return "invalid_blocks"
	}
	return "invalid_arguments"
}

// content is what a call wants to show.
func (s *chatAPI) content(c *call) object {
	m := object{"text": c.args["text"]}
	if m["text"] == nil {
		m["text"] = ""
	}
	if b := c.json(s.core, "blocks"); b != nil {
		m["blocks"] = b
	}
	return m
}

// target finds where a message is to go; user ids stand for their direct messages.
func (s *chatAPI) target(c *call) (*Channel, string) {
	id := c.str("channel")
	if u := c.team.users[id]; u != nil {
		switch {
		case u.bot:
			return nil, "cannot_dm_bot"
		case u.home != c.team.ID:
			return nil, "channel_not_found"
		}
		return u.direct(), ""
	}
	ch := c.team.channels[id]
	if ch == nil || ch.private && !ch.bot {
		return nil, "channel_not_found"
	}
	switch {
	case ch.archived:
		return nil, "is_archived"
	case !ch.bot && !s.scope("chat:write.public"):
		return nil, "not_in_channel"
	}
	return ch, ""
}

func (s *chatAPI) postMessage(c *call) object {
	ch, word := s.target(c)
	if word != "" {
		return internalError(word)
	}
	if s.rates.crowded(c, ch) {
		c.held, c.wait = true, 1e9
		return nil
	}
	content := s.content(c)
	if word := s.say(c.method, content, true); word != "" {
		return internalError(word)
	}
	thread := c.str("thread_ts")
	if thread != "" && ch.message(thread) == nil {
		return internalError("thread_not_found")
	}
	m := &Message{channel: ch, TS: s.stamp(), thread: thread, by: c.team.users[c.team.Bot]}
	m.meta, _ = c.json(s.core, "metadata").(object)
	if m.meta != nil && (!eventType.MatchString(str(m.meta["event_type"])) || m.meta["event_payload"] == nil) {
		s.violate("metadata", c.method, "metadata needs a name of small letters and a payload: %v", m.meta)
		return internalError("invalid_metadata_format")
	}
	s.show(m, content)
	ch.messages = append(ch.messages, m)
	c.note.Channel, c.note.TS = ch.ID, m.TS
	return object{"channel": ch.ID, "ts": m.TS, "message": object{"ts": m.TS, "text": m.text, "bot_id": "B" + c.team.ID, "type": "message"}}
}

var eventType = regexp.MustCompile(`^[a-z0-9_]{1,255}$`)

// message finds a message that everyone sees; the lock is held.
func (c *Channel) message(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts && m.to == nil && !m.deleted {
			return m
		}
	}
	return nil
}

// own finds a message of the app in the channel of a call.
func (s *chatAPI) own(c *call) (*Message, string) {
	ch := c.team.channels[c.str("channel")]
	if ch == nil {
		if strings.HasPrefix(c.str("channel"), "U") {
			s.violate("channel", c.method, "a user's id, where the id of a channel must stand")
		}
		return nil, "channel_not_found"
	}
	m := ch.message(c.str("ts"))
	if m == nil {
		return nil, "message_not_found"
	}
	c.note.TS = m.TS
	if m.by == nil || m.by.ID != c.team.Bot {
		return nil, "cant_update_message"
	}
	return m, ""
}

func (s *chatAPI) chatUpdate(c *call) object {
	m, word := s.own(c)
	if word != "" {
		return internalError(word)
	}
	content := s.content(c)
	if word := s.say(c.method, content, true); word != "" {
		return internalError(word)
	}
	s.show(m, content)
	return object{"channel": m.channel.ID, "ts": m.TS, "text": m.text}
}

func (s *chatAPI) chatDelete(c *call) object {
	m, word := s.own(c)
	if word != "" {
		return internalError(strings.Replace(word, "update", "delete", 1))
	}
	m.deleted = true
	return object{"channel": m.channel.ID, "ts": m.TS}
}

func (s *chatAPI) postEphemeral(c *call) object {
	u := c.team.users[c.str("user")]
	ch, word := s.target(c)
	switch {
	case word != "":
		return internalError(word)
	case u == nil:
		return internalError("user_not_in_channel")
	}
	content := s.content(c)
	if word := s.say(c.method, content, true); word != "" {
		return internalError(word)
	}
	m := &Message{channel: ch, TS: s.stamp(), to: u, by: c.team.users[c.team.Bot]}
	s.show(m, content)
	ch.messages = append(ch.messages, m)
	return object{"message_ts": m.TS}
}

func (s *chatAPI) permalink(c *call) object {
	ch := c.team.channels[c.str("channel")]
	if ch == nil || ch.message(c.str("message_ts")) == nil {
		return internalError("message_not_found")
	}
	return object{"channel": ch.ID, "permalink": "https://" + c.team.Domain + ".slack.com/archives/" + ch.ID + "/p" + strings.ReplaceAll(c.str("message_ts"), ".", "")}
}

// unfurl puts what the app tells of links below the message that has them.
func (s *chatAPI) unfurl(c *call) object {
	var m *Message
	if id := c.str("unfurl_id"); id != "" {
		for _, ch := range c.team.channels {
			for _, o := range ch.messages {
				if str(o.unfurls["id"]) == id {
					m = o
				}
			}
		}
	} else if ch := c.team.channels[c.str("channel")]; ch != nil {
		m = ch.message(c.str("ts"))
	}
	if m == nil {
		return internalError("cannot_find_message")
	}
	shown, ok := c.json(s.core, "unfurls").(object)
	if !ok || len(shown) == 0 {
		return internalError("missing_unfurls")
	}
	links := m.unfurls["links"].([]string)
	for address, v := range shown {
		if !slices.Contains(links, address) {
			s.violate("unfurl.url", c.method, "%s is not in the message", address)
			return internalError("cannot_unfurl_url")
		}
		o, _ := v.(object)
		k := &checker{surface: inMessage, call: c.method}
		if n := len(list(o["blocks"])); n > maxBlocksMessage || n == 0 {
			k.add("unfurl.blocks", "unfurls", "%d blocks, 1 to %d", n, maxBlocksMessage)
		}
		k.all("unfurls.blocks", list(o["blocks"]))
		k.together()
		if word := s.judge(k); word != "" {
			return internalError("invalid_unfurls_format")
		}
	}
	m.unfurls["shown"] = shown
	return object{}
}

// Unfurled is the app's preview of a link in the message; "" for none.
func (m *Message) Unfurled(address string) string {
	m.channel.w.s.mu.Lock()
	defer m.channel.w.s.mu.Unlock()
	shown, _ := m.unfurls["shown"].(object)
	o, _ := shown[address].(object)
	return words(o["blocks"])
}
