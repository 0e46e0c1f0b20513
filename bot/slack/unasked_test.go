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
	bot.Updates
	bot.Operations
	bot.RollBacks
	bot.Leases
	useRequests
	useManualSteps
	bot.Queues
	bot.Quotas
	useOrphans
	bot.Workspaces
	bot.Channels
	bot.Homes
	bot.Cards
	bot.Details
	bot.DMs
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
func (m *fakeApp) useCases() UseCases {
	return UseCases{
		UseCases: bot.UseCases{People: m, Catalogs: m, Clusters: m, Activity: m, Deletes: m, Creates: m, Updates: m, Operations: m, RollBacks: m, Leases: m,
			Requests: m, ManualSteps: m, Queues: m, Quotas: m, Orphans: m, Workspaces: m, Channels: m, Homes: m},
		Cards: m, Details: m, DMs: m, StaleHomes: m, Reviews: m, Installations: m, Tokens: m, Members: m, Deliveries: m, Follows: m, Asks: m, Connections: m,
	}
}

// Under their own names these would hide methods.
type (
	useClusters    = bot.Clusters
	useRequests    = bot.Requests
	useManualSteps = bot.ManualSteps
	useOrphans     = bot.Orphans
	useStaleHomes  = bot.StaleHomes
)
