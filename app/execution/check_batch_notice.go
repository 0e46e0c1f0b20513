package execution

import (
	"context"
	"slices"
	"time"

	"muster/app"
	"muster/app/layout"
	"muster/app/template"
)

// NoticeSource is a cloud whose machines can ask its metadata service whether they are taken away.
type NoticeSource string

// The clouds with such a service, by the types of their providers.
const (
	NoticeAWS    NoticeSource = "aws"
	NoticeGoogle NoticeSource = "google"
)

// longestNotice is how far ahead an interruption may be announced, and latestNotice how long ago it may have been; the nodes are the tenant's, which may say
// anything.
const (
	longestNotice = time.Hour
	latestNotice  = 5 * time.Minute
)

// askNotices says which nodes of a check batch are to ask: spot machines of clouds that tell those only. Where the provider
// isn't in the catalog any more, none.
func (a *Service) askNotices(ctx context.Context, c *ClaimedCheckBatch, r *CheckBatch) error {
	catalog, err := a.Catalogs.CatalogOf(ctx, c.Cluster.Tenant)
	if err != nil {
		return err
	}
	spec := catalog.Providers[c.Cluster.Provider]
	if spec == nil {
		return nil
	}
	for i, n := range r.Nodes {
		if n.Node.LeavesAt.IsZero() {
			r.Nodes[i].Notice = noticeSource(spec, c.Definition.Hardware[n.Node.Hardware])
		}
	}
	return nil
}

// noticeSource is where a machine of a flavor asks; "" where it isn't a spot machine, or its cloud has no such service.
func noticeSource(spec *template.ProviderSpec, f template.Flavor) NoticeSource {
	source := NoticeSource(spec.Type)
	if !slices.Contains([]NoticeSource{NoticeAWS, NoticeGoogle}, source) || layout.PricingOf(f, spec) == layout.PricingOnDemand {
		return ""
	}
	return source
}

// noteNotices keeps what machines of an ended check batch know of their end.
func (a *Service) noteNotices(ctx context.Context, o CheckBatchOutcome) error {
	var all []app.Interruption
	for _, i := range o.Interrupted {
		if left := i.At.Sub(o.Now); !i.At.IsZero() && left <= longestNotice && left >= -latestNotice {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err := a.Rounds.MarkInterrupted(ctx, o.Tenant, o.Cluster, all, o.Now)
	return err
}
