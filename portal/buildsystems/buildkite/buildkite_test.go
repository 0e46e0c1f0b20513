package buildkite_test

import (
	"testing"

	"muster/portal/buildsystems"
	"muster/portal/buildsystems/buildkite"
	"muster/portal/buildsystems/buildsystemtest"
)

func Test(t *testing.T) {
	buildsystemtest.Run(t, buildsystemtest.Member{Systems: buildsystems.Family{}, Name: buildkite.Name, Secret: buildsystemtest.PlainSecret, Schemes: []buildsystemtest.Scheme{buildsystemtest.HexTimed("X-Buildkite-Signature"), buildsystemtest.Token("X-Buildkite-Token")},
		Unknown: `{"event":"agent.connected","agent":{"id":"1"}}`})
}
