package execution

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"a creation runs to its end, step after step", (*storeTest).runsToItsEnd},
	{"an old fence changes nothing", (*storeTest).oldFence},
	{"a lost answer is given again", (*storeTest).lostAnswer},
	{"a lost claim is taken back and the late report refused", (*storeTest).lostClaim},
	{"a failed step waits out its back-off", (*storeTest).backOff},
	{"many back-offs that end at once are all served", (*storeTest).manyBackOffs},
	{"a clock that was set back holds nothing up", (*storeTest).clockSetBack},
	{"a failed operation can be resumed", (*storeTest).resume},
	{"how long steps took is learned by kind", (*storeTest).paces},
	{"many kinds of steps are learned at once", (*storeTest).pacesOfMany},
	{"each report of a batch has its own end", (*storeTest).mixedBatch},
	{"many workers claim and report at the same time", (*storeTest).manyAtOnce},
	{"every claim of a node has a greater epoch", (*storeTest).epochs},
	{"operations take turns", (*storeTest).fairness},
	{"a report is kept in one transaction, or not at all", (*storeTest).reports},
	{"what services reported is there for later steps", (*storeTest).keepsFacts},
	{"people are asked without holding a node or a worker", (*storeTest).asksPeople},
	{"of many answers one counts", (*storeTest).answersRace},
	{"a refusal ends the step, and a resume asks again", (*storeTest).refuses},
	{"questions are answered in time, or end", (*storeTest).answersInTime},
	{"commands are kept with their exit codes", (*storeTest).runsCommands},
	{"actions run by schedule", (*storeTest).schedulesActions},
	{"pause, cancel and delete stop asking", (*storeTest).stopsAsking},
	{"one answer counts for all nodes where it says so", (*storeTest).answersOnce},
	{"tenants claim in batches of their own", (*storeTest).tenantsInBatches},
	{"claims of workers are taken back by name", (*storeTest).releaseWorkers},
	{"a clock that was set forward loses nothing", (*storeTest).clockSetForward},
	{"random acts of workers, clocks and people: as the rules say", (*storeTest).likeTheBook},
	{"what steps wait for is shown", (*storeTest).waits},
	{"how long a step is tried is known", (*storeTest).backsOff},
	{"queue and why tell the same times", (*storeTest).waitsAgree},
	{"what is to be rolled back by itself is so once", (*storeTest).rollBacks},
	{"random workers, random deaths: nothing lost, nothing twice", (*storeTest).storm},
})
