package activity

import "testing"

// What people do to clusters is of the kind by which it's shown to them, under words of its own.
func TestKindsOfActs(t *testing.T) {
	for act, want := range map[string]struct {
		kind Kind
		verb string
	}{
		"cluster.create":          {KindClusters, "created"},
		"cluster.action_schedule": {KindClusters, "changed schedules of actions of"},
		"cluster.share":           {KindSharing, "changed sharing of"},
		"cluster.share_end":       {KindSharing, "ended a share of"},
		"cluster.key":             {KindAccess, "got the SSH key of"},
		"file.download":           {KindAccess, "downloaded a file from"},
		"file.upload":             {KindAccess, "uploaded a file to"},
		"terminal.open":           {KindAccess, "opened a terminal on"},
		"terminal.settings":       {KindSettings, "changed settings of terminals of"},
		"user.create":             {KindPeople, "created user"},
		"session.create":          {"", "created"},
	} {
		if kind, verb := kindOf(act), verbOf(act); kind != want.kind || verb != want.verb {
			t.Errorf("%s is %q, %q", act, kind, verb)
		}
	}
}
