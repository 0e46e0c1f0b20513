package slacktest

import "strings"

// userAPI plays users.*: who people are, and which workspace this is.
type userAPI struct{ *core }

func (s *userAPI) authTest(c *call) object {
	w := c.team
	return object{"url": "https://" + w.Domain + ".slack.com/", "team": w.Domain, "team_id": w.ID, "user": "muster", "user_id": w.Bot, "bot_id": "B" + w.ID, "is_enterprise_install": false}
}

func (s *userAPI) teamInfo(c *call) object {
	return object{"team": object{"id": c.team.ID, "name": c.team.Domain, "domain": c.team.Domain}}
}

// profile is how a workspace sees someone; the lock is held.
func (s *userAPI) profile(u *User) object {
	p := object{"real_name": u.Name, "display_name": u.Name, "team": u.home}
	if s.scope("users:read.email") && u.email != "" && !u.bot && !u.stranger {
		p["email"] = u.email
	}
	return object{"id": u.ID, "team_id": u.home, "name": u.Name, "deleted": u.gone, "is_bot": u.bot, "is_restricted": u.guest, "is_ultra_restricted": false,
		"is_stranger": u.stranger, "is_app_user": false, "is_admin": false, "is_email_confirmed": !u.unconfirmed && !u.bot && !u.stranger, "tz": "Europe/Berlin", "profile": p}
}

func (s *userAPI) userInfo(c *call) object {
	u := c.team.users[c.str("user")]
	if u == nil {
		return internalError("user_not_found")
	}
	return object{"user": s.profile(u)}
}

func (s *userAPI) userByEmail(c *call) object {
	for _, u := range c.team.users {
		if u.email != "" && strings.EqualFold(u.email, c.str("email")) && !u.bot && !u.stranger {
			return object{"user": s.profile(u)}
		}
	}
	return internalError("users_not_found")
}
