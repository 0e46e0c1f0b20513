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

// SecretsCommand holds what whoever runs a server does about its keys. It speaks to the database itself, so it wants the
// server's own settings, and works while servers run.
func SecretsCommand(c *cli.Context) *cobra.Command {
	cmd := cli.Family("secrets", "Look after the keys that the database's secrets are sealed with (on the server's host)",
		secretsStatusCommand(c), secretsRotateCommand(c), secretsRekeyCommand(c))
	cmd.Long = "Secrets in the database are sealed with data keys, which a key-encryption key wraps. These commands speak to the database\n" +
		"itself, with the settings of `muster serve` (MUSTER_SECRET_KEY, DATABASE_URL, MUSTER_DATA), also while servers run."
	return cmd
}

// place returns where the database of this host's server is: DATABASE_URL, or a file in the data directory.
func place(c *cli.Context) (data, where string, err error) {
	if data, err = c.DataDir(); err != nil {
		return "", "", err
	}
	if where = os.Getenv("DATABASE_URL"); where == "" {
		where = filepath.Join(data, DatabaseFile)
	}
	return data, where, nil
}

// ownKey opens the key of this host's server. It makes none.
func ownKey(ctx context.Context, data string) (keyKeeper, error) {
	k, _, err := ExistingKey(ctx, os.Getenv("MUSTER_SECRET_KEY"), data)
	return k, err
}

// keyStore opens the database of the server of this host.
func keyStore(ctx context.Context, c *cli.Context) (*store.Store, func(), error) {
	data, where, err := place(c)
	if err != nil {
		return nil, nil, err
	}
	if os.Getenv("DATABASE_URL") == "" {
		if _, err := os.Stat(where); err != nil {
			return nil, nil, &app.Error{Code: app.ENotFound, Message: "there is no database at " + where,
				Hint: "Name the server's data directory with --data, or its database with DATABASE_URL."}
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
		Use: "status", Short: "Tell how many values are sealed with which key", Args: cli.AtMost(0),
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
				state, age := "old: `muster secrets rotate` seals its values anew", "-"
				switch {
				case u.Newest:
					state = "in use"
				case !u.RetiredAt.IsZero() && u.Values == 0:
					state = "retired"
				}
				if !u.MadeAt.IsZero() {
					age = humanize.Duration(time.Since(u.MadeAt))
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
		Use: "rotate", Short: "Make a new data key, and seal all values anew with it", Args: cli.AtMost(0),
		Long: "Make a new data key, and seal all values anew with it, a hundred in a transaction, while servers run. When it is\n" +
			"interrupted, the next call goes on where it stopped.",
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
					fmt.Fprintf(c.Stderr, "%d of %d values sealed anew\n", n, total)
				}
			})
			if err != nil {
				return err
			}
			if c.JSON() {
				return c.PrintJSON(map[string]int{"values": values, "lost": lost})
			}
			fmt.Fprintf(c.Stdout, "%s sealed with a new data key.\n", humanize.Count(values, "value"))
			if lost > 0 {
				fmt.Fprintf(c.Stdout, "%s could not be opened: the key that sealed them is lost. They were left as they are.\n", humanize.Count(lost, "value"))
			}
			return nil
		},
	}
}

func secretsRekeyCommand(c *cli.Context) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use: "rekey --new-key URL", Short: "Wrap the data keys by another key-encryption key", Args: cli.AtMost(0),
		Long: "Wrap the data keys by another key-encryption key, all of them or none. Servers that run go on; give them the new key as\n" +
			"MUSTER_SECRET_KEY before they are started again. --new-key is file:///PATH (made when it is absent), the URL of a key\n" +
			"service, or env:NAME of a variable that holds one of these or 64 hex digits. A key itself never stands on a command line.",
		Example: "  muster secrets rekey --new-key awskms://alias/muster?region=eu-central-1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			next := to
			if name, env := strings.CutPrefix(to, "env:"); env {
				next = os.Getenv(name)
				if next == "" {
					return cli.Usagef("the variable %s is empty", name)
				}
			} else if hexKey.MatchString(to) || strings.HasPrefix(to, "base64key:") {
				return cli.Usagef("a key on a command line can be read by everybody on this host").Hint("Put it into a variable, and name that with --new-key env:NAME; then make a new key, for this one was seen.")
			}
			if next == "" {
				return cli.Usagef("--new-key is needed")
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
			fmt.Fprintf(c.Stdout, "%s wrapped by %s.\n", humanize.Count(n, "data key"), keeper.Name())
			if made {
				fmt.Fprintln(c.Stdout, "The file of the new key was made just now: keep a copy of it elsewhere.")
			}
			fmt.Fprintln(c.Stdout, "Start servers with the new key from now on (MUSTER_SECRET_KEY). The old one opens nothing any more.")
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "new-key", "", "`URL` of the new key, or env:NAME")
	return cmd
}
