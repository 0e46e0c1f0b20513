package cluster

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"a tenant's steps and rows are its own", (*storeTest).tenants},
	{"names of live clusters are unique", (*storeTest).names},
	{"a cluster is renamed, and its id stays", (*storeTest).renames},
	{"clusters have labels, and are found by them", (*storeTest).labels},
	{"provider values are sealed, and kept until nothing is left", (*storeTest).providerValues},
	{"lists of clusters are narrowed, sorted and paged", (*storeTest).clusterList},
	{"nodes of all clusters are narrowed and paged", (*storeTest).nodeList},
	{"a cluster is found, listed and counted for those who may see it", (*storeTest).readers},
	{"clusters are shared with existing people and groups", (*storeTest).sharing},
	{"clusters and nodes are locked", (*storeTest).locks},
	{"shares end", (*storeTest).sharesEnd},
	{"who decides or is asked sees what it is about", (*storeTest).deciders},
	{"the feed replays from any number", (*storeTest).feed},
	{"logs of an old attempt are dropped", (*storeTest).logs},
	{"old events and logs are forgotten", (*storeTest).retention},
	{"a request with a key is carried out once", (*storeTest).once},
	{"queue messages are sent once, and again when lost", (*storeTest).dispatches},
	{"a home shows what is one's own", (*storeTest).home},
})
