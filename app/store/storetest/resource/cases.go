package resource

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"versions of resources are staged, synced and recalled", (*storeTest).resources},
	{"references to resources are pinned", (*storeTest).pins},
	{"contents that no one needs are swept", (*storeTest).sweeps},
})
