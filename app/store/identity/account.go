package identity

import (
	"context"
	"fmt"
)

// AccountUsed reports whether a machine was ever asked for in an account, or the account was managed before. After a restore every account counts as used:
// machines may be there of which this ledger does not know.
func (s *Store) AccountUsed(ctx context.Context, account string) (used bool, err error) {
	// Intents name the provider as the cluster does, whichever account of that name it is.
	err = s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM intents i JOIN clusters c ON c.id = i.cluster WHERE i.provider = ? OR c.tenant || '/' || i.provider = ?)
		OR EXISTS (SELECT 1 FROM accounts WHERE provider = ?) OR EXISTS (SELECT 1 FROM operations WHERE kind = 'restore')`, account, account, account).Scan(&used)
	if err != nil {
		return false, fmt.Errorf("store: account used: %w", err)
	}
	return used, nil
}
