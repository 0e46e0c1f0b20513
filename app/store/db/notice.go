package db

import (
	"slices"
	"strings"

	"muster/app"
)

// Notice writes what people are to be sent, in the transaction of what it tells, and puts it in their inboxes.
func (t *Tx) Notice(n app.Notice) error {
	t.Topics[app.NoticesTopic()], t.Topics[app.TenantTopic(n.Tenant)] = true, true
	if n.Cluster != "" && len(n.Groups) == 0 && slices.Contains(app.OwnerNoticeKinds, n.Kind) {
		var group string
		err := t.Row(`SELECT owner_group FROM clusters WHERE tenant = ? AND id = ?`, n.Tenant, n.Cluster).Scan(&group)
		if err != nil && !IsNoRows(err) {
			return Wrapped(err)
		}
		if group != "" {
			n.Groups = []string{group}
		}
	}
	if err := t.Row(`INSERT INTO notifications (at, tenant, kind, cluster, request, users, in_groups, title, body, path, action, action_name)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		Micros(n.At), n.Tenant, n.Kind, n.Cluster, n.Request, JSON(n.Users), JSON(n.Groups), n.Title, n.Text, n.About.String(), n.Act.String(),
		n.ActionName).Scan(&n.ID); err != nil {
		return Wrapped(err)
	}
	return t.reach(n)
}

// LikeEscaper takes from a text what LIKE would understand; statements name ! as the escape.
var LikeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// Listed is a LIKE pattern for a word in a JSON list.
func Listed(word string) string { return "%" + LikeEscaper.Replace(JSON(word)) + "%" }
