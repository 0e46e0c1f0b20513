package chat

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"what a chat says counts once, and cards follow operations", (*storeTest).chats},
	{"what people of a chat are sent is sent once", (*storeTest).chatTells},
	{"what happens to a cluster is reported beneath its card", (*storeTest).chatThreads},
	{"what was asked for in a chat has its card there", (*storeTest).chatAsks},
	{"homes in a chat become stale when their owners' things change", (*storeTest).chatHomes},
	{"workspaces, their tokens and channels are one tenant's each", (*storeTest).chatSettings},
	{"a verified address links to one account, and to no admin", (*storeTest).chatLinks},
})
