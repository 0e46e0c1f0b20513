package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/humanize"
	"muster/app/store/blob"
	"muster/app/store/db"
	"muster/bot/slack"
	"muster/cmd/muster/database"
	"muster/cmd/muster/server"
	"muster/jobs/queue"
	rest "muster/portal/client"
)

// How far clocks may be apart: claims hold for 15 s.
const (
	skewWarning = time.Second
	skewFailure = 5 * time.Second
)

func (d *Doctor) apart(what string, skew time.Duration) []checked {
	const advice = "Let both hosts keep their clocks by NTP; see \"Clocks are apart\" in docs/runbooks.md."
	switch skew = skew.Round(time.Millisecond); {
	case skew.Abs() > skewFailure:
		return broken(advice, "This host's clock and that of %s are %s apart.", what, skew.Abs())
	case skew.Abs() > skewWarning:
		return warned(advice, "This host's clock and that of %s are %s apart.", what, skew.Abs())
	}
	return nil
}

// database looks at the database, and at its tables.
func (d *Doctor) database(ctx context.Context) (all []checked) {
	found, err := db.Inspect(ctx, d.where)
	if err != nil && app.AsError(err).Reason == "no_database" {
		return fine("%s is made when a server starts.", d.where)
	}
	if err != nil {
		return failedBy(err)
	}
	d.inspection = found
	all = d.apart("the database", found.Skew)
	for i := range all {
		all[i].About = "clock"
	}
	if err := found.Check(); err != nil {
		return append(all, failedBy(err)...)
	}
	words := fmt.Sprintf("%s %s, migration %d, %s", found.Kind, found.Version, found.Migration, humanize.Bytes(found.Size))
	switch {
	case !found.Made:
		return append(all, fine("%s %s; its tables are made when a server starts.", found.Kind, found.Version)...)
	case found.TooNew():
		return append(all, warned("Upgrade this server soon.", "%s. A newer Muster has changed its tables; this one can work with them.", words)...)
	case len(found.Pending) > 0 && d.Config.NoMigrate:
		return append(all, broken("Run `muster migrate up`.", "%s. %s pending, and the server was told not to make them.", words, humanize.Count(len(found.Pending), "migration"))...)
	case len(found.Pending) > 0:
		return append(all, warned("A server makes them when it starts; `muster migrate up` does beforehand. Make a backup first: muster backup FILE", "%s. %s pending.", words, humanize.Count(len(found.Pending), "migration"))...)
	}
	return append(all, fine("%s.", words)...)
}

// key tells whether what is sealed in the database could be opened. It makes no key.
func (d *Doctor) key(ctx context.Context) []checked {
	if !d.inspection.Made || d.inspection.Installation == "" {
		if d.Config.Key == "" {
			return fine("%s is made when a server starts.", joined(d.Config.Data, database.KeyFile))
		}
		keeper, _, err := database.ExistingKey(ctx, d.Config.Key, d.Config.Data)
		if err != nil {
			return failedBy(err)
		}
		_ = keeper.Close()
		return fine("MUSTER_SECRET_KEY can be read; nothing is sealed yet.")
	}
	keeper, where, err := database.ExistingKey(ctx, d.Config.Key, d.Config.Data)
	if err != nil {
		return failedBy(err)
	}
	defer keeper.Close()
	if err := db.CheckKey(ctx, d.where, keeper); err != nil {
		return failedBy(err)
	}
	if d.Config.Key == "" {
		return fine("%s opens what is sealed. Keep a copy of it elsewhere: no backup holds it.", where)
	}
	return fine("MUSTER_SECRET_KEY opens what is sealed.")
}

// oldestRedis is what the queue's scripts need.
const oldestRedis = 6

