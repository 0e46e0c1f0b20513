package jenkins_test

import (
	"testing"

	"muster/portal/buildsystems"
	"muster/portal/buildsystems/buildsystemtest"
	"muster/portal/buildsystems/jenkins"
)

func Test(t *testing.T) {
	buildsystemtest.Run(t, buildsystemtest.Member{Systems: buildsystems.Family{}, Name: jenkins.Name, Secret: buildsystemtest.StandardSecret, Schemes: []buildsystemtest.Scheme{buildsystemtest.Standard},
		Unknown: ``})
}
