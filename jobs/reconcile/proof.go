package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/jobs/internal/loop"
)

// proofsAtOnce is how many clusters are proven to be gone in one go.
const proofsAtOnce = 500

// beginProofs proves, account by account, that nothing is left of clusters that were deleted. Each node's delete step has
// proven that its own machine is gone; this is the list of the whole account by the cluster's tag, after the last of them.
// It is not a step of the plan: it is asked for again until it succeeds, also after a restart and after rollbacks, costs
// one list for many clusters, and finds what came up after the last step.
func (r *Reconciler) beginProofs(ctx context.Context) error {
	unproven, err := r.Proofs.Unproven(ctx, proofsAtOnce)
	if err != nil {
		return err
	}
	if len(unproven) > 0 {
		// A cluster that came after the last look may have an account of its own: it must not be looked for in the provider's.
		if err := r.learnAccounts(ctx); err != nil {
			return err
		}
	}
	by := map[string][]app.Cluster{}
	for _, c := range unproven {
		by[r.accountOf(c)] = append(by[r.accountOf(c)], c)
	}
	for name, clusters := range by {
		if r.due("proof " + name) {
			r.begin(ctx, "proof "+name, func(ctx context.Context) {
				r.later("proof "+name, time.Now().Add(fleet.ProofGap))
				err := r.prove(ctx, name, clusters)
				if err == nil {
					r.schedule("proof " + name)
				}
				if ctx.Err() == nil {
					r.say("Proving that account "+name+" is empty", err)
				}
			})
		}
	}
	return nil
}

// prove lists and keeps what came of it. The error is why it cannot be known, or that something is left.
func (r *Reconciler) prove(ctx context.Context, name string, clusters []app.Cluster) error {
	left, times, err := r.left(ctx, name, clusters)
	removed, kept := map[string][]string{}, map[string]string{}
	if err == nil {
		removed, kept, err = r.clearShared(ctx, name, clusters, left)
	}
	now := time.Now()
	for _, c := range clusters {
		proof := fleet.Proof{At: now, How: fmt.Sprintf("Account %s was queried%s for machines tagged %s=%s and listed none.", name, times, family.TagCluster, c.ID)}
		if gone := removed[c.ID]; len(gone) > 0 {
			proof.How += fmt.Sprintf(" Their shared resources were deleted: %s.", strings.Join(gone, ", "))
		}
		switch {
		case err != nil:
			why := app.AsError(err).ForPeople()
			if !strings.HasPrefix(why, cannotList) {
				why = "can't be checked: " + why
			}
			proof = fleet.Proof{How: fmt.Sprintf("Account %s %s", name, why)}
		case kept[c.ID] != "":
			proof = fleet.Proof{How: fmt.Sprintf("Account %s lists no machines, but %s", name, kept[c.ID])}
		case len(left[c.ID]) > 0:
			proof = fleet.Proof{How: fmt.Sprintf("Account %s still lists %s.", name, strings.Join(left[c.ID], ", "))}
		}
		if err := r.Proofs.SetProof(ctx, c.Tenant, c.ID, proof, now); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if len(left) > 0 {
		r.schedule(name)
		return app.Errorf(app.ETransient, "machines of %s are still listed", humanize.Count(len(left), "deleted cluster"))
	}
	if len(kept) > 0 {
		return app.Errorf(app.ETransient, "shared resources of %s still exist", humanize.Count(len(kept), "deleted cluster"))
	}
	return nil
}

// clearShared removes what the machines of clusters shared that have none any more, such as firewalls, and returns it by cluster; and for those
// of which something stays, why. An account that makes no such things has nothing to remove.
func (r *Reconciler) clearShared(ctx context.Context, name string, clusters []app.Cluster, left map[string][]string) (removed map[string][]string, kept map[string]string, err error) {
	removed, kept = map[string][]string{}, map[string]string{}
	cloud, spec, err := r.open(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	sharer, ok := cloud.(family.Sharer)
	if !ok {
		return removed, kept, nil
	}
	tags := map[string]string{family.TagInstallation: r.Installation}
	if len(clusters) == 1 {
		tags[family.TagCluster] = clusters[0].ID
	}
	things, err := sharer.Shared(ctx, tags)
	if err != nil {
		return nil, nil, r.fromHere(spec, err)
	}
	for _, t := range things {
		id := t.Tags[family.TagCluster]
		if t.Tags[family.TagInstallation] != r.Installation || len(left[id]) > 0 || !slices.ContainsFunc(clusters, func(c app.Cluster) bool { return c.ID == id }) {
			continue
		}
		if err := sharer.DeleteShared(ctx, t.ID); err != nil {
			if ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			kept[id] = fmt.Sprintf("%s %s stays: %s", t.Kind, t.Name, app.AsError(err).ForPeople())
			continue
		}
		r.Log.Info("shared resource of a deleted cluster deleted", "provider", name, "kind", t.Kind, "name", t.Name, "cluster", id)
		removed[id] = append(removed[id], t.Kind+" "+t.Name)
	}
	return removed, kept, nil
}

// left returns the ids of machines by cluster that the account lists. Where it lists late, it is asked twice, and what either
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
	handed, err := r.Proofs.AssignedIntents(ctx, ids)
	if err != nil {
		return nil, "", err
	}
	left = map[string][]string{}
	for look := 1; ; look++ {
		if err := r.listOf(ctx, cloud, clusters, handed, left); err != nil {
			return nil, "", r.fromHere(spec, err)
		}
		late := family.ListsLate(cloud)
		if late == 0 {
			return left, "", nil
		}
		if look == 2 || len(left) > 0 {
			return left, fmt.Sprintf(" twice, %s apart,", humanize.Duration(late)), nil
		}
		if err := loop.Pause(ctx, late); err != nil {
			return nil, "", err
		}
	}
}

// listOf adds what one look finds: a list for each of a few clusters, or one of the whole account for many. Machines that came from pools are known
// by their intents, since
// their tags may still name the pool's cluster.
func (r *Reconciler) listOf(ctx context.Context, cloud family.Provider, clusters []app.Cluster, handed map[string]string, left map[string][]string) error {
	const few = 3
	tags := []map[string]string{{family.TagInstallation: r.Installation}}
	if len(clusters) <= few && len(handed) == 0 {
		tags = tags[:0]
		for _, c := range clusters {
			tags = append(tags, map[string]string{family.TagInstallation: r.Installation, family.TagCluster: c.ID})
		}
	}
	for _, t := range tags {
		machines, err := cloud.List(ctx, t)
		if err != nil {
			return err
		}
		for _, m := range machines {
			id := m.Tags[family.TagCluster]
			if of := handed[m.Tags[family.TagIntent]]; of != "" {
				id = of
			}
			if slices.ContainsFunc(clusters, func(c app.Cluster) bool { return c.ID == id }) && !slices.Contains(left[id], m.ID) {
				left[id] = append(left[id], m.ID)
			}
		}
	}
	return nil
}
