package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/app/store/db"
)

// How a check came out.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

// checked is what one check has found.
type checked struct {
	About   string `json:"about"`
	State   string `json:"state"` // ok, warn or fail
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
}

// doctor looks at what a server would be started with. Nothing that it does changes anything, but for a few bytes that are written to the place for contents and taken
// away again.
type doctor struct {
	config    serverConfig
	wrong     error // with the flags and the environment
	where     string
	patience  time.Duration // of each check
	providers bool
	server    string // a running one that is asked, too; "": none
	ca        string

	now func() time.Time

	loaded     *app.Catalog  // nil until it was read
	inspection db.Inspection // once the database was looked at
}

func doctorCommand(c *cli) *cobra.Command {
	var f serveFlags
	d := doctor{now: time.Now}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "doctor [the flags of serve]", Short: "Look whether a server would do with these settings, and say what to change (on the server's host)", Args: atMost(0),
		Long: "Look whether a server would do with these settings: configuration, catalog, data directory, database and its migrations, key, Redis, the place for\n" +
			"contents, TLS, addresses, clocks, limits of the process, and what is set of sign-in, Slack and traces. It takes the flags and the environment\n" +
			"of `muster serve`, also beside a server that runs. Each check has a time limit, and none shows a secret.\n\n" +
			"It ends with 1 where something failed, else with 0, also where there are warnings.",
		Example: "  muster doctor --catalog catalog --public-url https://muster.example.org\n  muster doctor --catalog catalog --providers --server https://muster.example.org",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if asJSON {
				c.format = "json"
			}
			if d.patience < time.Second {
				return usagef("--timeout must be a second at least")
			}
			d.config, d.wrong = f.config(cmd, c)
			if d.where = d.config.Database; d.where == "" {
				d.where = joined(d.config.Data, databaseFile)
			}
			d.ca = firstOf(c.ca, os.Getenv("MUSTER_CA_FINGERPRINT"))
			d.server = c.server
			return c.tellChecks(d.look(cmd.Context()))
		},
	}
	f.declare(cmd)
	cmd.Flags().BoolVar(&d.providers, "providers", false, "also ask the account of every provider in the catalog whether it would do")
	cmd.Flags().DurationVar(&d.patience, "timeout", 10*time.Second, "how `long` each check may take")
	cmd.Flags().StringVar(&c.server, "server", "", "`URL` of a running server that is asked how it is, too")
	cmd.Flags().StringVar(&c.ca, "ca-fingerprint", "", "`sha256:…` of its CA, where it serves with --tls self (default $MUSTER_CA_FINGERPRINT)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	return cmd
}

func (c *cli) tellChecks(all []checked) error {
	count := map[string]int{}
	for _, f := range all {
		count[f.State]++
	}
	if c.json() {
		if err := c.printJSON(map[string]any{"ok": count[checkFail] == 0, "checks": all}); err != nil {
			return err
		}
	} else {
		for _, f := range all {
			fmt.Fprintf(c.stdout, "%-4s  %-14s  %s\n", f.State, f.About, strings.ReplaceAll(f.Message, "\n", "\n"+strings.Repeat(" ", 22)))
			if f.Advice != "" {
				fmt.Fprintf(c.stdout, "%22s%s\n", "", strings.ReplaceAll(f.Advice, "\n", "\n"+strings.Repeat(" ", 22)))
			}
		}
		fmt.Fprintf(c.stdout, "\n%d ok, %d to look at, %d failed.\n", count[checkOK], count[checkWarn], count[checkFail])
	}
	if count[checkFail] > 0 {
		return silentError{}
	}
	return nil
}

// look carries out every check, one after the other; later ones use what earlier ones found.
func (d *doctor) look(ctx context.Context) (all []checked) {
	for _, check := range []struct {
		about string
		look  func(context.Context) []checked
	}{
		{"configuration", d.settings}, {"catalog", d.catalog}, {"data directory", d.data}, {"limits", d.limits}, {"database", d.database}, {"key", d.key},
		{"Redis", d.redis}, {"contents", d.contents}, {"TLS", d.tls}, {"address", d.address}, {"sign-in", d.signIn}, {"Slack", d.slack}, {"traces", d.traces},
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
func (d *doctor) bounded(ctx context.Context, about string, look func(context.Context) []checked) []checked {
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
			found[i].About = firstOf(found[i].About, about)
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
		return []checked{{about, checkFail, fmt.Sprintf("There was no answer within %s.", patience), "Is the way there open? --timeout gives it more time."}}
	}
}

func fine(format string, args ...any) []checked {
	return []checked{{State: checkOK, Message: fmt.Sprintf(format, args...)}}
}

func warned(advice, format string, args ...any) []checked {
	return []checked{{State: checkWarn, Message: fmt.Sprintf(format, args...), Advice: advice}}
}

func broken(advice, format string, args ...any) []checked {
	return []checked{{State: checkFail, Message: fmt.Sprintf(format, args...), Advice: advice}}
}

// failedBy puts an error into words.
func failedBy(err error) []checked {
	_, _, hint := judge(err)
	message := messageOf(err)
	var known *app.Error
	if errors.As(err, &known) && known.Err != nil && !strings.Contains(message, known.Err.Error()) {
		message += " (" + known.Err.Error() + ")"
	}
	return broken(hint, "%s", message)
}

// secrets takes out of words what is secret in the settings, should an error of some library repeat it.
func (d *doctor) secrets() *strings.Replacer {
	var words []string
	add := func(s string) {
		if len(s) > 3 {
			words = append(words, s)
		}
	}
	for _, e := range environment {
		v, _ := d.config.Env(e.name)
		if e.secret {
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
	add(d.config.Password)
	for _, p := range d.config.SignIn.Providers {
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
func (d *doctor) settings(context.Context) []checked {
	if d.wrong != nil {
		return failedBy(d.wrong)
	}
	if d.config.Database != "" && d.config.RedisURL == "" {
		return broken("Set REDIS_URL to a Redis that all servers reach, or leave DATABASE_URL out.", "DATABASE_URL needs REDIS_URL beside it.")
	}
	if d.config.Database != "" && d.config.Key == "" {
		return warned("Give all servers the same MUSTER_SECRET_KEY: what secret.key in the data directory of the first one holds.",
			"The key is a file in the data directory; a second server on this database would have none.")
	}
	return fine("Flags and environment can be obeyed.")
}

// get asks an address, for a short answer.
func get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(r)
}