// Redis looks at the queue.
func (d *Doctor) Redis(ctx context.Context) (all []checked) {
	if d.Config.RedisURL == "" {
		return fine("The queue is inside the server's process. Nothing is lost with it.")
	}
	f, err := queue.InspectRedis(ctx, d.Config.RedisURL)
	if err != nil {
		return failedBy(err)
	}
	all = d.apart("Redis", f.Skew)
	for i := range all {
		all[i].About = "clock"
	}
	if f.Major > 0 && f.Major < oldestRedis {
		all = append(all, broken("Upgrade it.", "Redis %s is too old; Muster needs %d or newer.", f.Version, oldestRedis)...)
	}
	if f.Policy != "" && f.Policy != "noeviction" {
		all = append(all, broken("Set it in redis.conf: maxmemory-policy noeviction. Else doorbells vanish when memory is short.", "Redis throws away what is in it when memory is short (maxmemory-policy %s).", f.Policy)...)
	}
	if f.MaxMemory > 0 && f.Used > f.MaxMemory*9/10 {
		all = append(all, warned("Raise maxmemory, or look who else uses it.", "Redis uses %s of %s.", humanize.Bytes(f.Used), humanize.Bytes(f.MaxMemory))...)
	}
	if f.Replica {
		all = append(all, broken("Name the primary in REDIS_URL.", "This Redis is a replica, which cannot be written to.")...)
	}
	if !f.AOF {
		all = append(all, warned("Set appendonly yes. Without it nothing is lost either, since the database holds the truth, but work waits some seconds after a restart.", "Redis keeps nothing over a restart but snapshots (appendonly no).")...)
	}
	if f.Latency > 20*time.Millisecond {
		all = append(all, warned("Put it nearer to the servers.", "Redis takes %s for an answer.", f.Latency.Round(time.Millisecond))...)
	}
	if len(all) == 0 {
		return fine("Redis %s, %s, answers within %s.", f.Version, humanize.Bytes(f.Used), f.Latency.Round(10*time.Microsecond))
	}
	return all
}

// contents writes to the place for contents, reads it and deletes it.
func (d *Doctor) contents(ctx context.Context) []checked {
	dir := filepath.Join(d.Config.Data, "resources", "blobs")
	if d.Config.Resources.URL == "" {
		if _, err := os.Stat(dir); err != nil {
			return fine("Contents of resources will be kept in %s.", dir)
		}
	}
	spool, err := os.MkdirTemp("", "muster-doctor-")
	if err != nil {
		return failedBy(err)
	}
	defer os.RemoveAll(spool)
	b, err := blob.Open(ctx, blob.Config{URL: d.Config.Resources.URL, Dir: dir, Spool: spool})
	if err != nil {
		return failedBy(err)
	}
	defer b.Close()
	if err := b.Probe(ctx); err != nil {
		return failedBy(err)
	}
	return fine("%s takes contents, and gives them back.", b.Name())
}

// signIn asks identity providers what they are.
func (d *Doctor) signIn(ctx context.Context) (all []checked) {
	for _, p := range d.Config.SignIn.Providers {
		client := p.HTTP
		if client == nil {
			client = http.DefaultClient
		}
		var said struct {
			Issuer string `json:"issuer"`
		}
		where := strings.TrimSuffix(p.Issuer, "/") + "/.well-known/openid-configuration"
		answer, err := server.Get(ctx, client, where)
		if err == nil {
			if answer.StatusCode != http.StatusOK {
				err = fmt.Errorf("it answered %s", answer.Status)
			} else {
				err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&said)
			}
			_ = answer.Body.Close()
		}
		switch {
		case err != nil:
			all = append(all, broken("Is the issuer right, and the way there open? Until then nobody signs in by it.", "The identity provider %s does not say what it is: %v.", p.Name, err)...)
		case said.Issuer != p.Issuer:
			all = append(all, broken("Write the issuer just so.", "The identity provider %s calls itself %q, and the file says %q.", p.Name, said.Issuer, p.Issuer)...)
		default:
			all = append(all, fine("The identity provider %s answers.", p.Name)...)
		}
	}
	return all
}

// slack asks whose the bot's token is.
func (d *Doctor) slack(ctx context.Context) []checked {
	if d.Config.Slack.Secret == "" && d.Config.Slack.AppToken == "" {
		return nil
	}
	if d.Config.Slack.Token == "" {
		return fine("Workspaces are installed on the portal's page “Slack”; `muster slack show` tells how each is.")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, cmp.Or(d.Config.Slack.API, slack.StandardAPI)+"auth.test", nil)
	if err != nil {
		return failedBy(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.Config.Slack.Token)
	var said struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
		Team  string `json:"team"`
	}
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&said)
		_ = answer.Body.Close()
	}
	switch {
	case err != nil:
		return broken("Check the way to "+cmp.Or(d.Config.Slack.API, slack.StandardAPI)+".", "Slack does not answer: %v.", err)
	case !said.OK:
		return broken("Take the bot's token from the page “OAuth & Permissions” of your Slack app; see docs/slack.md.", "Slack does not take the bot's token: %s.", said.Error)
	}
	return fine("The bot's token is for the workspace %s.", said.Team)
}

