package bot

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/humanize"
)

// deleteAsk asks for confirmation, since data can't be restored.
func (cs clusters) deleteAsk(ctx context.Context, r request) (Answer, error) {
	if len(r.words) != 1 {
		return Answer{}, r.usage()
	}
	v, err := cs.clusters.Cluster(ctx, r.actor, r.words[0])
	if err != nil {
		return Answer{}, err
	}
	if v.Status == app.ClusterDeleted {
		return Answer{Title: v.Name + " is already deleted"}, nil
	}
	return Answer{Title: "Delete " + v.Name + "?",
		Lines:   []string{lost(v.Cluster)},
		Links:   []Link{{"View cluster", r.Page(app.ClusterSubject(v.ID))}},
		Buttons: []Button{deleteButton(v.Cluster, false)}}, nil
}

func lost(c app.Cluster) string {
	return fmt.Sprintf("All data on its %s will be lost. Owner: %s.", humanize.Count(c.Size, "node"), c.Owner)
}

func deleteButton(c app.Cluster, beside bool) Button {
	d := action{Do: doDelete, Cluster: c.ID, Beside: beside}.button("Delete cluster", true)
	d.Confirm = &Confirm{Title: "Delete " + c.Name + "?", Text: lost(c), Yes: "Delete cluster", No: "Keep cluster"}
	return d
}

func (cs clusters) delete(ctx context.Context, r request, d action) (Answer, error) {
	v, err := cs.deletes.DeleteCluster(ctx, r.actor, d.Cluster)
	if err != nil {
		return Answer{}, err
	}
	if v.Status == app.ClusterDeleted {
		return Answer{Title: v.Name + " is already deleted"}, nil
	}
	return r.begun(v, 0), nil
}
