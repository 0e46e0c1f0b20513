package catalog

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"versions of the catalog are written when it changes", (*storeTest).catalog},
	{"what tenants lay over the catalog is theirs alone, in versions", (*storeTest).ownCatalog},
})
