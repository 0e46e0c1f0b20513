package build

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"a build gets a cluster and returns it", (*storeTest).builds},
	{"a build's commit shows how its cluster is", (*storeTest).buildStatuses},
	{"a build that runs again gets another cluster", (*storeTest).buildRunsAgain},
	{"a build waits until its cluster's name is free", (*storeTest).buildNamesFree},
	{"builds wait for so long", (*storeTest).buildsWait},
	{"builds that several servers handle", (*storeTest).buildsTendedAtOnce},
	{"a locked cluster stays when its build ends", (*storeTest).buildsLocked},
	{"an ended build says why, though its cluster is deleted first", (*storeTest).buildEndsLate},
	{"builds wait for approval", (*storeTest).buildsAsk},
	{"builds are called back, in the order of their states", (*storeTest).buildsCalledBack},
	{"a callback's address is kept secret, and goes with its hook", (*storeTest).buildsCalledInSecret},
	{"builds in any order: one cluster each, and none is left", (*storeTest).buildsAtRandom},
})
