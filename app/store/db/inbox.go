package db

import (
	"strings"

	"muster/app"
)

// Bounds of one notice: the users and groups that it names, and the people that it reaches.
const (
	mostNoticeUsers  = 500
	mostNoticeGroups = 100
	mostNoticePeople = 1000
)

// EmailOn says whether emails are queued at a time: a server that sends email runs, or did so within a day.
const EmailOn = `EXISTS (SELECT 1 FROM email_servers WHERE until > ?)`

// reach puts a notice in the inboxes of the people it's for, and queues emails to them, as their preferences say. Being part of the notice's
// transaction, it can be neither lost nor repeated.
func (t *Tx) reach(n app.Notice) error {
	who, args := recipients(n)
	if who == "" {
		return nil
	}
	const people = ` FROM users u LEFT JOIN notification_preferences p ON p.tenant = u.tenant AND p.user_name = u.name AND p.kind = ?
		WHERE u.tenant = ? AND u.disabled_at = 0 AND u.role <> 'robot' AND `
	at := Micros(n.At)
	if err := t.Exec(`INSERT INTO inbox (tenant, user_name, notice, kind, at) SELECT u.tenant, u.name, ?, ?, ?`+people+who+
		` AND COALESCE(p.portal, 1) = 1 ORDER BY u.name LIMIT ?`,
		append(append([]any{n.ID, n.Kind, at, n.Kind, n.Tenant}, args...), mostNoticePeople)...); err != nil {
		return err
	}
	return t.Exec(`INSERT INTO notification_emails (tenant, user_name, notice, state, queued_at, next_at) SELECT u.tenant, u.name, ?, 'waiting', ?, ?`+people+
		EmailOn+` AND u.email <> '' AND `+who+` AND COALESCE(p.email, ?) = 1 ORDER BY u.name LIMIT ?`,
		append(append([]any{n.ID, at, at, n.Kind, n.Tenant, at}, args...), Flag(n.Kind.Emailed()), mostNoticePeople)...)
}

// recipients is the condition on users u that a notice is for; "" if it's for no person.
func recipients(n app.Notice) (where string, args []any) {
	users, groups := n.Users[:min(len(n.Users), mostNoticeUsers)], n.Groups[:min(len(n.Groups), mostNoticeGroups)]
	if len(users)+len(groups) == 0 {
		if n.Kind != app.NoticeApproval {
			return "", nil
		}
		return `u.role IN ('approver', 'admin', 'superadmin')`, nil // a policy that names a role instead of a group
	}
	var parts []string
	list := func(before string, names []string) {
		if len(names) > 0 {
			parts, args = append(parts, before+` IN (?`+strings.Repeat(`, ?`, len(names)-1)+`)`), append(args, n.Tenant)
			for _, name := range names {
				args = append(args, name)
			}
		}
	}
	list(`SELECT v.name FROM users v WHERE v.tenant = ? AND v.name`, users)
	list(`SELECT m.user_name FROM memberships m WHERE m.tenant = ? AND m.group_name`, groups)
	return `u.name IN (` + strings.Join(parts, ` UNION `) + `)`, args
}
