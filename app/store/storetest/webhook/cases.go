package webhook

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"hooks and their secrets", (*storeTest).hooks},
	{"a hook gets its notices in order, and holds up no other", (*storeTest).hookOrder},
	{"a hook that fails is stopped", (*storeTest).hookStops},
	{"deliveries are forgotten in time", (*storeTest).hookMemory},
	{"operations wait for the hooks before them", (*storeTest).hookHolds},
	{"hooks that are asked about requests", (*storeTest).requestHooks},
	{"what a hook vetoes does not happen", (*storeTest).hookVetoes},
	{"a hook without an answer holds up nothing forever", (*storeTest).hookSilence},
	{"hooks cannot keep machines", (*storeTest).hookDeletes},
	{"templates name hooks", (*storeTest).hookOfTemplate},
	{"hooks run scripts, and wrong ones are refused", (*storeTest).hookScripts},
	{"notices are read by those they are for", (*storeTest).noticesFor},
})
