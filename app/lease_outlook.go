package app

// EndsCluster tells an operation at whose end the cluster is gone, or that is tried until it is; latest says that nothing has
// come after it.
func (o Operation) EndsCluster(latest bool) bool {
	return (o.Kind == OperationDelete || o.Kind == OperationRollBack) && (!o.Status.Ended() || o.Status == OperationFailed && latest)
}
