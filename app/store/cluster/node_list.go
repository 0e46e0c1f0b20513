package cluster

import (
	"context"
	"encoding/json"
	"strings"

	"muster/app/node"
	"muster/app/store/db"
)

// containing is what LIKE ... ESCAPE '!' compares with, for texts that contain a part, in lower case.
func containing(part string) string { return "%" + db.LikeEscaper.Replace(strings.ToLower(part)) + "%" }

func nodesWhere(tenant string, f node.Filter) (where string, args []any) {
	where, args = "c.tenant = ? AND c.pool = 0 AND c.deleted_at = 0 AND n.tenant = c.tenant AND n.removal < 2 AND n.status <> 'deleted'", []any{tenant}
	and := func(clause string, more ...any) { where, args = where+" AND "+clause, append(args, more...) }
	for _, exact := range [][2]string{{"c.owner", f.Owner}, {"c.template", f.Template}, {"c.provider", f.Provider}, {"n.hardware", f.Hardware},
		{"n.image", f.Image}, {"n.zone", f.Zone}} {
		if exact[1] != "" {
			and(exact[0]+" = ?", exact[1])
		}
	}
	switch f.State {
	case "":
	case node.StateLost:
		and("n.lost_at > 0")
	default:
		and("n.status = ? AND n.lost_at = 0", f.State)
	}
	if f.Cluster != "" {
		and("(c.id = ? OR c.name = ?)", f.Cluster, f.Cluster)
	}
	if f.Service != "" { // services are a JSON list of names, which have no quotes
		quoted, _ := json.Marshal(f.Service)
		and("lower(n.services) LIKE ? ESCAPE '!'", containing(string(quoted)))
	}
	if f.Text != "" {
		like := containing(f.Text)
		and(`(lower(n.hostname) LIKE ? ESCAPE '!' OR lower(n.machine_id) LIKE ? ESCAPE '!' OR lower(n.addresses) LIKE ? ESCAPE '!' OR lower(c.name) LIKE ? ESCAPE '!')`,
			like, like, like, like)
	}
	may, mine := Readable(f.Reader)
	return where + may, append(args, mine...)
}

func (s *Store) ListNodes(ctx context.Context, tenant string, f node.Filter) ([]node.Listed, error) {
	where, args := nodesWhere(tenant, f)
	if id, number, _ := f.Start(); id != "" {
		var at int64
		may, mine := Readable(f.Reader)
		err := s.Row(ctx, `SELECT c.number FROM clusters c WHERE c.tenant = ? AND c.id = ?`+may, append([]any{tenant, id}, mine...)...).Scan(&at)
		if err := ReadError(err, id); err != nil {
			return nil, err
		}
		where, args = where+` AND (c.number < ? OR c.number = ? AND n.number > ?)`, append(args, at, at, number)
	}
	list := []node.Listed{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var l node.Listed
		n, err := ScanNode(row, &l.ClusterName, &l.Owner, &l.Template, &l.Provider)
		if err != nil {
			return err
		}
		l.Cluster, l.Name, l.Hostname, l.State, l.Hardware, l.Image, l.Zone = n.Cluster, n.Name, n.Hostname, n.State(), n.Hardware, n.Image, n.Zone
		l.Services, l.MachineID, l.Addresses, l.Leaving, l.LostAt, l.LeavesAt = n.Services, n.MachineID, n.Addresses, n.Leaving, n.LostAt, n.LeavesAt
		list = append(list, l)
		return nil
	}, `SELECT `+nodeColumnsOf("n")+`, c.name, c.owner, c.template, c.provider FROM clusters c JOIN nodes n ON n.cluster = c.id
		WHERE `+where+` ORDER BY c.number DESC, n.number LIMIT ?`, append(args, f.Limit)...)
	return list, err
}

// nodeColumnsOf are NodeColumns of a table with an alias.
func nodeColumnsOf(alias string) string {
	names := strings.Split(NodeColumns, ",")
	for i, name := range names {
		names[i] = alias + "." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}

var _ node.Store = (*Store)(nil)
