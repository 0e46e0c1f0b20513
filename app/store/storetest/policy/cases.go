package policy

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"requests wait, move once and run in one transaction", (*storeTest).requests},
	{"parallel reviews move a request once", (*storeTest).reviews},
	{"requests are listed, found and kept", (*storeTest).requestLists},
	{"policies keep their versions", (*storeTest).policies},
})
