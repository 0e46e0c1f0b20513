package webhook

import (
	"encoding/json"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/webhook"
)

// buildEvent is the message to a build.
type buildEvent struct {
	Type      string    `json:"type"` // build.ready, build.refused, build.failed, build.ended
	Timestamp time.Time `json:"timestamp"`
	Data      buildData `json:"data"`
}

type buildData struct {
	Build   int64           `json:"build"`
	Hook    string          `json:"hook"`
	Key     string          `json:"key"`
	Name    string          `json:"name,omitempty"` // the build, as its events name it
	Job     string          `json:"job,omitempty"`
	State   app.BuildState  `json:"state"`
	Message string          `json:"message,omitempty"`
	Cluster string          `json:"cluster,omitempty"`
	URL     string          `json:"url,omitempty"` // where it is to be looked at, with its token
	Nodes   []app.BuildNode `json:"nodes,omitempty"`
	// More is how many nodes there are beside those that there was room for.
	More int `json:"more_nodes,omitempty"`
}

// buildBody returns the message to a build. A cluster with more nodes than there is room for is sent with fewer of them.
func buildBody(n app.BuildNews, p Portal) ([]byte, *app.Error) {
	d := buildData{Build: n.Build, Hook: n.Hook, Key: n.Key, Name: n.Name, Job: n.Job, State: n.State, Message: short(n.Message, longestText), Cluster: n.Cluster, Nodes: n.Nodes,
		URL: p.url(app.BuildSubject(n.HookID, n.Build))}
	for {
		b, err := json.Marshal(buildEvent{Type: "build." + string(n.State), Timestamp: n.At, Data: d})
		if err != nil {
			return nil, app.Errorf(app.EInternal, "Can't encode the build hook's message: %w", err)
		}
		if len(b) <= webhook.MaxHookBody {
			return b, nil
		}
		if len(d.Nodes) == 0 {
			return nil, app.Errorf(app.ETooLarge, "The build hook's message is larger than %s.", humanize.Bytes(webhook.MaxHookBody))
		}
		d.Nodes = d.Nodes[:len(d.Nodes)/2]
		d.More = len(n.Nodes) - len(d.Nodes)
	}
}
