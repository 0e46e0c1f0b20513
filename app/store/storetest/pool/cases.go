package pool

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"what an operation has to make in all is counted", (*storeTest).pendingCreates},
	{"a pool is refilled, and woken by what happens to it", (*storeTest).poolRefills},
	{"of many creates one gets the last machine of a pool", (*storeTest).poolRace},
	{"a machine of a pool is handed out with all that is its own", (*storeTest).poolHands},
	{"a machine that its provider takes away is given back", (*storeTest).poolLeaves},
	{"what a pool hands out is not counted twice", (*storeTest).poolQuota},
})
