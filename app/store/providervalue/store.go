package providervalue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/providervalue"
	"muster/app/store/db"
	"muster/app/template"
)

// Store keeps provider values.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// place names the values of a cluster to the encryption: none can stand for another's.
func valuesAAD(cluster string) string { return "provider_values/" + cluster }

const columns = `cluster, tenant, provider, encrypted, own_account, changed_at, changed_by`

func scan(row db.Scanner, keys *db.Keyring) (*providervalue.Kept, error) {
	k := &providervalue.Kept{}
	var sealed []byte
	var at int64
	if err := row.Scan(&k.Cluster, &k.Tenant, &k.Provider, &sealed, &k.Account, &at, &k.ChangedBy); err != nil {
		return nil, err
	}
	k.ChangedAt = db.FromMicros(at)
	text, err := keys.Unseal(sealed, valuesAAD(k.Cluster))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &k.Values); err != nil {
		return nil, fmt.Errorf("store: provider values of %s: %w", k.Cluster, err)
	}
	return k, nil
}

// ProviderValues implements providervalue.Store.
func (s *Store) ProviderValues(ctx context.Context, tenant, cluster string) (*providervalue.Kept, error) {
	k, err := scan(s.Row(ctx, `SELECT `+columns+` FROM provider_values WHERE tenant = ? AND cluster = ?`, tenant, cluster), s.Keyring)
	if db.IsNoRows(err) {
		return nil, nil
	}
	return k, err
}

// ProviderAccounts implements providervalue.Store.
func (s *Store) ProviderAccounts(ctx context.Context) (list []providervalue.Kept, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		k := providervalue.Kept{Account: true}
		var at int64
		err := row.Scan(&k.Cluster, &k.Tenant, &k.Provider, &at)
		k.ChangedAt = db.FromMicros(at)
		list = append(list, k)
		return err
	}, `SELECT cluster, tenant, provider, changed_at FROM provider_values WHERE own_account = 1 ORDER BY cluster`)
	return list, err
}

// SetProviderValues implements providervalue.Store.
func (s *Store) SetProviderValues(ctx context.Context, who app.Actor, k providervalue.Kept, changed []string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		var at int64
		err := t.Row(`SELECT changed_at FROM provider_values WHERE tenant = ? AND cluster = ?`, who.Tenant, k.Cluster).Scan(&at)
		if err != nil && !db.IsNoRows(err) {
			return db.Wrapped(err)
		}
		if had := err == nil; had && !k.ChangedAt.IsZero() && at != db.Micros(k.ChangedAt) || !had && !k.ChangedAt.IsZero() {
			return &app.Error{Code: app.EConflict, Message: "The provider values have just changed.", Hint: "Look at them and try again."}
		}
		k.ChangedAt, k.ChangedBy = now, who.Name()
		if len(k.Values) == 0 {
			err = t.Exec(`DELETE FROM provider_values WHERE tenant = ? AND cluster = ?`, who.Tenant, k.Cluster)
		} else {
			err = Put(t, k)
		}
		if err != nil {
			return err
		}
		return t.AddAudit(now, who, "cluster.provider_values", k.Cluster, nil, map[string]any{"changed": changed})
	})
}

// Put writes the values of a cluster, in the transaction of what needs them.
func Put(t *db.Tx, k providervalue.Kept) error {
	return t.Exec(`INSERT INTO provider_values (`+columns+`) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (cluster) DO UPDATE SET encrypted = excluded.encrypted, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
		k.Cluster, k.Tenant, k.Provider, t.Keys.Seal([]byte(db.JSON(k.Values)), valuesAAD(k.Cluster)), db.Flag(k.Account), db.Micros(k.ChangedAt), k.ChangedBy)
}

// Copy sets for a cluster the values of another one, whose machine it takes over.
func Copy(t *db.Tx, from, to string) error {
	k, err := scan(t.Row(`SELECT `+columns+` FROM provider_values WHERE cluster = ?`, from), t.Keys)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	k.Cluster = to
	return Put(t, *k)
}

// Has reports whether a cluster has any.
func Has(t *db.Tx, cluster string) (has bool, err error) {
	err = t.Row(`SELECT EXISTS (SELECT 1 FROM provider_values WHERE cluster = ?)`, cluster).Scan(&has)
	return has, db.Wrapped(err)
}

// Forget drops the values of a cluster whose machines are proven to be gone, and what was kept of its account.
func Forget(t *db.Tx, tenant, cluster string) error {
	var provider string
	err := t.Row(`SELECT provider FROM provider_values WHERE tenant = ? AND cluster = ?`, tenant, cluster).Scan(&provider)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	account := template.ClusterAccountName(tenant, provider, cluster)
	for _, q := range []string{`DELETE FROM accounts WHERE provider = ?`, `DELETE FROM orphans WHERE provider = ?`} {
		if err := t.Exec(q, account); err != nil {
			return err
		}
	}
	return t.Exec(`DELETE FROM provider_values WHERE tenant = ? AND cluster = ?`, tenant, cluster)
}

// DropOf forgets the values of a tenant that is deleted.
func DropOf(t *db.Tx, tenant string) error {
	return t.Exec(`DELETE FROM provider_values WHERE tenant = ?`, tenant)
}
