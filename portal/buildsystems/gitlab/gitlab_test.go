package gitlab_test

import (
	"testing"

	"muster/portal/buildsystems"
	"muster/portal/buildsystems/buildsystemtest"
	"muster/portal/buildsystems/gitlab"
)

func Test(t *testing.T) {
	buildsystemtest.Run(t, buildsystemtest.Member{Systems: buildsystems.Family{}, Name: gitlab.Name, Secret: buildsystemtest.StandardSecret, Schemes: []buildsystemtest.Scheme{buildsystemtest.Standard, buildsystemtest.Token("X-Gitlab-Token")},
		Unknown: `{"object_kind":"note","object_attributes":{"id":1}}`})
}
