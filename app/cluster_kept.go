package app

import (
	"fmt"
	"slices"
)

// keptUseCases are what people can do with a failed machine that is kept for inspection, beside looking at it.
var keptUseCases = []string{"DeleteCluster", "ExtendLease", "ShareCluster", "ClusterSharing", "TransferCluster", "ClusterKey", "ClusterCertificate",
	"ClusterConfig", "ClusterFacts", "RevealOutputs", "LockCluster", "UnlockCluster",
	"ResumeOperation", "ResumeCluster", "CancelOperation"}

// keptAllows refuses what makes no sense on such a machine: it is out of service, and is given back as it is.
func (c Cluster) keptAllows(useCase string) error {
	if c.KeptFrom == "" || slices.Contains(keptUseCases, useCase) {
		return nil
	}
	return &Error{Code: EConflict, Reason: "kept", Message: fmt.Sprintf("%q is a failed machine that is kept for inspection, so it can't be changed.", c.Name),
		Hint: fmt.Sprintf("Sign in to it: muster cluster ssh %s. To delete it: muster cluster delete %s.", c.Name, c.Name)}
}
