package jobs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
)

// proofsAtOnce is how many clusters are proven to be gone in one go.
const proofsAtOnce = 500

// proofGap is how long after a proof that failed the next one is tried.
const proofGap = 30 * time.Second

// beginProofs proves, account by account, that nothing is left of clusters that were deleted. Each node's delete step has
// proven that its own machine is gone; this is the list of the whole account by the cluster's tag, after the last of them.
// It is not a step of the plan: it is asked for again until it succeeds, also after a restart and after roll-backs, costs
// one list for many clusters, and finds what came up after the last step.
func (r *Reconciler) beginProofs(ctx context.Context) error {
	unproven, err := r.Store.Unproven(ctx, proofsAtOnce)
	if err != nil {
		return err
	}
	by := map[string][]app.Cluster{}
	for _, c := range unproven {
		by[c.Provider] = append(by[c.Provider], c)
	}
	for name, clusters := range by {
		if r.due("proof " + name) {
			r.begin(ctx, "proof "+name, func(ctx context.Context) {
				r.later("proof "+name, time.Now().Add(proofGap))
				err := r.prove(ctx, name, clusters)
				if err == nil {
					r.hurry("proof " + name)
				}
				if ctx.Err() == nil {
					r.say("proving that nothing is left in account "+name, err)
				}
			})
		}
	}
	return nil
}

// prove lists and keeps what came of it. The error is why it cannot be known, or that something is left.
func (r *Reconciler) prove(ctx context.Context, name string, clusters []app.Cluster) error {
	left, times, err := r.left(ctx, name, clusters)
	now := time.Now()
	for _, c := range clusters {
		proof := app.Proof{At: now, How: fmt.Sprintf("Account %s was asked%s for every machine tagged %s=%s and listed none.", name, times, app.TagCluster, c.ID)}
		switch {
		case err != nil:
			proof = app.Proof{How: fmt.Sprintf("Account %s %s", name, app.AsError(err).ForPeople())}
		case len(left[c.ID]) > 0:
			proof = app.Proof{How: fmt.Sprintf("Account %s still lists %s.", name, strings.Join(left[c.ID], ", "))}
		}
		if err := r.Store.SetProof(ctx, c.Tenant, c.ID, proof, now); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(left) > 0 {
		r.hurry(name)
		return app.Errorf(app.ETransient, "machines of %d deleted clusters are still listed", len(left))
	}
	return nil
}

// left gives the ids of machines by cluster that the account lists. Where it lists late, it is asked twice, and what either
// list shows counts.
func (r *Reconciler) left(ctx context.Context, name string, clusters []app.Cluster) (left map[string][]string, times string, err error) {
	cloud, spec, err := r.open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	var ids []string
	for _, c := range clusters {
		ids = append(ids, c.ID)
	}
	handed, err := r.Store.HandedOut(ctx, ids)
	if err != nil {
		return nil, "", err
	}
	left = map[string][]string{}
	for look := 1; ; look++ {
		if err := r.listOf(ctx, cloud, clusters, handed, left); err != nil {
			return nil, "", r.fromHere(spec, err)
		}
		late := app.ListsLate(cloud)
		if late == 0 {
			return left, "", nil
		}
		if look == 2 || len(left) > 0 {
			return left, fmt.Sprintf(" twice, %s apart,", late), nil
		}
		if err := pause(ctx, late); err != nil {
			return nil, "", err
		}
	}
}

// listOf adds what one look finds: a list for each of a few clusters, or one of the whole account for many. Machines that came from pools are known by their intents, since
// their tags may still name the pool's cluster.
func (r *Reconciler) listOf(ctx context.Context, cloud app.Provider, clusters []app.Cluster, handed map[string]string, left map[string][]string) error {
	const few = 3
	tags := []map[string]string{{app.TagInstallation: r.Installation}}
	if len(clusters) <= few && len(handed) == 0 {
		tags = tags[:0]
		for _, c := range clusters {
			tags = append(tags, map[string]string{app.TagInstallation: r.Installation, app.TagCluster: c.ID})
		}
	}
	for _, t := range tags {
		machines, err := cloud.List(ctx, t)
		if err != nil {
			return err
		}
		for _, m := range machines {
			id := m.Tags[app.TagCluster]
			if of := handed[m.Tags[app.TagIntent]]; of != "" {
				id = of
			}
			if slices.ContainsFunc(clusters, func(c app.Cluster) bool { return c.ID == id }) && !slices.Contains(left[id], m.ID) {
				left[id] = append(left[id], m.ID)
			}
		}
	}
	return nil
}
