package database

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/humanize"
	"muster/app/store"
	"muster/cmd/muster/cli"
)

// SecretsCommand manages a server's encryption keys. It connects to the database itself, so it needs the server's settings, and works
// while servers run.
func SecretsCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("secrets", "Manage the encryption keys of the database's secrets (on the server's host)",
		secretsStatusCommand(c), secretsRotateCommand(c), secretsRekeyCommand(c))
	cmd.Long = "Manage encryption keys. Secrets in the database are encrypted with data keys, which are wrapped by a key-encryption key. These commands\n" +
		"connect to the database itself, with the settings of `muster serve` (MUSTER_SECRET_KEY, DATABASE_URL, MUSTER_DATA). Servers can keep running."
	return cmd
}

// place returns the location of this host's database: DATABASE_URL, or a file in the data directory.
func place(c *cli.Context) (data, where string, err error) {
	if data, err = c.DataDir(); err != nil {
		return "", "", err
	}
	if where = os.Getenv("DATABASE_URL"); where == "" {
		where = filepath.Join(data, DatabaseFile)
	}
	return data, where, nil
}

// ownKey opens the key of this host's server. It doesn't create one.
func ownKey(ctx context.Context, data string) (keyKeeper, error) {
	k, _, err := ExistingKey(ctx, os.Getenv("MUSTER_SECRET_KEY"), data)
	return k, err
}

// keyStore opens the database of this host's server.
func keyStore(ctx context.Context, c *cli.Context) (*store.Store, func(), error) {
	data, where, err := place(c)
	if err != nil {
		return nil, nil, err
	}
	if os.Getenv("DATABASE_URL") == "" {
		if _, err := os.Stat(where); err != nil {
			return nil, nil, &app.Error{Code: app.ENotFound, Message: "database " + where + " doesn't exist",
				Hint: "Set --data to the server's data directory, or DATABASE_URL to its database."}
		}
	}
	keeper, err := ownKey(ctx, data)
	if err != nil {
		return nil, nil, err
	}
	s, err := store.OpenWith(ctx, where, keeper)
	if err != nil {
		_ = keeper.Close()
		return nil, nil, err
	}
	return s, func() { _ = s.Close(); _ = keeper.Close() }, nil
}

func secretsStatusCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show data keys and how many values each encrypts", Args: cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, done, err := keyStore(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer done()
			uses, err := s.KeyUses(cmd.Context())
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"keys": uses})
			}
			t := cli.NewTable("KEY>", "WRAPPED BY", "AGE>", "VALUES>", "STATE")
			for _, u := range uses {
				state, age := "old; re-encrypt with `muster secrets rotate`", "-"
				switch {
				case u.Newest:
					state = "in use"
				case !u.RetiredAt.IsZero() && u.Values == 0:
					state = "retired"
				}
				if !u.CreatedAt.IsZero() {
					age = humanize.Duration(time.Since(u.CreatedAt))
				}
				id := fmt.Sprint(u.ID)
				if u.ID == 0 {
					id = "-"
				}
				t.Add(id, u.Keeper, age, fmt.Sprint(u.Values), state)
			}
			return t.Show(c)
		},
	}
}

func secretsRotateCommand(c *cli.Context) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Rotate the data key and re-encrypt all secrets", Args: cli.AtMost(0),
		Long: "Create a new data key and re-encrypt all secrets with it, a hundred per transaction. Servers can keep running. If interrupted, the next\n" +
			"run continues.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, done, err := keyStore(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer done()
			values, shown := 0, time.Time{}
			lost, err := s.RotateKeys(cmd.Context(), func(n, total int) {
				if values = n; time.Since(shown) > time.Second || n == total {
					shown = time.Now()
					fmt.Fprintf(c.Stderr, "%d of %d values re-encrypted\n", n, total)
				}
			})
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]int{"values": values, "lost": lost})
			}
			fmt.Fprintf(c.Stdout, "Re-encrypted %s with a new data key.\n", humanize.Count(values, "value"))
			if lost > 0 {
				fmt.Fprintf(c.Stdout, "Couldn't decrypt %s because the data key is lost; nothing was changed there.\n", humanize.Count(lost, "value"))
			}
			return nil
		},
	}
}

func secretsRekeyCommand(c *cli.Context) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "rekey --new-key URL", Short: "Change the key-encryption key", Args: cli.AtMost(0),
		Long: "Wrap all data keys with a new key-encryption key, in one transaction. Running servers keep working; set their MUSTER_SECRET_KEY to the\n" +
			"new key before you restart them. --new-key is file:///PATH (created if missing), the URL of a key service, or env:NAME, where the\n" +
			"variable NAME is set to one of these or to 64 hex digits. Don't put a key itself on the command line.",
		Example: "  muster secrets rekey --new-key awskms://alias/muster?region=eu-central-1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			next := to
			if name, env := strings.CutPrefix(to, "env:"); env {
				next = os.Getenv(name)
				if next == "" {
					return cli.Usagef("the variable %s is empty", name)
				}
			} else if hexKey.MatchString(to) || strings.HasPrefix(to, "base64key:") {
				return cli.Usagef("other users on this host can read a key on the command line").Hint("Generate another key, since this one was exposed, and pass it in a variable: --new-key env:NAME.")
			}
			if next == "" {
				return cli.Usagef("--new-key is required")
			}
			keeper, made, err := OpenKey(cmd.Context(), next, "")
			if err != nil {
				return err
			}
			defer keeper.Close()
			s, done, err := keyStore(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer done()
			n, err := s.Rekey(cmd.Context(), keeper)
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]any{"data_keys": n, "keeper": keeper.Name()})
			}
			fmt.Fprintf(c.Stdout, "Wrapped %s with %s.\n", humanize.Count(n, "data key"), keeper.Name())
			if made {
				fmt.Fprintln(c.Stdout, "The new key's file was created: keep a copy of it elsewhere.")
			}
			fmt.Fprintln(c.Stdout, "Start servers with the new key from now on (MUSTER_SECRET_KEY). The old key no longer works.")
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "new-key", "", "`URL` of the new key, or env:NAME")
	return cmd
}
