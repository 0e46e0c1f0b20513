package bot

import (
	"context"
	"net/url"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

// maxUnfurled limits the previews in one message.
const maxUnfurled = 5

// Unfurl shows only the cluster's name, state and size, since everyone in the channel sees the preview: no owner, cost, addresses or messages.
func (b *Bot) Unfurl(ctx context.Context, p Person, urls []string) []Unfurl {
	actor, err := b.accounts.actor(ctx, p)
	if err != nil {
		return nil
	}
	return b.clusters.unfurl(ctx, b.request(p, actor), urls)
}

func (cs clusters) unfurl(ctx context.Context, r request, urls []string) []Unfurl {
	var list []Unfurl
	for _, u := range urls {
		id, ok := r.clusterOf(u)
		if !ok || len(list) == maxUnfurled {
			continue
		}
		v, err := cs.clusters.Cluster(ctx, r.actor, id)
		if err != nil {
			continue // deleted, or not visible to this person
		}
		if v.Visibility != app.VisibleTenant {
			continue // others in the channel may not see it
		}
		var op *app.Operation
		if len(v.Operations) > 0 {
			op = &v.Operations[0]
		}
		list = append(list, Unfurl{URL: u, Title: v.Name + " is " + word(v.Cluster, op), Lines: []string{humanize.Count(v.Size, "node") + " from " + v.Template},
			Link: Link{"View cluster", r.Page(app.ClusterSubject(v.ID))}})
	}
	return list
}

// word is a cluster's state, to follow "is".
func word(c app.Cluster, op *app.Operation) string {
	switch c.Status {
	case app.ClusterPending:
		return "being changed"
	case app.ClusterFailed:
		return "unhealthy"
	case app.ClusterDeleted:
		return "deleted"
	}
	return c.StatusWord(op)
}

// clusterOf returns the cluster whose portal page an address leads to.
func (s *site) clusterOf(address string) (id string, ok bool) {
	at, err := url.Parse(address)
	ours, e := url.Parse(s.Page(app.ClusterSubject("")))
	if err != nil || e != nil || at.Scheme != ours.Scheme || !strings.EqualFold(at.Host, ours.Host) || at.User != nil || ours.Host == "" {
		return "", false
	}
	rest, ok := strings.CutPrefix(at.EscapedPath(), ours.EscapedPath())
	if !ok {
		return "", false
	}
	id, _, _ = strings.Cut(rest, "/")
	if id, err = url.PathUnescape(id); err != nil || id == "" || id == "new" || len(id) > 200 {
		return "", false
	}
	return id, true
}
