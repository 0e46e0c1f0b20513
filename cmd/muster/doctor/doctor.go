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
	"muster/app/humanize"
	"muster/app/store/db"
	"muster/app/template"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/database"
	"muster/cmd/muster/server"

	"github.com/spf13/cobra"
)

// Results of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	CheckFail = "fail"
)

// stateWords are those of all commands that check something.
var stateWords = map[string]string{checkOK: "ok", checkWarn: "warning", CheckFail: "failed"}

// checked is one check's finding.
type checked struct {
	About   string `json:"about"`
	State   string `json:"state"` // ok, warn or fail
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

// Doctor checks a server's settings. It changes nothing, but for a few bytes written to the blob store and deleted again.
type Doctor struct {
	Config    server.Config
	wrong     error // invalid flags or environment
	where     string
	timeout   time.Duration // of each check
	providers bool
	user      string // to look up in the directories; "": none
	server    string // a running one to check too; "": none
	ca        string

	now func() time.Time

	loaded     *template.Catalog // nil until it's read
	inspection db.Inspection     // set once the database is checked
}

func Command(c *cli.Context) *cobra.Command {
	var f server.ServeFlags
	d := Doctor{now: time.Now}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check a server's settings and environment (on the server's host)", Args: cli.AtMost(0),
		Long: "Check a server's settings and environment: configuration, catalog, data directory, database and migrations, secret key, Redis, blob\n" +
			"store, TLS, addresses, clocks, process limits, and the settings for sign-in, Slack and traces, if any. The command takes all flags and\n" +
			"environment variables of `muster serve`; servers can keep running. Each check has a time limit. Secrets are never shown.\n\n" +
			"The exit code is 1 if a check failed, and 0 otherwise, even with warnings.",
		Example: "  muster doctor --catalog catalog --public-url https://muster.example.org\n  muster doctor --catalog catalog --providers --server https://muster.example.org",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if asJSON {
				c.Format = "json"
			}
			if len(d.user) > 128 {
				return cli.Usagef("--sign-in-user must be at most 128 characters")
			}
			if d.timeout < time.Second {
				return cli.Usagef("--timeout must be at least 1s")
			}
			if d.Config, d.wrong = f.Config(cmd, c); d.wrong == nil {
				d.wrong = d.Config.Plug(cmd.Context(), d.Config.Log)
			}
			if d.where = d.Config.Database; d.where == "" {
				d.where = joined(d.Config.Data, database.DatabaseFile)
			}
			d.ca = cmp.Or(c.CA, os.Getenv("MUSTER_CA_FINGERPRINT"))
			d.server = c.Server
			return tellChecks(c, d.look(cmd.Context()))
		},
	}
	f.Declare(cmd)
	cmd.Flags().BoolVar(&d.providers, "providers", false, "also check the account of every provider in the catalog")
	cmd.Flags().StringVar(&d.user, "sign-in-user", "", "also look up a person in the LDAP directories, by the `name` that they sign in with")
	cmd.Flags().DurationVar(&d.timeout, "timeout", 10*time.Second, "time limit for each check")
	cmd.Flags().StringVar(&c.Server, "server", "", "`URL` of a running server to check too")
	cmd.Flags().StringVar(&c.CA, "ca-fingerprint", "", "CA `fingerprint` (sha256:…) of a server with --tls self (default $MUSTER_CA_FINGERPRINT)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "same as --format json")
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
			fmt.Fprintf(c.Stdout, "%-7s  %-14s  %s\n", stateWords[f.State], f.About, strings.ReplaceAll(f.Message, "\n", "\n"+strings.Repeat(" ", 25)))
			if f.Advice != "" {
				fmt.Fprintf(c.Stdout, "%25s%s\n", "", strings.ReplaceAll(f.Advice, "\n", "\n"+strings.Repeat(" ", 25)))
			}
		}
		fmt.Fprintf(c.Stdout, "\n%d ok, %d with warnings, %d failed.\n", count[checkOK], count[checkWarn], count[CheckFail])
	}
	if count[CheckFail] > 0 {
		return cli.SilentError{}
	}
	return nil
}

// look runs all checks, one after the other; later ones use the findings of earlier ones.
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

// bounded limits a check's time. A check that ignores its context is abandoned.
func (d *Doctor) bounded(ctx context.Context, about string, look func(context.Context) []checked) []checked {
	timeout := d.timeout
	if about == "providers" {
		timeout *= 6 // each account needs many calls
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
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
		case found := <-done: // it finished just in time
			return found
		case <-time.After(500 * time.Millisecond):
		}
		return []checked{{about, CheckFail, fmt.Sprintf("No response in %s.", humanize.Duration(timeout)), "Check the network and firewalls, or raise --timeout."}}
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

// failedBy is a failed check for an error.
func failedBy(err error) []checked {
	_, _, hint := cli.Judge(err)
	message := cli.MessageOf(err)
	var known *app.Error
	if errors.As(err, &known) && known.Err != nil && !strings.Contains(message, known.Err.Error()) {
		message += " (" + known.Err.Error() + ")"
	}
	return broken(hint, "%s", message)
}

// secrets removes the settings' secrets from texts, in case a library's error repeats them.
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
	for _, l := range d.Config.SignIn.Directories {
		add(l.BindPassword)
	}
	slices.SortFunc(words, func(x, y string) int { return len(y) - len(x) }) // longest first, as one secret may contain another
	var pairs []string
	for _, w := range words {
		pairs = append(pairs, w, "•••")
	}
	return strings.NewReplacer(pairs...)
}

// settings checks flags and environment.
func (d *Doctor) settings(context.Context) []checked {
	if d.wrong != nil {
		return failedBy(d.wrong)
	}
	if d.Config.Database != "" && d.Config.RedisURL == "" {
		return broken("Set REDIS_URL to a Redis shared by all servers, or unset DATABASE_URL.", "DATABASE_URL requires REDIS_URL.")
	}
	if d.Config.Database != "" && d.Config.Key == "" {
		return warned("Set MUSTER_SECRET_KEY on all servers to the content of the first one's secret.key.",
			"The secret key is a file in the data directory, so a second server on this database wouldn't have it.")
	}
	return fine("Flags and environment are valid.")
}
