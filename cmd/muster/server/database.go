package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"muster/app"
	"muster/app/store"
	"muster/app/store/db"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/database"
)

// upToDate rejects a database with pending migrations.
func upToDate(ctx context.Context, where string) error {
	found, err := db.Inspect(ctx, where)
	if err != nil && app.AsError(err).Reason != "no_database" {
		return err
	}
	if err == nil && found.Made && len(found.Pending) == 0 {
		return nil
	}
	return &app.Error{Code: app.EConflict, Reason: "not_migrated", Message: "The database has pending migrations, and --no-migrate is set.",
		Hint: "Run `muster migrate up`, or start without --no-migrate."}
}

func (s *Server) openStore(ctx context.Context) (err error) {
	if s.id, err = serverID(filepath.Join(s.Data, "server.id")); err != nil {
		return err
	}
	keeper, made, err := database.OpenKey(ctx, s.Key, s.Data)
	if err != nil {
		return err
	}
	s.onClose(keeper.Close)
	where := s.Database
	s.StoreNote = "PostgreSQL at DATABASE_URL"
	if where == "" {
		where, s.StoreNote = filepath.Join(s.Data, database.DatabaseFile), "SQLite in the data directory"
	}
	if s.NoMigrate {
		if err := upToDate(ctx, where); err != nil {
			return err
		}
	}
	s.Store, err = store.OpenWith(ctx, where, keeper)
	var refused *app.Error
	if made && errors.As(err, &refused) && refused.Reason == "wrong_key" {
		// Don't leave a useless key in the data directory.
		_ = os.Remove(filepath.Join(s.Data, database.KeyFile))
		return &app.Error{Code: app.EConflict, Reason: "wrong_key", Message: "This server has no secret key, but the database was created with one.",
			Hint: "Set the same MUSTER_SECRET_KEY on all servers of a database: the 64 hex digits of secret.key\n" +
				"in the data directory of the first server."}
	}
	if err != nil {
		return err
	}
	s.Store.SetCurrency(s.Currency)
	s.onClose(s.Store.Close)
	return s.openEmail(ctx)
}

// serverID returns the id of this server, or rather of its data directory, among those on the same database. A missing one is created.
func serverID(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err == nil {
		if id := strings.TrimSpace(string(b)); len(id) >= 10 && len(id) <= 64 && !strings.ContainsAny(id, ": \n") {
			return id, nil
		}
		err = fs.ErrNotExist // truncated, or not ours: a new one does no harm
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("data directory: %w", err)
	}
	id := strings.ToLower(rand.Text()[:12])
	return id, cli.WritePrivate(file, []byte(id+"\n"))
}
