package execution

import (
	"context"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/db"
)

// keepFacts keeps what a service reported in a step.
func keepFacts(t *db.Tx, d *db.DB, tenant, cluster string, st *ledger.Step, f execution.Finish) error {
	if len(f.Facts) == 0 || st.Service == "" {
		return nil
	}
	var number int64
	err := t.Row(`SELECT number FROM nodes WHERE cluster = ? AND name = ?`, cluster, st.Node).Scan(&number)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	names := slices.Sorted(maps.Keys(f.Facts))
	return t.ExecChunks(len(names), `INSERT INTO service_outputs (cluster, service, name, node, number, tenant, value, secret, at) VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?, ?)`, ` ON CONFLICT (cluster, service, name, node) DO UPDATE SET value = excluded.value, secret = excluded.secret,
		number = excluded.number, at = excluded.at`,
		func(args []any, i int) []any {
			v := f.Facts[names[i]]
			sealed := d.Seal([]byte(v.Text), "node_facts/"+strings.Join([]string{cluster, st.Service, names[i], st.Node}, "/"))
			return append(args, cluster, st.Service, names[i], st.Node, number, tenant, sealed, db.Flag(v.Secret), db.Micros(f.Now))
		})
}

const factColumns = `f.cluster, f.service, f.name, f.node, f.value, f.secret, f.at, f.number`

// factsAtOnce is how many names one query asks for.
const factsAtOnce = 50

// FactsNamed implements execution.FactStore. Each name is found by an index, whatever the size of the cluster.
func (s *Store) FactsNamed(ctx context.Context, tenant, cluster string, names []app.FactName, nodes []string) (list []execution.NodeFact, err error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	for some := range slices.Chunk(names, factsAtOnce) {
		err := db.InChunks(len(nodes), func(first, many int) error {
			var parts []string
			var args []any
			for _, name := range some {
				parts = append(parts,
					`SELECT `+factColumns+` FROM service_outputs f WHERE f.cluster = ? AND f.service = ? AND f.name = ? AND f.tenant = ? AND f.node IN (`+db.Repeated(`?`, many)+`)`,
					`SELECT * FROM (SELECT `+factColumns+` FROM service_outputs f JOIN nodes n ON n.cluster = f.cluster AND n.name = f.node
						WHERE f.cluster = ? AND f.service = ? AND f.name = ? AND f.tenant = ? AND n.status <> 'deleted' ORDER BY f.number LIMIT 1) AS o`)
				args = append(args, cluster, name.Service, name.Name, tenant)
				for _, n := range nodes[first : first+many] {
					args = append(args, n)
				}
				args = append(args, cluster, name.Service, name.Name, tenant)
			}
			return s.Each(ctx, s.factRow(&list), strings.Join(parts, ` UNION ALL `)+` ORDER BY 8`, args...)
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *Store) FactList(ctx context.Context, tenant, cluster string, limit int) ([]execution.NodeFact, error) {
	list, size := []execution.NodeFact{}, 0
	add := s.factRow(&list)
	err := s.Each(ctx, func(row db.Scanner) error {
		if size > maxFactList {
			return nil // facts may be as long as a kubeconfig
		}
		err := add(row)
		if err == nil {
			size += len(list[len(list)-1].Value)
		}
		return err
	}, `SELECT `+factColumns+` FROM service_outputs f JOIN nodes n ON n.cluster = f.cluster AND n.name = f.node
		WHERE f.cluster = ? AND f.tenant = ? AND n.status <> 'deleted' ORDER BY f.number, f.service, f.name LIMIT ?`, cluster, tenant, limit)
	return list, err
}

// maxFactList is how many bytes of values a list has before it's cut.
const maxFactList = 16 << 20

func (s *Store) factRow(list *[]execution.NodeFact) func(db.Scanner) error {
	return func(row db.Scanner) error {
		var f execution.NodeFact
		var cluster string
		var sealed []byte
		var secret, at, number int64
		if err := row.Scan(&cluster, &f.Service, &f.Name, &f.Node, &sealed, &secret, &at, &number); err != nil {
			return err
		}
		value, err := s.Unseal(sealed, "node_facts/"+strings.Join([]string{cluster, f.Service, f.Name, f.Node}, "/"))
		if err != nil {
			return err
		}
		f.Value, f.Secret, f.At = string(value), secret != 0, db.FromMicros(at)
		*list = append(*list, f)
		return nil
	}
}
