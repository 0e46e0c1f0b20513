package quarantine

import (
	"context"
	"encoding/json"
	"slices"

	"muster/app"
	"muster/app/quarantine"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
)

// KeptCount implements quarantine.DraftStore.
func (s *Store) KeptCount(ctx context.Context, tenant string) (n int, err error) {
	err = s.Row(ctx, `SELECT count(*) FROM clusters WHERE tenant = ? AND kept_from <> '' AND deleted_at = 0`, tenant).Scan(&n)
	return n, db.Wrapped(err)
}

// KeptMachines implements quarantine.Store.
func (s *Store) KeptMachines(ctx context.Context, tenant string, reader *app.ClusterReader, from string, limit int) ([]quarantine.Machine, error) {
	query, args := keptQuery(tenant, reader, from, limit)
	list := []quarantine.Machine{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var m quarantine.Machine
		var addresses []byte
		var access app.Access
		c, err := clusterdb.Scan(row, &m.FromName, &m.FromDeleted, &m.MachineID, &m.Hardware, &addresses, &m.SSHUser, &access)
		if err != nil {
			return err
		}
		c.Access = clusterdb.AccessOf(reader, c, access)
		node := app.Node{}
		if err := json.Unmarshal(addresses, &node.Addresses); err != nil {
			return err
		}
		m.Cluster, m.Address = c, node.Address(app.AddressAccess)
		list = append(list, m)
		return nil
	}, query, args...)
	return list, err
}

// keptQuery lists the machines of a tenant, or those that were kept from one cluster.
func keptQuery(tenant string, reader *app.ClusterReader, from string, limit int) (string, []any) {
	may, mine := clusterdb.Readable(reader)
	shared, of := clusterdb.SharedWith(reader)
	where, args := ``, []any{tenant}
	if from != "" {
		where, args = ` AND c.kept_from = ?`, append(args, from)
	}
	return `SELECT ` + clusterdb.Columns + `, coalesce(f.name, ''), CASE WHEN coalesce(f.deleted_at, 1) > 0 THEN TRUE ELSE FALSE END, n.machine_id, n.hardware,
			n.addresses, n.ssh_user, ` + shared + ` FROM clusters c JOIN nodes n ON n.cluster = c.id LEFT JOIN clusters f ON f.id = c.kept_from
		WHERE c.tenant = ? AND c.kept_from <> '' AND c.deleted_at = 0` + where + may + ` ORDER BY c.number DESC LIMIT ?`,
		slices.Concat(of, args, mine, []any{limit})
}
