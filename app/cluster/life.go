package cluster

import (
	"context"

	"muster/app/schedule"
)

// LifeStore keeps what becomes of clusters without an operation.
type LifeStore interface {
	schedule.ScheduleStore
	// RenameCluster gives a live cluster another name. EConflict where another live cluster of the tenant has it as name or id, or
	// an open request asks for it.
	RenameCluster(ctx context.Context, r ClusterRename) error
	// TransferCluster transfers a live cluster to another owner, with its reservation, or to a group, and writes the notices. EInvalid where the tenant
	// has no such user or group, EConflict where that one cannot have clusters or the cluster is not From's any more, EQuota where a quota
	// refuses it.
	TransferCluster(ctx context.Context, t ClusterTransfer) error
}
