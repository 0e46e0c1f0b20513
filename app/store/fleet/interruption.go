package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/health"
	pooldb "muster/app/store/pool"
)

// MarkInterrupted notes which nodes' machines their provider takes away, and of which that came to nothing. The answer are the nodes of which it wasn't known
// before: of several servers one gets them, and that one has written an event of each and a notification. Where nodes are repaired automatically,
// that is due at once. A machine of a pool is given back at once, and the pool makes another.
// Clusters that sleep or that an operation is changing are left as they are.
func (s *Store) MarkInterrupted(ctx context.Context, tenant, id string, all []fleet.Interruption, now time.Time) (newly []string, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		newly = nil
		c, err := cluster.Scan(t.Row(`SELECT `+cluster.Columns+` FROM clusters c WHERE c.tenant = ? AND c.id = ? AND c.deleted_at = 0
			AND c.status IN ('active', 'failed')`, tenant, id))
		if app.CodeOf(cluster.ReadError(err, id)) == app.ENotFound {
			return nil
		}
		if err != nil {
			return db.Wrapped(err)
		}
		var said []string
		for _, i := range all {
			was := "leaves_at = 0 AND lost_at = 0"
			if i.At.IsZero() {
				was = "leaves_at > 0"
			}
			n, err := t.Count(`UPDATE nodes SET leaves_at = ? WHERE cluster = ? AND name = ? AND machine_id = ? AND status = 'ready' AND removal = 0 AND `+was,
				db.Micros(i.At), c.ID, i.Node, i.Machine)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			e := app.Event{At: now, Tenant: tenant, Cluster: c.ID, Kind: app.EventNode, Node: i.Node, Status: string(app.NodeReady)}
			if e.Message = i.Words(now); !i.At.IsZero() {
				newly, said = append(newly, i.Node), append(said, e.Message)
			}
			if err := t.Event(e); err != nil {
				return err
			}
		}
		if len(newly) == 0 {
			return nil
		}
		if c.Pool > 0 {
			return pooldb.MachineLeaves(t, c.ID, now)
		}
		gone := !slices.ContainsFunc(all, func(i fleet.Interruption) bool { return i.At.After(now) })
		auto, err := health.RepairSoon(t, c.ID, now)
		if err != nil {
			return err
		}
		n := app.Notice{At: now, Tenant: tenant, Kind: app.NoticeLost, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
			Title: fmt.Sprintf("%s: %s", c.Name, strings.Join(said[:min(len(said), 3)], " "))}
		if more := len(said) - 3; more > 0 {
			n.Title += fmt.Sprintf(" So will those of %s.", humanize.Count(more, "other node"))
		}
		switch {
		case auto:
			n.Text = "Automatic repair drains and replaces the node, unless it's paused."
			if gone {
				n.Text = "Automatic repair replaces the node, unless it's paused."
			}
		case c.KeptFrom == "" && gone:
			n.Text = fmt.Sprintf("Replace it: muster cluster repair %s %s", c.Name, strings.Join(newly, " "))
		case c.KeptFrom == "":
			n.Text = fmt.Sprintf("Replace it before then: muster cluster repair %s %s", c.Name, strings.Join(newly, " "))
		}
		return t.Notice(n)
	})
	return newly, err
}
