package slack

import (
	"muster/app/apptest"
	"muster/bot"
)

// unasked are use cases that panic.
type unasked struct {
	bot.People
	bot.Catalogs
	useClusters
	bot.Activity
	bot.Deletes
	bot.Creates
	bot.Updates
	bot.Runs
	bot.Operations
	bot.RollBacks
	bot.Leases
	bot.Idle
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
func (m *fakeApp) useCases() UseCases { return apptest.UseCases[UseCases](m) }

// Under their own names these would hide methods.
type (
	useClusters    = bot.Clusters
	useRequests    = bot.Requests
	useManualSteps = bot.ManualSteps
	useOrphans     = bot.Orphans
	useStaleHomes  = bot.StaleHomes
)
