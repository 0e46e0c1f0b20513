package observe

// AllMetrics are those that are counted where it happens, Levels those that are read at each scrape, in the order of this file and of docs/metrics.md.
var AllMetrics, Levels []*Metric

// counted adds a metric to AllMetrics.
func counted(m Metric) *Metric {
	AllMetrics = append(AllMetrics, &m)
	return &m
}

// gauge adds a metric to Levels. Its query is in app/store/fleet/metrics_query.go.
func gauge(m Metric) *Metric {
	Levels = append(Levels, &m)
	return &m
}

// What is counted where it happens: by servers, and by workers wherever they run.
var (
	MetricRequests = counted(Metric{Name: "muster_http_requests_total", Kind: MetricCounter, Labels: []string{"route", "method", "code"},
		Help: "HTTP requests answered, by route pattern and status code."})
	MetricRequestTime = counted(Metric{Name: "muster_http_request_seconds", Kind: MetricDuration, Labels: []string{"route", "method"},
		Help: "Duration of HTTP requests, event streams excluded."})
	MetricRequestsOpen = counted(Metric{Name: "muster_http_requests_in_flight", Kind: MetricLevel, Help: "HTTP requests in flight, event streams included."})
	MetricStreams      = counted(Metric{Name: "muster_event_streams", Kind: MetricLevel, Help: "Open event streams of live pages and programs."})
	MetricStreamEvents = counted(Metric{Name: "muster_stream_events_total", Kind: MetricCounter, Help: "Events sent to event streams."})
	MetricFencedWrites = counted(Metric{Name: "muster_fenced_writes_total", Kind: MetricCounter, Labels: []string{"write"},
		Help: "Writes of workers rejected because their claim had expired; write is report or heartbeat."})
	MetricClaimed = counted(Metric{Name: "muster_steps_claimed_total", Kind: MetricCounter, Labels: []string{"action"}, Help: "Steps claimed by workers."})

	MetricMessagesSent = counted(Metric{Name: "muster_queue_messages_sent_total", Kind: MetricCounter, Help: "Queue messages sent from the outbox."})
	MetricSwept        = counted(Metric{Name: "muster_steps_swept_total", Kind: MetricCounter,
		Help: "Steps that the sweeper reclaimed from lost workers, or found due."})
	MetricMessagesResent = counted(Metric{Name: "muster_queue_messages_resent_total", Kind: MetricCounter, Labels: []string{"reason"},
		Help: "Queue messages sent again; reason is queue_lost (Redis lost them) or unclaimed (no worker claimed a step in time)."})
	MetricContents = counted(Metric{Name: "muster_resource_contents_removed_total", Kind: MetricCounter,
		Help: "Unused resource contents that the sweeper removed."})
	MetricAutomaticDeletions = counted(Metric{Name: "muster_automatic_deletions_total", Kind: MetricCounter,
		Help: "Deletions started or retried automatically because the lease expired or an earlier deletion failed."})
	MetricRepairs = counted(Metric{Name: "muster_automatic_repairs_total", Kind: MetricCounter, Help: "Repairs started automatically."})

	MetricReconcileRuns = counted(Metric{Name: "muster_reconcile_runs_total", Kind: MetricCounter, Labels: []string{"provider", "code"},
		Help: "Reconciler runs over provider accounts; code is ok or the error code."})
	MetricReconcileTime = counted(Metric{Name: "muster_reconcile_seconds", Kind: MetricDuration, Labels: []string{"provider"}, Bounds: longBounds,
		Help: "Duration of a reconciler run over an account."})
	MetricFindings = counted(Metric{Name: "muster_reconcile_findings_total", Kind: MetricCounter, Labels: []string{"provider", "finding"},
		Help: "Reconciler findings: orphan (a machine without a cluster, when first seen), deleted, held_back, lost (clusters whose machines are gone), " +
			"interrupted (machines that their provider takes away)."})

	MetricDeliveries = counted(Metric{Name: "muster_webhook_deliveries_total", Kind: MetricCounter, Labels: []string{"code"},
		Help: "Attempts to deliver a notification to a webhook."})
	MetricEmails       = counted(Metric{Name: "muster_emails_total", Kind: MetricCounter, Labels: []string{"code"}, Help: "Attempts to email a notification."})
	MetricDeliveryTime = counted(Metric{Name: "muster_webhook_delivery_seconds", Kind: MetricDuration, Help: "Response time of webhook receivers."})

	MetricSteps = counted(Metric{Name: "muster_steps_total", Kind: MetricCounter, Labels: []string{"action", "code"},
		Help: "Step attempts that ended; code is ok or the error code."})
	MetricStepTime = counted(Metric{Name: "muster_step_seconds", Kind: MetricDuration, Labels: []string{"action", "result"}, Bounds: longBounds,
		Help: "Duration of step attempts; result is ok or failed."})
	MetricStepsOpen = counted(Metric{Name: "muster_steps_running", Kind: MetricLevel, Help: "Steps running in this process."})
	MetricRetries   = counted(Metric{Name: "muster_step_retries_total", Kind: MetricCounter, Labels: []string{"code"},
		Help: "Failed attempts to be retried, by error code."})
	MetricHealthBatches = counted(Metric{Name: "muster_health_check_batches_total", Kind: MetricCounter, Help: "Rounds of health checks completed."})

	MetricCalls = counted(Metric{Name: "muster_provider_calls_total", Kind: MetricCounter, Labels: []string{"provider", "operation", "code"},
		Help: "Calls to providers; code is ok or the error code."})
	MetricCallTime = counted(Metric{Name: "muster_provider_call_seconds", Kind: MetricDuration, Labels: []string{"provider", "operation"}, Bounds: longBounds,
		Help: "Duration of calls to providers."})
	MetricThrottled = counted(Metric{Name: "muster_provider_throttled_total", Kind: MetricCounter, Labels: []string{"provider", "by"},
		Help: "Calls rejected by rate limits; by is provider (it answered 429) or budget (Muster's own limit, before the call)."})
	MetricBudgetWait = counted(Metric{Name: "muster_provider_budget_wait_seconds", Kind: MetricDuration, Labels: []string{"provider"},
		Help: "Time that calls waited for the account's rate budget."})

	MetricDials = counted(Metric{Name: "muster_ssh_connections_total", Kind: MetricCounter, Labels: []string{"code"},
		Help: "SSH connections opened or failed."})
)

