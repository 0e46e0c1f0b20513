package gitlab

import (
	"muster/app/build"
	"muster/portal/buildsystems/internal/payload"
	"muster/portal/buildsystems/internal/seal"
)

// Name is the system's name in Muster.
const Name = "gitlab"

const (
	headerToken = "X-Gitlab-Token"
	headerEvent = "X-Gitlab-Event"
	headerUUID  = "X-Gitlab-Event-UUID"
)

// hooks maps GitLab's event names in the header to those in the body.
var hooks = map[string]string{
	"Deployment Hook": "deployment", "Job Hook": "build", "Merge Request Hook": "merge_request", "Pipeline Hook": "pipeline", "Push Hook": "push", "Tag Push Hook": "tag_push",
}

// System is GitLab.
type System struct{}

// About describes the system for forms and docs.
func (System) About() build.System {
	return build.System{
		Name: Name, Title: "GitLab CI/CD",
		About:  "Reports pipelines, jobs, pushes, merge requests and deployments, signed with a signing token or, on older servers, sent with a secret token.",
		Events: []string{"build", "deployment", "merge_request", "pipeline", "push", "tag_push"},
		Scheme: "Standard Webhooks in webhook-signature (signing token), or the secret itself in X-Gitlab-Token (secret token)",
		Steps: []string{
			"In the settings of the project or group, open Webhooks and add a webhook.",
			"Enter the URL as URL.",
			"Enter the secret as Signing token or, on a GitLab without this field, as Secret token.",
			"Select the events that your rules use: Pipeline, Job, Push, Tag push, Merge request or Deployment events. Keep SSL verification on.",
		},
		Standard: true, Token: true, StatusAPI: "https://gitlab.com/api/v4", StatusOwn: "https://gitlab.example.com/api/v4",
		StatusAccess: "A project or group access token with the scope api and the role Developer, or, for protected branches, a role that can push to them (by default Maintainer).",
	}
}

// Verify checks the signature if there is one; only without one does it accept the secret itself.
func (System) Verify(r seal.Request) (build.Delivery, error) {
	var d build.Delivery
	if r.Header(seal.StandardSignature) != "" {
		id, at, err := r.Standard()
		if err != nil {
			return build.Delivery{}, err
		}
		d.ID, d.SentAt, d.Unique = id, at, seal.Unique([]byte(id), r.Body)
	} else {
		token := r.Header(headerToken)
		if token == "" {
			return build.Delivery{}, seal.Missing(seal.StandardSignature, "Enter this hook's secret as Signing token in the webhook's settings or, on an older GitLab, as Secret token.")
		}
		if !r.Token(token) {
			return build.Delivery{}, seal.Wrong(headerToken)
		}
		d.ID, d.Unique = r.Header(headerUUID), seal.Unique(r.Body)
	}
	if body, err := payload.Parse(r.Body); err == nil {
		d.Event, _ = body.All()["object_kind"].(string)
	}
	if said := r.Header(headerEvent); hooks[said] != "" && hooks[said] != d.Event {
		return build.Delivery{}, seal.Disagree(headerEvent, said, d.Event)
	}
	return d, nil
}
