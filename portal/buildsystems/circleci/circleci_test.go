package circleci_test

import (
	"testing"

	"muster/portal/buildsystems"
	"muster/portal/buildsystems/buildsystemtest"
	"muster/portal/buildsystems/circleci"
)

func Test(t *testing.T) {
	buildsystemtest.Run(t, buildsystemtest.Member{Systems: buildsystems.Family{}, Name: circleci.Name, Secret: buildsystemtest.PlainSecret, Schemes: []buildsystemtest.Scheme{buildsystemtest.Hex("Circleci-Signature", "v1=")},
		Unknown: `{"type":"pipeline-created","id":"1"}`})
}
