package observe

// What is counted where it happens: by servers, and by workers wherever they run.
var (
	MetricRequests = &Metric{Name: "muster_http_requests_total", Kind: MetricCounter, Labels: []string{"route", "method", "code"},
		Help: "HTTP requests that ended, by the pattern of their route; code is the status."}
	MetricRequestTime = &Metric{Name: "muster_http_request_seconds", Kind: MetricDuration, Labels: []string{"route", "method"},
		Help: "How long HTTP requests took; event streams are left out."}
	MetricRequestsOpen = &Metric{Name: "muster_http_requests_in_flight", Kind: MetricLevel, Help: "HTTP requests being answered now, event streams included."}
	MetricStreams      = &Metric{Name: "muster_live_streams", Kind: MetricLevel, Help: "Event streams that are open: pages that move by themselves, and programs that follow a cluster."}
	MetricStreamed     = &Metric{Name: "muster_live_events_total", Kind: MetricCounter, Help: "Events sent to open streams."}
	MetricRefused      = &Metric{Name: "muster_fenced_writes_total", Kind: MetricCounter, Labels: []string{"write"},
		Help: "Writes of workers that were refused because their claim was not theirs any more; write is report or heartbeat."}
	MetricClaimed = &Metric{Name: "muster_steps_claimed_total", Kind: MetricCounter, Labels: []string{"action"}, Help: "Steps handed out to workers."}

	MetricRung     = &Metric{Name: "muster_outbox_rings_total", Kind: MetricCounter, Help: "Doorbells rung from the outbox."}
	MetricSwept    = &Metric{Name: "muster_steps_swept_total", Kind: MetricCounter, Help: "Steps that the sweeper took back from workers that were gone, or found to be due."}
	MetricRungAnew = &Metric{Name: "muster_bells_again_total", Kind: MetricCounter, Labels: []string{"reason"},
		Help: "Doorbells to be rung once more; reason is queue_lost or unheard."}
	MetricContents = &Metric{Name: "muster_contents_removed_total", Kind: MetricCounter, Help: "Contents of resources that nobody needed and the sweeper removed."}
	MetricExpired  = &Metric{Name: "muster_leases_ended_total", Kind: MetricCounter, Help: "Clusters whose deletion Muster began or went on with: their lease had ended, or it failed before."}
	MetricRepairs  = &Metric{Name: "muster_repairs_begun_total", Kind: MetricCounter, Help: "Repairs that Muster began by itself."}

	MetricPasses = &Metric{Name: "muster_reconcile_passes_total", Kind: MetricCounter, Labels: []string{"provider", "code"},
		Help: "Looks of the reconciler at a provider account; code is ok or that of the error."}
	MetricPassTime = &Metric{Name: "muster_reconcile_seconds", Kind: MetricDuration, Labels: []string{"provider"}, Bounds: longBounds,
		Help: "How long a look of the reconciler at an account took."}
	MetricFound = &Metric{Name: "muster_reconcile_finds_total", Kind: MetricCounter, Labels: []string{"provider", "what"},
		Help: "What the reconciler came across: orphan (a machine that belongs to no cluster, when first seen), deleted, held_back, lost (clusters whose machines are gone)."}

	MetricDeliveries   = &Metric{Name: "muster_webhook_deliveries_total", Kind: MetricCounter, Labels: []string{"code"}, Help: "Attempts to send a notice to a hook."}
	MetricDeliveryTime = &Metric{Name: "muster_webhook_delivery_seconds", Kind: MetricDuration, Help: "How long receivers of hooks took to answer."}

	MetricSteps = &Metric{Name: "muster_steps_total", Kind: MetricCounter, Labels: []string{"action", "code"},
		Help: "Attempts of steps that ended; code is ok or that of the error."}
	MetricStepTime = &Metric{Name: "muster_step_seconds", Kind: MetricDuration, Labels: []string{"action", "result"}, Bounds: longBounds,
		Help: "How long attempts of steps took; result is ok or failed."}
	MetricStepsOpen = &Metric{Name: "muster_steps_running", Kind: MetricLevel, Help: "Steps that this process is carrying out."}
	MetricRetries   = &Metric{Name: "muster_step_retries_total", Kind: MetricCounter, Labels: []string{"code"}, Help: "Failed attempts that are to be tried again, by the code of their error."}
	MetricRounds    = &Metric{Name: "muster_health_rounds_total", Kind: MetricCounter, Help: "Rounds of health checks that were carried out."}

	MetricCalls = &Metric{Name: "muster_provider_calls_total", Kind: MetricCounter, Labels: []string{"provider", "operation", "code"},
		Help: "Calls to providers; code is ok or that of the error."}
	MetricCallTime = &Metric{Name: "muster_provider_call_seconds", Kind: MetricDuration, Labels: []string{"provider", "operation"}, Bounds: longBounds,
		Help: "How long calls to providers took."}
	MetricThrottled = &Metric{Name: "muster_provider_throttled_total", Kind: MetricCounter, Labels: []string{"provider", "by"},
		Help: "Calls that were turned away because there were too many; by is provider (it answered 429) or budget (our own, before it was asked)."}
	MetricBudgetWait = &Metric{Name: "muster_provider_budget_wait_seconds", Kind: MetricDuration, Labels: []string{"provider"},
		Help: "How long calls waited for their turn in the account's rate budget."}

	MetricDials = &Metric{Name: "muster_ssh_connections_total", Kind: MetricCounter, Labels: []string{"code"}, Help: "SSH connections that were opened, or could not be."}
)

