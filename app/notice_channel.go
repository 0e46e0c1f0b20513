package app

// NoticeChannel is a way in which notices reach a person.
type NoticeChannel string

// The channels.
const (
	ChannelPortal NoticeChannel = "portal"
	ChannelSlack  NoticeChannel = "slack"
	ChannelEmail  NoticeChannel = "email"
)

// Emailed reports whether notices of a kind are emailed to people who haven't chosen: what they wait for, or have to act on.
func (k NoticeKind) Emailed() bool {
	switch k {
	case NoticeReady, NoticeFailed, NoticeLost, NoticeLease, NoticeIdle, NoticeApproval, NoticeBudget, NoticeAlarm, NoticeManualStep, NoticeAccount:
		return true
	}
	return false
}
