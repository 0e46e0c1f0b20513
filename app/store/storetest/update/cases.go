package update

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"what a failed operation left undone is counted", (*storeTest).unfinished},
})
