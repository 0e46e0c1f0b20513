package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/database"
	"muster/cmd/muster/server"

	"github.com/spf13/cobra"
)

// How a check came out.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	CheckFail = "fail"
)

// checked is what one check has found.
type checked struct {
	About   string `json:"about"`
	State   string `json:"state"` // ok, warn or fail
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

// Doctor looks at what a server would be started with. Nothing that it does changes anything, but for a few bytes that are written to the place for
// contents and taken
// away again.
type Doctor struct {
	Config    server.Config
	wrong     error // with the flags and the environment
	where     string
	patience  time.Duration // of each check
	providers bool
	server    string // a running one that is asked, too; "": none
	ca        string

	now func() time.Time

	loaded     *template.Catalog // nil until it was read
	inspection db.Inspection     // once the database was looked at
}

func Command(c *cli.Context) *cobra.Command {
	var f server.ServeFlags
	d := Doctor{now: time.Now}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor [the flags of serve]", Short: "Look whether a server would do with these settings, and say what to change (on the server's host)", Args: cli.AtMost(0),
		Long: "Look whether a server would do with these settings: configuration, catalog, data directory, database and its migrations, key, Redis, the place for\n" +
			"contents, TLS, addresses, clocks, limits of the process, and what is set of sign-in, Slack and traces. It takes the flags and the environment\n" +
			"of `muster serve`, also beside a server that runs. Each check has a time limit, and none shows a secret.\n\n" +
			"It ends with 1 where something failed, else with 0, also where there are warnings.",
		Example: "  muster doctor --catalog catalog --public-url https://muster.example.org\n  muster doctor --catalog catalog --providers --server https://muster.example.org",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if asJSON {
				c.Format = "json"
			}
			if d.patience < time.Second {
				return cli.Usagef("--timeout must be a second at least")
			}
			d.Config, d.wrong = f.Config(cmd, c)
			if d.where = d.Config.Database; d.where == "" {
				d.where = joined(d.Config.Data, database.DatabaseFile)
			}
			d.ca = cmp.Or(c.CA, os.Getenv("MUSTER_CA_FINGERPRINT"))
			d.server = c.Server
			return tellChecks(c, d.look(cmd.Context()))
		},
	}
	f.Declare(cmd)
	cmd.Flags().BoolVar(&d.providers, "providers", false, "also ask the account of every provider in the catalog whether it would do")
	cmd.Flags().DurationVar(&d.patience, "timeout", 10*time.Second, "how `long` each check may take")
	cmd.Flags().StringVar(&c.Server, "server", "", "`URL` of a running server that is asked how it is, too")
	cmd.Flags().StringVar(&c.CA, "ca-fingerprint", "", "`sha256:…` of its CA, where it serves with --tls self (default $MUSTER_CA_FINGERPRINT)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return cmd
}

func tellChecks(c *cli.Context, all []checked) error {
	count := map[string]int{}
	for _, f := range all {
		count[f.State]++
	}
	if c.JSON() {
		if err := c.PrintJSON(map[string]any{"ok": count[CheckFail] == 0, "checks": all}); err != nil {
			return err
		}
	} else {
		for _, f := range all {
			fmt.Fprintf(c.Stdout, "%-4s  %-14s  %s\n", f.State, f.About, strings.ReplaceAll(f.Message, "\n", "\n"+strings.Repeat(" ", 22)))
			if f.Advice != "" {
				fmt.Fprintf(c.Stdout, "%22s%s\n", "", strings.ReplaceAll(f.Advice, "\n", "\n"+strings.Repeat(" ", 22)))
			}
		}
		fmt.Fprintf(c.Stdout, "\n%d ok, %d to look at, %d failed.\n", count[checkOK], count[checkWarn], count[CheckFail])
	}
	if count[CheckFail] > 0 {
		return cli.SilentError{}
	}
	return nil
}

// look carries out every check, one after the other; later ones use what earlier ones found.
func (d *Doctor) look(ctx context.Context) (all []checked) {
	for _, check := range []struct {
		about string
		look  func(context.Context) []checked
	}{
		{"configuration", d.settings}, {"catalog", d.catalog}, {"data directory", d.data}, {"limits", d.limits}, {"database", d.database}, {"key", d.key},
		{"Redis", d.Redis}, {"contents", d.contents}, {"TLS", d.tls}, {"address", d.address}, {"sign-in", d.signIn}, {"Slack", d.slack}, {"traces", d.traces},
		{"providers", d.accounts}, {"server", d.running},
	} {
		all = append(all, d.bounded(ctx, check.about, check.look)...)
	}
	hide := d.secrets()
	for i := range all {
		all[i].Message, all[i].Advice = hide.Replace(all[i].Message), hide.Replace(all[i].Advice)
	}
	return all
}

// bounded gives a check its time. One that does not look at its context is left to itself.
func (d *Doctor) bounded(ctx context.Context, about string, look func(context.Context) []checked) []checked {
	patience := d.patience
	if about == "providers" {
		patience *= 6 // each account is asked many things
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan []checked, 1)
	go func() {
		found := look(ctx)
		for i := range found {
			found[i].About = cmp.Or(found[i].About, about)
		}
		done <- found
	}()
	select {
	case found := <-done:
		return found
	case <-ctx.Done():
		select {
		case found := <-done: // it was about to say so itself
			return found
		case <-time.After(500 * time.Millisecond):
		}
		return []checked{{about, CheckFail, fmt.Sprintf("There was no answer within %s.", patience), "Is the way there open? --timeout gives it more time."}}
	}
}

func fine(format string, args ...any) []checked {
	return []checked{{State: checkOK, Message: fmt.Sprintf(format, args...)}}
}

func warned(advice, format string, args ...any) []checked {
	return []checked{{State: checkWarn, Message: fmt.Sprintf(format, args...), Advice: advice}}
}

func broken(advice, format string, args ...any) []checked {
	return []checked{{State: CheckFail, Message: fmt.Sprintf(format, args...), Advice: advice}}
}

// failedBy puts an error into words.
func failedBy(err error) []checked {
	_, _, hint := cli.Judge(err)
	message := cli.MessageOf(err)
	var known *app.Error
	if errors.As(err, &known) && known.Err != nil && !strings.Contains(message, known.Err.Error()) {
		message += " (" + known.Err.Error() + ")"
	}
	return broken(hint, "%s", message)
}

// secrets takes out of words what is secret in the settings, should an error of some library repeat it.
func (d *Doctor) secrets() *strings.Replacer {
	var words []string
	add := func(s string) {
		if len(s) > 3 {
			words = append(words, s)
		}
	}
	for _, e := range server.Environment {
		v, _ := d.Config.Env(e.Name)
		if e.Secret {
			add(v)
		}
		if u, err := url.Parse(v); err == nil && u.User != nil {
			if p, ok := u.User.Password(); ok {
				add(p)
				add(url.QueryEscape(p))
				add(strings.TrimPrefix(url.UserPassword("", p).String(), ":"))
			}
		}
	}
	add(d.Config.Password)
	for _, p := range d.Config.SignIn.Providers {
		add(p.ClientSecret)
	}
	slices.SortFunc(words, func(x, y string) int { return len(y) - len(x) }) // a secret within another goes with it
	var pairs []string
	for _, w := range words {
		pairs = append(pairs, w, "•••")
	}
	return strings.NewReplacer(pairs...)
}

// settings tells whether flags and environment can be obeyed.
func (d *Doctor) settings(context.Context) []checked {
	if d.wrong != nil {
		return failedBy(d.wrong)
	}
	if d.Config.Database != "" && d.Config.RedisURL == "" {
		return broken("Set REDIS_URL to a Redis that all servers reach, or leave DATABASE_URL out.", "DATABASE_URL needs REDIS_URL beside it.")
	}
	if d.Config.Database != "" && d.Config.Key == "" {
		return warned("Give all servers the same MUSTER_SECRET_KEY: what secret.key in the data directory of the first one holds.",
			"The key is a file in the data directory; a second server on this database would have none.")
	}
	return fine("Flags and environment can be obeyed.")
}
