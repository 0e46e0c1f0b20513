package app_test

import (
	"testing"

	"muster/app"
)

// Servers of one installation may run different versions for a while, so the texts are pinned.
func TestTopicsAreReadByOtherServers(t *testing.T) {
	seen := map[app.Topic]bool{}
	for text, topic := range map[string]app.Topic{
		"web-1": app.ClusterTopic("web-1"), "*tenant:acme": app.TenantTopic("acme"), "*stops:acme": app.StopsTopic("acme"), "*everything": app.EverythingTopic(),
		"*notices": app.NoticesTopic(), "*queued": app.QueuedTopic(), "*shares": app.SharesTopic(), "*builds": app.BuildsTopic(), "*health": app.HealthTopic(),
	} {
		if topic.String() != text || app.ParseTopic(text) != topic {
			t.Errorf("%#v is written as %q and %q is read as %#v", topic, topic, text, app.ParseTopic(text))
		}
		if app.ClusterTopic(text) == topic && text != "web-1" {
			t.Errorf("a cluster's id %q from outside names the topic of others", text)
		}
		if seen[topic] {
			t.Errorf("%q is the topic of two things", text)
		}
		seen[topic] = true
		if (topic == app.TenantTopic("acme")) != topic.OfTenant() {
			t.Errorf("%q: OfTenant is %v", text, topic.OfTenant())
		}
	}
}
