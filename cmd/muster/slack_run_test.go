//go:build linux

package main

import (
	"strings"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
)

// acting is a template with an action that prints a value of the configuration, and fails on the node that it's asked to fail on.
const acting = `---
kind: template
name: acting
defaults: {services: [slow], provider: cloud}
constraints: {size: {min: 1, max: 20}}
actions:
- name: hello
  parameters: [{name: who, type: text, required: true}]
  run: |
    echo "hello $CONFIG_PARAMETER_WHO at $CONFIG_GREETING from $MUSTER_NODE"
    [ "$CONFIG_PARAMETER_WHO" != "$MUSTER_NODE" ] || exit 3
`

// TestSlackActions runs a template's action on real nodes from Slack. Everyone in the channel sees the card, so it shows no configuration.
func TestSlackActions(t *testing.T) {
	t.Parallel()
	w := newChatServer(t, false)
	ada, ops := w.team.User("ada"), w.ops
	owner := w.account("ada", app.RoleUser)
	w.link(ada, owner)
	if _, err := w.server.Services.Cluster.Creates.CreateCluster(t.Context(), owner, cluster.CreateRequest{Name: "shop", Request: layout.Request{Template: "acting", Size: 2},
		Config: map[string]any{"greeting": "Copperfield Street 9"}}); err != nil {
		t.Fatal(err)
	}
	w.until("the cluster is active", func() bool {
		v, err := w.server.Services.Cluster.Views.Cluster(t.Context(), owner, "shop")
		return err == nil && v.Status == app.ClusterActive
	})
	ada.Press(ada.In(ops).Says("/muster run shop hello who=bob").Answer("Runs on 2 nodes: n1 and n2.", "With who=bob."), "Run action").
		Answer("shop: running action hello")
	good := ops.Card("shop: action hello succeeded", "2 of 2 nodes", "2 succeeded")
	ada.Press(ada.In(ops).Says("/muster run shop hello who=n2").Answer("With who=n2."), "Run action").Answer("shop: running action hello")
	bad := ops.Card("shop: action hello failed on 1 of 2 nodes", "1 succeeded, 1 failed", "✗ n2: exit code 3", "n2 | hello n2 at")
	for _, text := range []string{good.Text(), bad.Text()} {
		if strings.Contains(text, "Copperfield") || strings.Contains(text, "hello bob at") {
			t.Errorf("everyone in the channel sees the configuration, or output that needs no look:\n%s", text)
		}
	}
}
