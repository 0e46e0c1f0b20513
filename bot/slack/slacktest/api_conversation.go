package slacktest

import (
	"slices"
	"strconv"
	"strings"
)

// conversationAPI plays conversations.*: channels and direct messages.
type conversationAPI struct{ *core }

func (s *conversationAPI) openDirect(c *call) object {
	if strings.Contains(c.str("users"), ",") {
		return internalError("method_not_supported_for_channel_type")
	}
	u := c.team.users[c.str("users")]
	switch {
	case u == nil:
		return internalError("user_not_found")
	case u.bot:
		return internalError("cannot_dm_bot")
	}
	return object{"channel": object{"id": u.direct().ID}}
}

// describe is a channel as the API shows it; the lock is held.
func describe(ch *Channel) object {
	return object{"id": ch.ID, "name": ch.Name, "is_channel": ch.im == nil, "is_im": ch.im != nil, "is_private": ch.private, "is_archived": ch.archived,
		"is_member": ch.bot, "is_ext_shared": ch.shared != ""}
}

func (s *conversationAPI) channelInfo(c *call) object {
	ch := c.team.channels[c.str("channel")]
	if ch == nil || ch.private && !ch.bot {
		return internalError("channel_not_found")
	}
	return object{"channel": describe(ch)}
}

func (s *conversationAPI) join(c *call) object {
	ch := c.team.channels[c.str("channel")]
	switch {
	case ch == nil || ch.private:
		return internalError("channel_not_found")
	case ch.archived:
		return internalError("is_archived")
	}
	ch.bot = true
	return object{"channel": describe(ch)}
}

func (s *conversationAPI) botChannels(c *call) object {
	list := []any{}
	for _, ch := range c.team.channels {
		if ch.bot && ch.im == nil {
			list = append(list, describe(ch))
		}
	}
	return object{"channels": list, "response_metadata": object{"next_cursor": ""}}
}

// history returns the newest messages of a channel that the app is in, the newest first.
func (s *conversationAPI) history(c *call) object {
	ch := c.team.channels[c.str("channel")]
	switch {
	case ch == nil || ch.private && !ch.bot:
		return internalError("channel_not_found")
	case !ch.bot:
		return internalError("not_in_channel")
	}
	most, err := strconv.Atoi(c.str("limit"))
	if err != nil || most < 1 || most > 999 {
		most = 100
	}
	found := []any{}
	for _, m := range slices.Backward(ch.messages) {
		if m.deleted || m.to != nil || m.thread != "" && m.thread != m.TS || len(found) == most || c.str("oldest") != "" && m.TS <= c.str("oldest") {
			continue
		}
		o := object{"type": "message", "ts": m.TS, "text": m.text, "blocks": m.blocks}
		if m.by != nil {
			o["user"] = m.by.ID
		}
		if m.meta != nil && (c.str("include_all_metadata") == "true" || c.str("include_all_metadata") == "1") {
			o["metadata"] = m.meta
		}
		found = append(found, o)
	}
	return object{"messages": found, "has_more": false}
}