// AllMetrics are all that are counted where it happens.
var AllMetrics = []*Metric{
	MetricRequests, MetricRequestTime, MetricRequestsOpen, MetricStreams, MetricStreamed, MetricRefused, MetricClaimed,
	MetricRung, MetricSwept, MetricRungAnew, MetricContents, MetricExpired, MetricRepairs,
	MetricPasses, MetricPassTime, MetricFound, MetricDeliveries, MetricDeliveryTime,
	MetricSteps, MetricStepTime, MetricStepsOpen, MetricRetries, MetricRounds,
	MetricCalls, MetricCallTime, MetricThrottled, MetricBudgetWait, MetricDials,
}

// What is asked of the ledger when someone looks.
var (
	LevelSteps       = &Metric{Name: "muster_queue_steps", Kind: MetricLevel, Labels: []string{"state"}, Help: "Steps of operations under way: ready (for their node), queued (for a worker) or running."}
	LevelOldest      = &Metric{Name: "muster_queue_oldest_seconds", Kind: MetricLevel, Help: "How long that queued step has been ready to be handed out which has been so for longest; 0 where none is. Steps that back off or whose operation is paused are not queued; those of a tenant that has all the slots it may have are left out."}
	LevelOutbox      = &Metric{Name: "muster_outbox_bells", Kind: MetricLevel, Help: "Queued steps whose doorbell is yet to be rung."}
	LevelOverdue     = &Metric{Name: "muster_steps_overdue", Kind: MetricLevel, Help: "Running steps whose claim has run out and that were not taken back yet."}
	LevelOperations  = &Metric{Name: "muster_operations", Kind: MetricLevel, Labels: []string{"status"}, Help: "Operations that have not ended."}
	LevelClusters    = &Metric{Name: "muster_clusters", Kind: MetricLevel, Labels: []string{"status"}, Help: "Clusters that are there; machines of pools are left out."}
	LevelLeases      = &Metric{Name: "muster_leases_ending", Kind: MetricLevel, Help: "Clusters whose lease ends within 24 hours, or has ended."}
	LevelMachines    = &Metric{Name: "muster_machines", Kind: MetricLevel, Help: "Machines, and whatever else is paid for, that providers are known to have of ours."}
	LevelMoney       = &Metric{Name: "muster_cost_per_hour", Kind: MetricLevel, Help: "Cost of these machines per hour, in the installation's currency."}
	LevelOrphans     = &Metric{Name: "muster_orphans", Kind: MetricLevel, Labels: []string{"provider"}, Help: "Orphaned machines."}
	LevelProvisioner = &Metric{Name: "muster_provisioners", Kind: MetricLevel, Labels: []string{"state"}, Help: "Provisioners that are registered and have not ended."}
	LevelSlots       = &Metric{Name: "muster_slots", Kind: MetricLevel, Help: "Steps that all provisioners together may carry out at the same time."}
	LevelDeliveries  = &Metric{Name: "muster_webhook_waiting", Kind: MetricLevel, Help: "Notices that wait to be sent to hooks."}
	LevelLeads       = &Metric{Name: "muster_leads", Kind: MetricLevel, Help: "1 where this server leads: it rings, reconciles and ends leases for all."}
	LevelQueueUp     = &Metric{Name: "muster_redis_up", Kind: MetricLevel, Help: "1 where Redis answers this server."}

	// With --metrics-tenants only.
	LevelTenantSteps    = &Metric{Name: "muster_tenant_queue_steps", Kind: MetricLevel, Labels: []string{"tenant"}, Help: "Queued steps of a tenant; of the 200 tenants with most. With --metrics-tenants."}
	LevelTenantClusters = &Metric{Name: "muster_tenant_clusters", Kind: MetricLevel, Labels: []string{"tenant"}, Help: "Clusters of a tenant; of the 200 tenants with most. With --metrics-tenants."}
	LevelTenantMoney    = &Metric{Name: "muster_tenant_cost_per_hour", Kind: MetricLevel, Labels: []string{"tenant"}, Help: "Cost of a tenant's clusters per hour, in the installation's currency; of the 200 with most clusters. With --metrics-tenants."}
)

// Levels are all that are asked for.
var Levels = []*Metric{LevelSteps, LevelOldest, LevelOutbox, LevelOverdue, LevelOperations, LevelClusters, LevelLeases, LevelMachines, LevelMoney, LevelOrphans,
	LevelProvisioner, LevelSlots, LevelDeliveries, LevelLeads, LevelQueueUp, LevelTenantSteps, LevelTenantClusters, LevelTenantMoney}
