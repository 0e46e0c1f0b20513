package jenkins_test

import (
	"testing"

	"muster/buildsystems"
	"muster/buildsystems/buildsystemtest"
	"muster/buildsystems/jenkins"
)

func Test(t *testing.T) {
	buildsystemtest.Run(t, buildsystemtest.Member{Systems: buildsystems.Family{}, Name: jenkins.Name, Secret: buildsystemtest.StandardSecret, Schemes: []buildsystemtest.Scheme{buildsystemtest.Standard},
		Unknown: ``})
}