// What is asked of the ledger when someone looks.
var (
	LevelSteps = gauge(Metric{Name: "muster_queue_steps", Kind: MetricLevel, Labels: []string{"state"},
		Help: "Steps of operations in progress: ready (waiting for the node), queued (waiting for a worker) or running."})
	LevelOldest = gauge(Metric{Name: "muster_queue_oldest_seconds", Kind: MetricLevel,
		Help: "Age of the oldest step waiting for a worker; 0 if none waits. Steps that are backing off or belong to a paused operation don't count, nor do those of a tenant that uses all its slots."})
	LevelOutbox  = gauge(Metric{Name: "muster_outbox_messages", Kind: MetricLevel, Help: "Queued steps whose queue message is yet to be sent."})
	LevelOverdue = gauge(Metric{Name: "muster_steps_overdue", Kind: MetricLevel,
		Help: "Running steps whose claim has expired and that the sweeper hasn't reclaimed yet."})
	LevelOperations = gauge(Metric{Name: "muster_operations", Kind: MetricLevel, Labels: []string{"status"},
		Help: "Operations in progress, paused or waiting."})
	LevelClusters    = gauge(Metric{Name: "muster_clusters", Kind: MetricLevel, Labels: []string{"status"}, Help: "Existing clusters, pool machines excluded."})
	LevelLeases      = gauge(Metric{Name: "muster_leases_expiring", Kind: MetricLevel, Help: "Clusters whose lease has expired or expires within 24 hours."})
	LevelMachines    = gauge(Metric{Name: "muster_machines", Kind: MetricLevel, Help: "Machines and other billed resources known to exist at providers."})
	LevelCost        = gauge(Metric{Name: "muster_cost_per_hour", Kind: MetricLevel, Help: "Cost per hour of muster_machines, in the installation's currency."})
	LevelOrphans     = gauge(Metric{Name: "muster_orphans", Kind: MetricLevel, Labels: []string{"provider"}, Help: "Orphaned machines."})
	LevelProvisioner = gauge(Metric{Name: "muster_provisioners", Kind: MetricLevel, Labels: []string{"state"},
		Help: "Registered provisioners that haven't ended."})
	LevelSlots      = gauge(Metric{Name: "muster_slots", Kind: MetricLevel, Help: "Steps that all provisioners together can run at once."})
	LevelDeliveries = gauge(Metric{Name: "muster_webhook_deliveries_pending", Kind: MetricLevel, Help: "Notifications waiting to be delivered to webhooks."})
	LevelLeader     = gauge(Metric{Name: "muster_leader", Kind: MetricLevel,
		Help: "1 if this server is the leader, which sends queue messages, reconciles and expires leases."})
	LevelQueueUp = gauge(Metric{Name: "muster_redis_up", Kind: MetricLevel, Help: "1 if Redis answers this server."})

	// With --metrics-tenants only.
	LevelTenantSteps = gauge(Metric{Name: "muster_tenant_queue_steps", Kind: MetricLevel, Labels: []string{"tenant"},
		Help: "Queued steps by tenant, for the 200 tenants with the most. Requires --metrics-tenants."})
	LevelTenantClusters = gauge(Metric{Name: "muster_tenant_clusters", Kind: MetricLevel, Labels: []string{"tenant"},
		Help: "Clusters by tenant, for the 200 tenants with the most. Requires --metrics-tenants."})
	LevelTenantCost = gauge(Metric{Name: "muster_tenant_cost_per_hour", Kind: MetricLevel, Labels: []string{"tenant"},
		Help: "Cost per hour by tenant in the installation's currency, for the 200 tenants with the most clusters. Requires --metrics-tenants."})
)
