package slacktest

import "strings"

func (s *Slack) authTest(c *call) object {
	w := c.team
	return object{"url": "https://" + w.Domain + ".slack.com/", "team": w.Domain, "team_id": w.ID, "user": "muster", "user_id": w.Bot, "bot_id": "B" + w.ID, "is_enterprise_install": false}
}

func (s *Slack) teamInfo(c *call) object {
	return object{"team": object{"id": c.team.ID, "name": c.team.Domain, "domain": c.team.Domain}}
}

// profile is how a workspace sees somebody; the lock is held.
func (s *Slack) profile(u *User) object {
	p := object{"real_name": u.Name, "display_name": u.Name, "team": u.home}
	if s.scope("users:read.email") && u.email != "" && !u.bot && !u.stranger {
		p["email"] = u.email
	}
	return object{"id": u.ID, "team_id": u.home, "name": u.Name, "deleted": u.gone, "is_bot": u.bot, "is_restricted": u.guest, "is_ultra_restricted": false,
		"is_stranger": u.stranger, "is_app_user": false, "is_admin": false, "is_email_confirmed": !u.unconfirmed && !u.bot && !u.stranger, "tz": "Europe/Berlin", "profile": p}
}

func (s *Slack) userInfo(c *call) object {
	u := c.team.users[c.str("user")]
	if u == nil {
		return oops("user_not_found")
	}
	return object{"user": s.profile(u)}
}

func (s *Slack) userByEmail(c *call) object {
	for _, u := range c.team.users {
		if u.email != "" && strings.EqualFold(u.email, c.str("email")) && !u.bot && !u.stranger {
			return object{"user": s.profile(u)}
		}
	}
	return oops("users_not_found")
}

func (s *Slack) openDirect(c *call) object {
	if strings.Contains(c.str("users"), ",") {
		return oops("method_not_supported_for_channel_type")
	}
	u := c.team.users[c.str("users")]
	switch {
	case u == nil:
		return oops("user_not_found")
	case u.bot:
		return oops("cannot_dm_bot")
	}
	return object{"channel": object{"id": u.direct().ID}}
}

// describe is a channel as the API shows it; the lock is held.
func describe(ch *Channel) object {
	return object{"id": ch.ID, "name": ch.Name, "is_channel": ch.im == nil, "is_im": ch.im != nil, "is_private": ch.private, "is_archived": ch.archived,
		"is_member": ch.bot, "is_ext_shared": ch.shared != ""}
}

func (s *Slack) channelInfo(c *call) object {
	ch := c.team.channels[c.str("channel")]
	if ch == nil || ch.private && !ch.bot {
		return oops("channel_not_found")
	}
	return object{"channel": describe(ch)}
}

func (s *Slack) join(c *call) object {
	ch := c.team.channels[c.str("channel")]
	switch {
	case ch == nil || ch.private:
		return oops("channel_not_found")
	case ch.archived:
		return oops("is_archived")
	}
	ch.bot = true
	return object{"channel": describe(ch)}
}

func (s *Slack) botChannels(c *call) object {
	list := []any{}
	for _, ch := range c.team.channels {
		if ch.bot && ch.im == nil {
			list = append(list, describe(ch))
		}
	}
	return object{"channels": list, "response_metadata": object{"next_cursor": ""}}
}
