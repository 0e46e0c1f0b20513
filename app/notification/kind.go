package notification

import (
	"slices"

	"muster/app"
	"muster/app/chat"
)

// Kind is a kind of notification that people choose channels for.
type Kind struct {
	Kind  app.NoticeKind
	Name  string // for people
	About string // when it is sent
}

// Kinds are those that reach people, as the preferences list them.
var Kinds = []Kind{
	{app.NoticeReady, "Cluster ready", "A cluster of yours is ready to use."},
	{app.NoticeFailed, "Failure", "An operation on a cluster of yours failed."},
	{app.NoticeLost, "Lost machine", "Machines of a cluster of yours were interrupted, stopped or deleted."},
	{app.NoticeHealth, "Health", "A cluster of yours became unhealthy, or healthy again."},
	{app.NoticeLease, "Lease", "A lease expires soon, was paused, or the cluster was deleted."},
	{app.NoticeIdle, "Idle cluster", "A cluster of yours isn't used, and will sleep or be deleted."},
	{app.NoticeApproval, "Approval", "A request needs your approval, or yours was decided."},
	{app.NoticeManualStep, "Manual step", "An operation waits for your answer."},
	{app.NoticeCluster, "Cluster changes", "A cluster was transferred or shared, scaled, or didn't follow its schedule."},
	{app.NoticeBudget, "Budget and quota", "A budget that you spend from is running low."},
	{app.NoticePool, "Machine pool", "A pool that you created can't be refilled."},
	{app.NoticeAccount, "Account security", "A second factor was removed, or a recovery code used."},
	{app.NoticeAlarm, "Emergency override", "A request of yours, or for your group, ran without its approvals."},
}

// Offers reports whether a kind is sent over a channel at all.
func Offers(k app.NoticeKind, c app.NoticeChannel) bool {
	return c != app.ChannelSlack || slices.Contains(chat.NoticeKinds, k)
}

// Default is the preference of those who haven't chosen.
func Default(k app.NoticeKind) Preference {
	return Preference{Kind: k, Portal: true, Slack: Offers(k, app.ChannelSlack), Email: k.Emailed()}
}

func known(k app.NoticeKind) bool {
	return slices.ContainsFunc(Kinds, func(x Kind) bool { return x.Kind == k })
}

// SlackState says whether Slack reaches the person.
func (p Preferences) SlackState() string {
	if p.Slack {
		return "Slack: your account is linked. Results of clusters that you create in Slack are always posted in their thread."
	}
	return "Slack: no account is linked. Message Muster in Slack to link yours."
}

// EmailState says whether email reaches the person.
func (p Preferences) EmailState() string {
	switch {
	case !p.EmailEnabled:
		return "Email: this server doesn't send email."
	case p.Email == "":
		return "Email: your account has no address. Add one on your account page."
	}
	return "Email: sent to " + p.Email + "."
}