// traces looks whether someone listens.
func (d *Doctor) traces(ctx context.Context) []checked {
	if d.Config.Observe.OTLP == "" {
		return nil
	}
	u, err := url.Parse(d.Config.Observe.OTLP)
	if err != nil {
		return nil // the settings say so
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return warned("Nothing but traces is lost meanwhile.", "Nobody listens where traces go to: %v.", err)
	}
	_ = conn.Close()
	return fine("Somebody listens where traces go to.")
}

// accounts asks the accounts of providers.
func (d *Doctor) accounts(ctx context.Context) (all []checked) {
	if !d.providers || d.loaded == nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "muster-doctor-")
	if err != nil {
		return failedBy(err)
	}
	defer os.RemoveAll(dir)
	set := &server.ProviderSet{Dir: dir, Installation: cmp.Or(d.inspection.Installation, "doctor"), Log: d.Config.Log}
	defer set.Close()
	for _, name := range slices.Sorted(maps.Keys(d.loaded.Providers)) {
		spec := *d.loaded.Providers[name]
		switch {
		case spec.Type == "sandbox" || spec.Type == "fake":
			all = append(all, fine("%s: %s has no account.", name, spec.Type)...)
			continue
		case spec.HasSecrets():
			all = append(all, warned("Ask the running server: muster provider check "+name, "%s: its settings have secrets of tenants, which only a server reads.", name)...)
			continue
		}
		findings, err := server.AccountDesk{Providers: set}.CheckAccount(ctx, spec, fleet.NeedsOf(d.loaded, name))
		if err != nil {
			all = append(all, failedBy(err)...)
			continue
		}
		all = append(all, accountChecks(name, findings)...)
	}
	for i := range all {
		all[i].About = "providers"
	}
	return all
}

func accountChecks(name string, findings []family.Finding) (all []checked) {
	good := 0
	for _, f := range findings {
		switch {
		case f.OK:
			good++
		case f.Warning:
			all = append(all, warned(f.Hint, "%s: %s", name, f.Message)...)
		default:
			all = append(all, broken(f.Hint, "%s: %s", name, f.Message)...)
		}
	}
	if len(all) == 0 {
		return fine("%s: its account would do (%d things were looked at).", name, good)
	}
	return all
}

// running asks a server how it is.
func (d *Doctor) running(ctx context.Context) (all []checked) {
	if d.server == "" {
		return nil
	}
	t, err := rest.Trust(d.ca)
	if err != nil {
		return failedBy(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: t, Proxy: http.ProxyFromEnvironment}}
	defer client.CloseIdleConnections()
	for _, path := range []string{"/livez", "/readyz"} {
		begun := time.Now()
		answer, err := server.Get(ctx, client, strings.TrimSuffix(d.server, "/")+path)
		if err != nil {
			return broken("Does it run, and is the way there open? Its log says more.", "The server does not answer: %v.", err)
		}
		took := time.Since(begun)
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
		_ = answer.Body.Close()
		words := strings.Join(strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), ", ")
		if answer.StatusCode != http.StatusOK {
			all = append(all, broken("Its log says why.", "%s is %s: %.200s.", path, answer.Status, words)...)
			continue
		}
		all = append(all, fine("%s: %.200s (%s).", path, words, took.Round(time.Millisecond))...)
		if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil && path == "/livez" {
			if skew := begun.Add(took / 2).Sub(at.Add(500 * time.Millisecond)); skew.Abs() > 2*time.Second {
				all = append(all, d.apart("the server", skew)...)
			}
			if answer.TLS != nil {
				all = append(all, d.certificate(answer.TLS.PeerCertificates[0])...)
			}
		}
	}
	return all
}
