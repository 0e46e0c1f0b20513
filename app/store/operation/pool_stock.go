package operation

import (
	"time"

	"muster/app/cluster"
	apppool "muster/app/pool"
	"muster/app/store/db"
)

// poolMargin is for how long a machine has to be young enough yet to be handed out: the pool may be about to give it back.
const poolMargin = time.Minute

// PoolStock reads the machines of pools that are ready, by their shape.
func PoolStock(each func(func(db.Scanner) error, string, ...any) error, tenant string, shapes []string, now time.Time) (list []cluster.PoolStocked, err error) {
	for _, shape := range shapes {
		if err := each(func(row db.Scanner) error {
			m := cluster.PoolStocked{Shape: shape}
			err := row.Scan(&m.Cluster, &m.Pool, &m.Zone)
			list = append(list, m)
			return err
		}, `SELECT m.cluster, p.name, m.zone FROM pool_machines m JOIN pools p ON p.id = m.pool
			WHERE m.tenant = ? AND m.shape = ? AND m.state = 'ready' AND m.expires_at > ? ORDER BY m.ready_at, m.cluster LIMIT ?`,
			tenant, shape, db.Micros(now.Add(poolMargin)), 4*apppool.MaxPoolCount); err != nil {
			return nil, err
		}
	}
	return list, nil
}
