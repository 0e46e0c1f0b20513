package db

import (
	"context"
	"encoding/hex"

	"muster/app"
)

// The row key_check of settings is sealed. Before there were data keys it reported whether a key was the one that a database was
// made with; now it also is the switch by which someone says that a key is lost.
const (
	keyCheckRow  = "key_check"
	keyCheckText = "muster"
)

func (s *DB) hasKeyCheck(ctx context.Context) (there bool, err error) {
	err = s.Reads.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM settings WHERE name = ?)`, keyCheckRow).Scan(&there)
	return there, err
}

// oldCheck reports whether the row of a database without data keys opens.
func (s *DB) oldCheck(ctx context.Context) bool {
	var sealed string
	if err := s.Reads.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = ?`, keyCheckRow).Scan(&sealed); err != nil {
		return false
	}
	b, err := hex.DecodeString(sealed)
	if err == nil {
		_, err = s.Unseal(b, "settings/"+keyCheckRow)
	}
	return err == nil
}

// checkKey makes sure that the key is the one that the database was made with: else some secrets would be sealed under
// one key and some under another, and no one would notice before they are needed.
func (s *DB) checkKey(ctx context.Context) error {
	if err := s.openKeys(ctx); err != nil {
		return err
	}
	b, err := s.SealedSetting(ctx, keyCheckRow, []byte(keyCheckText))
	if err == nil && string(b) != keyCheckText {
		return wrongKey("")
	}
	if err != nil && app.CodeOf(err) == app.EInternal {
		return wrongKey("")
	}
	return err
}

// SealedSetting returns a row of settings that is sealed; where there is none, it is made of the secret.
func (s *DB) SealedSetting(ctx context.Context, row string, secret []byte) ([]byte, error) {
	var sealed string
	err := s.Write(ctx, func(t *Tx) error {
		if err := t.Exec(`INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`,
			row, hex.EncodeToString(s.Seal(secret, "settings/"+row))); err != nil {
			return err
		}
		return t.Row(`SELECT value FROM settings WHERE name = ?`, row).Scan(&sealed)
	})
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(sealed)
	if err != nil {
		return nil, app.Errorf(app.EInternal, "store: setting %s: %w", row, err)
	}
	return s.Unseal(b, "settings/"+row)
}
