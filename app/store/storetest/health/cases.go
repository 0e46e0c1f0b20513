package health

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"rounds of health checks are due in time, and held by one worker", (*storeTest).healthRounds},
	{"idle clusters are warned of and acted on once, unless they are used", (*storeTest).idleClusters},
	{"clusters follow the tenant's idle policy, and what sleep saves is counted", (*storeTest).idleDefault},
	{"clusters are scaled by one server at a time, by what nodes say and by whose rules count", (*storeTest).scaling},
	{"what rounds find is kept, and reported when it changes", (*storeTest).healthFound},
	{"what a provider takes away is noted once, and due to be repaired", (*storeTest).interrupted},
})
