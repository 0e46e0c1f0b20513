package slack

import "muster/bot"

// unasked are use cases that panic.
type unasked struct {
	bot.People
	bot.Catalogs
	useClusters
	bot.Activity
	bot.Deletes
	bot.Creates
	bot.Amendments
	bot.Operations
	bot.RollBacks
	bot.Leases
	useRequests
	useQuestions
	bot.Queues
	bot.Quotas
	useOrphans
	bot.Workspaces
	bot.Channels
	bot.Homes
	bot.Cards
	bot.Details
	bot.Tells
	useStaleHomes
	bot.Reviews
	Installations
	Tokens
	Members
	Deliveries
	Follows
	Asks
	Connections
}

// useCases has the stub asked for everything.
func (m *muster) useCases() UseCases {
	return UseCases{
		UseCases: bot.UseCases{People: m, Catalogs: m, Clusters: m, Activity: m, Deletes: m, Creates: m, Amendments: m, Operations: m, RollBacks: m, Leases: m,
			Requests: m, Questions: m, Queues: m, Quotas: m, Orphans: m, Workspaces: m, Channels: m, Homes: m},
		Cards: m, Details: m, Tells: m, StaleHomes: m, Reviews: m, Installations: m, Tokens: m, Members: m, Deliveries: m, Follows: m, Asks: m, Connections: m,
	}
}

// Under their own names these would hide methods.
type (
	useClusters   = bot.Clusters
	useRequests   = bot.Requests
	useQuestions  = bot.Questions
	useOrphans    = bot.Orphans
	useStaleHomes = bot.StaleHomes
)
