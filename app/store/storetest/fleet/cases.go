package fleet

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"a creation knows whether there is something to look for", (*storeTest).asked},
	{"what was made is kept until it is proven gone", (*storeTest).receipts},
	{"orphans are counted by sightings", (*storeTest).orphans},
	{"servers take turns at accounts", (*storeTest).accounts},
	{"lost clusters heal", (*storeTest).lost},
	{"expected machines follow the events", (*storeTest).expects},
})
