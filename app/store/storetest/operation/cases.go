package operation

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"a deletion stops a creation and follows it", (*storeTest).deleteDuringCreate},
	{"a cluster is deleted once", (*storeTest).deletedOnce},
	{"a failed delete is tried again, later each time", (*storeTest).failedDelete},
	{"a cancel drops what waits, stops what runs, and ends", (*storeTest).cancel},
	{"what waits is cancelled at once, and changes nothing", (*storeTest).cancelWaiting},
	{"a pause lets running steps end and begins none", (*storeTest).pause},
	{"nothing begins by itself in what is paused, and a deletion takes it over", (*storeTest).pausedThings},
	{"a back-off doesn't outlast a clock that was wrong", (*storeTest).backOffByAWrongClock},
	{"a deletion of what is paused begins at once", (*storeTest).deletePaused},
	{"what is called off before it began has changed nothing", (*storeTest).calledOff},
	{"a lease ends although a deletion had failed and the next was cancelled", (*storeTest).leaseAfterCalledOff},
	{"one node's failed steps are resumed while others run", (*storeTest).retryNode},
	{"one node's failed steps are resumed after the operation failed", (*storeTest).retryNodeOfFailed},
	{"a place without capacity is left once, and the next one entered once", (*storeTest).places},
	{"what was chosen for failures holds once no other place is tried", (*storeTest).placesEnd},
	{"a rollback that leaves nothing ends the cluster", (*storeTest).rollBack},
	{"a rollback of what was cancelled early ends the cluster", (*storeTest).rollBackOfCancelled},
	{"a failed machine is kept instead of deleted", (*storeTest).keep},
	{"kept machines end with their cluster", (*storeTest).keptEndsWithCluster},
	{"a tenant keeps a bounded number of machines", (*storeTest).keptBound},
	{"a kept machine of a locked node stays locked", (*storeTest).keptStaysLocked},
	{"a kept machine is used again", (*storeTest).keptUsedAgain},
	{"a kept machine that isn't used stays kept", (*storeTest).keptPromiseEnds},
	{"a kept machine whose deletion failed isn't used", (*storeTest).keptDeletionFailed},
	{"a kept machine is lost and found", (*storeTest).keptLostAndFound},
})
