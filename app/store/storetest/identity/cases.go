package identity

import "muster/app/store/storetest/kit"

type storeTest struct{ *kit.T }

func newTest(t *kit.T) *storeTest { return &storeTest{t} }

// Cases are what every store passes.
var Cases = kit.Cases(newTest, []struct {
	Name string
	Try  func(*storeTest)
}{
	{"accounts and tokens", (*storeTest).people},
	{"people come, change and go", (*storeTest).accountsOfPeople},
	{"the last admins stay", (*storeTest).lastAdmins},
	{"groups are made here and come from elsewhere", (*storeTest).groups},
	{"tokens hold as long as they may", (*storeTest).tokens},
	{"a new password ends tokens and sign-ins", (*storeTest).newPassword},
	{"a second factor is asked for, used once, and removed", (*storeTest).secondFactor},
	{"codes of a second factor are not guessed", (*storeTest).guessedCodes},
	{"second factors that were lost, and those that are required", (*storeTest).lostSecondFactor},
	{"a token does no more than the role that is left", (*storeTest).demoted},
	{"programs that are signed in: one address does not keep out others", (*storeTest).manyDevices},
	{"tenants come, and go when nothing is left", (*storeTest).tenantsCome},
	{"a tenant's currency holds once it has costs", (*storeTest).currency},
	{"random sign-ins: those that should count do", (*storeTest).signIns},
	{"persons of identity providers get accounts of their own", (*storeTest).persons},
	{"a link to an identity works once", (*storeTest).identities},
	{"an email address is confirmed with a link, once", (*storeTest).emailChange},
	{"a link to an email address ends, and belongs to one account", (*storeTest).emailEnds},
	{"no one is flooded with links", (*storeTest).emailLimits},
})
