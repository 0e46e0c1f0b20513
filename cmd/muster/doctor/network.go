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

// Allowed clock differences: claims are valid for 15 s.
const (
	skewWarning = time.Second
	skewFailure = 5 * time.Second
)

func (d *Doctor) apart(what string, skew time.Duration) []checked {
	const advice = "Sync both hosts' clocks with NTP; see \"Clocks differ\" in docs/runbooks.md."
	switch skew = skew.Round(time.Millisecond); {
	case skew.Abs() > skewFailure:
		return broken(advice, "The clocks of this host and %s differ by %s.", what, humanize.Duration(skew.Abs()))
	case skew.Abs() > skewWarning:
		return warned(advice, "The clocks of this host and %s differ by %s.", what, humanize.Duration(skew.Abs()))
	}
	return nil
}

// database checks the database and its migrations.
func (d *Doctor) database(ctx context.Context) (all []checked) {
	found, err := db.Inspect(ctx, d.where)
	if err != nil && app.AsError(err).Reason == "no_database" {
		return fine("%s will be created when a server starts.", d.where)
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
		return append(all, fine("%s %s; its tables will be created when a server starts.", found.Kind, found.Version)...)
	case found.TooNew():
		return append(all, warned("Upgrade this server soon.", "%s. A newer version of Muster has migrated the database; this version is compatible with it.", words)...)
	case len(found.Pending) > 0 && d.Config.NoMigrate:
		return append(all, broken("Run `muster migrate up`.", "%s. %s pending, and --no-migrate is set.", words, humanize.Count(len(found.Pending), "migration"))...)
	case len(found.Pending) > 0:
		return append(all, warned("They run when a server starts, or with `muster migrate up`. Back up first: muster backup FILE", "%s. %s pending.", words, humanize.Count(len(found.Pending), "migration"))...)
	}
	return append(all, fine("%s.", words)...)
}

// key checks that the key decrypts the database's secrets. It doesn't create a key.
func (d *Doctor) key(ctx context.Context) []checked {
	if !d.inspection.Made || d.inspection.Installation == "" {
		if d.Config.Key == "" {
			return fine("%s will be created when a server starts.", joined(d.Config.Data, database.KeyFile))
		}
		keeper, _, err := database.ExistingKey(ctx, d.Config.Key, d.Config.Data)
		if err != nil {
			return failedBy(err)
		}
		_ = keeper.Close()
		return fine("MUSTER_SECRET_KEY is readable; nothing is encrypted yet.")
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
		return fine("%s decrypts the database's secrets. Keep a copy elsewhere: backups don't include it.", where)
	}
	return fine("MUSTER_SECRET_KEY decrypts the database's secrets.")
}

// oldestRedis is the oldest version that the queue's scripts support.
const oldestRedis = 6

// Redis checks the queue.
func (d *Doctor) Redis(ctx context.Context) (all []checked) {
	if d.Config.RedisURL == "" {
		return fine("The queue is in the server's process. No data is lost with it.")
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
		all = append(all, broken("Upgrade Redis.", "Redis %s is too old; Muster needs %d or newer.", f.Version, oldestRedis)...)
	}
	if f.Policy != "" && f.Policy != "noeviction" {
		all = append(all, broken("Set maxmemory-policy noeviction in redis.conf; otherwise wake-up signals can get lost.", "Redis evicts data when memory is short (maxmemory-policy %s).", f.Policy)...)
	}
	if f.MaxMemory > 0 && f.Used > f.MaxMemory*9/10 {
		all = append(all, warned("Raise maxmemory, or check what else uses this Redis.", "Redis uses %s of %s.", humanize.Bytes(f.Used), humanize.Bytes(f.MaxMemory))...)
	}
	if f.Replica {
		all = append(all, broken("Set REDIS_URL to the primary.", "This Redis is a read-only replica.")...)
	}
	if !f.AOF {
		all = append(all, warned("Set appendonly yes. No data is lost without it, but work waits some seconds after a restart of Redis.", "Redis persists only snapshots across restarts (appendonly no).")...)
	}
	if f.Latency > 20*time.Millisecond {
		all = append(all, warned("Move Redis closer to the servers.", "Redis takes %d ms to respond.", f.Latency.Milliseconds())...)
	}
	if len(all) == 0 {
		return fine("Redis %s, %s, responds within %.1f ms.", f.Version, humanize.Bytes(f.Used), float64(f.Latency.Microseconds())/1000)
	}
	return all
}

// contents writes to the blob store, reads from it and deletes again.
func (d *Doctor) contents(ctx context.Context) []checked {
	dir := filepath.Join(d.Config.Data, "resources", "blobs")
	if d.Config.Resources.URL == "" {
		if _, err := os.Stat(dir); err != nil {
			return fine("The contents of resources will be stored in %s.", dir)
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
	return fine("%s is writable and readable.", b.Name())
}

// signIn checks the identity providers and directories.
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
				err = fmt.Errorf("got status %s", answer.Status)
			} else {
				err = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&said)
			}
			_ = answer.Body.Close()
		}
		switch {
		case err != nil:
			all = append(all, broken("Check the issuer and the network. Until then, sign-in with it doesn't work.", "Identity provider %s can't be reached: %v.", p.Name, err)...)
		case said.Issuer != p.Issuer:
			all = append(all, broken("Set the issuer to exactly that value.", "Identity provider %s reports issuer %q, but the file has %q.", p.Name, said.Issuer, p.Issuer)...)
		default:
			all = append(all, fine("Identity provider %s responds.", p.Name)...)
		}
	}
	return append(all, d.directories(ctx)...)
}

// slack checks the bot's token.
func (d *Doctor) slack(ctx context.Context) []checked {
	if d.Config.Slack.Secret == "" && d.Config.Slack.AppToken == "" {
		return nil
	}
	if d.Config.Slack.Token == "" {
		return fine("Workspaces are installed on the portal's Slack page; check them with `muster slack show`.")
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
		return broken("Check the network to "+cmp.Or(d.Config.Slack.API, slack.StandardAPI)+".", "Slack isn't responding: %v.", err)
	case !said.OK:
		return broken("Copy the bot token from the “OAuth & Permissions” page of your Slack app; see docs/slack.md.", "Slack rejects the bot token: %s.", said.Error)
	}
	return fine("The bot token is for workspace %s.", said.Team)
}

// traces checks that the trace endpoint is reachable.
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
		return warned("Check the endpoint. Only traces get lost in the meantime.", "The trace endpoint can't be reached: %v.", err)
	}
	_ = conn.Close()
	return fine("The trace endpoint is reachable.")
}

// accounts checks the providers' accounts.
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
			all = append(all, warned("Ask the running server: muster provider check "+name, "%s: its settings use tenant secrets, which only a server can read.", name)...)
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
		return fine("%s: account OK (%s).", name, humanize.Count(good, "check"))
	}
	return all
}

// running checks a running server.
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
			return broken("Check that it's running and reachable. Its log has details.", "The server isn't responding: %v.", err)
		}
		took := time.Since(begun)
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
		_ = answer.Body.Close()
		words := strings.Join(strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), ", ")
		if answer.StatusCode != http.StatusOK {
			all = append(all, broken("Check its log.", "%s is %s: %.200s.", path, answer.Status, words)...)
			continue
		}
		all = append(all, fine("%s: %.200s (%s).", path, words, fmt.Sprintf("%d ms", took.Milliseconds()))...)
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
