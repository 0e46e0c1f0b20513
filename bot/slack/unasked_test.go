package slack

import "muster/bot"

// unasked are use cases that panic.
type unasked struct {
	bot.People
	bot.Catalogs
	useClusters
	bot.Creates
	bot.Amendments
	bot.Operations
	bot.Leases
	useRequests
	useQuestions
	bot.Queues
	bot.Quotas
	useOrphans
	bot.Channels
	bot.Homes
	bot.Cards
	bot.Details
	bot.Faces
	bot.Reviews
	Workspaces
	Tokens
	Members
	Deliveries
	Follows
	Health
}

// useCases has the stub asked for everything.
func (m *muster) useCases() UseCases {
	return UseCases{
		UseCases: bot.UseCases{People: m, Catalogs: m, Clusters: m, Creates: m, Amendments: m, Operations: m, Leases: m, Requests: m, Questions: m, Queues: m, Quotas: m, Orphans: m, Channels: m, Homes: m},
		Cards:    m, Details: m, Faces: m, Reviews: m, Workspaces: m, Tokens: m, Members: m, Deliveries: m, Follows: m, Health: m,
	}
}

// Under their own names these would hide methods.
type (
	useClusters  = bot.Clusters
	useRequests  = bot.Requests
	useQuestions = bot.Questions
	useOrphans   = bot.Orphans
)
