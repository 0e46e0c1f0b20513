package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/humanize"
	"muster/app/identity"
	"muster/app/layout"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/cmd/muster/database"
	"muster/cmd/muster/families"
	"muster/cmd/muster/server"
	rest "muster/portal/client"

	"github.com/spf13/cobra"
)

// The demo's cluster.
const (
	demoTemplate = "web"
	Service      = "app" // the page must name its nodes
	demoTimeout  = 3 * time.Minute
)

// demo is one run of `muster demo`: a server with its own data directory, and one cluster on it.
type demo struct {
	*cli.Context
	size   int
	once   bool
	server *server.Server
	client *cli.Client
	log    *bytes.Buffer // the server's log, in case of failure
}

func Command(c *cli.Context) *cobra.Command {
	var f families.CatalogFlag
	d := &demo{Context: c, log: &bytes.Buffer{}}
	cmd := &cobra.Command{
		Use:   "demo --catalog DIR",
		Short: "Run a demo: start a server, create a cluster on this host, and clean up",
		Args:  cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dirs, err := f.Directories()
			if err != nil {
				return err
			}
			return d.run(cmd.Context(), dirs)
		},
	}
	f.Declare(cmd)
	cmd.Flags().IntVar(&d.size, "size", 5, "`number` of nodes")
	cmd.Flags().BoolVar(&d.once, "once", false, "clean up and exit right after fetching the cluster's page")
	return cmd
}

func (d *demo) run(ctx context.Context, catalogs []string) (err error) {
	data, err := d.directory()
	if err != nil {
		return err
	}
	d.server, err = server.New(ctx, server.Config{
		Data: data, Listen: server.DefaultListen, AnyPort: true, Catalogs: catalogs, RedisURL: os.Getenv("REDIS_URL"), Workers: server.DefaultWorkers,
		Password: identity.NewPassword(), // so that it needn't be changed in a demo
		Log:      cli.NewLogger(&cli.LockedWriter{W: d.log}, slog.LevelInfo), Env: os.LookupEnv,
	})
	if err != nil {
		return err
	}
	// We stop the server after deleting the cluster; Ctrl-C doesn't.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- d.server.Run(serving) }()
	defer func() {
		stop()
		err = errors.Join(err, <-served, d.server.Close())
		if err == nil {
			err = os.RemoveAll(data)
		} else {
			fmt.Fprintf(d.Stderr, "\nServer log:\n%s", d.log)
		}
	}()
	fmt.Fprintf(d.Stdout, "Muster %s runs at %s (database and queue in this process, data in %s)\n", cli.VersionName(), d.server.URL, data)
	if !strings.HasSuffix(d.server.URL, portOf(server.DefaultListen)) {
		fmt.Fprintf(d.Stdout, "Port %s is in use, so Muster picked another.\n", portOf(server.DefaultListen)[1:])
	}
	for _, note := range d.server.Notes(ctx) {
		fmt.Fprintln(d.Stdout, note)
	}
	v, err := d.create(ctx)
	if err == nil {
		err = d.show(ctx, v)
	}
	if e := d.cleanUp(context.WithoutCancel(ctx)); err == nil || ctx.Err() != nil {
		err = e // an interrupted demo that cleaned up was successful
	}
	return err
}

// directory is the demo's data directory: a fixed one, so that a run can clean up after a killed one, or a new one while another demo
// uses that.
func (d *demo) directory() (string, error) {
	base, err := d.DataDir()
	if err != nil {
		return "", err
	}
	dir := base + "-demo"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	unlock, err := database.LockDirectory(dir)
	if app.CodeOf(err) == app.EConflict {
		return os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-")
	}
	if err != nil {
		return "", err
	}
	return dir, unlock()
}

// connect waits for the settings that the server writes, and returns a client.
func (d *demo) connect(ctx context.Context) (*cli.Client, error) {
	for {
		s, err := cli.ReadClientSettings(d.server.Data)
		if err == nil && s.URL == d.server.URL {
			cl, err := rest.New(s)
			return &cli.Client{Client: cl, Home: filepath.Join(d.server.Data, "client")}, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (d *demo) create(ctx context.Context) (v appcluster.View, err error) {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	if d.client, err = d.connect(ctx); err != nil {
		return v, err
	}
	if err := d.deleteAll(ctx); err != nil { // leftovers of a killed demo
		return v, err
	}
	r := appcluster.CreateRequest{Name: "demo", Request: layout.Request{Template: demoTemplate, Size: d.size}}
	if v, err = d.client.Create(ctx, r); err != nil {
		return v, err
	}
	op, _ := cluster.OperationOf(v, 0)
	fmt.Fprintf(d.Stdout, "Creating a cluster from template %q with %s in %s.\n\n", demoTemplate, humanize.Count(v.Size, "node"), humanize.Count(op.Total, "step"))
	return cluster.WaitFor(ctx, d.Context, d.client, v, 0)
}

// show fetches the page through the load balancer, checks it, and prints how to explore the demo.
func (d *demo) show(ctx context.Context, v appcluster.View) error {
	if len(v.Links) == 0 {
		return fmt.Errorf("demo: template %s doesn't declare a link to visit", demoTemplate)
	}
	page, err := FetchPage(ctx, v.Links[0].URL)
	if err != nil {
		return err
	}
	named := 0
	for _, n := range v.Nodes {
		for _, s := range n.Services {
			if s != Service {
				continue
			}
			if !strings.Contains(page, n.Hostname) {
				return fmt.Errorf("demo: the page at %s doesn't name application server %s:\n%s", v.Links[0].URL, n.Hostname, page)
			}
			named++
		}
	}
	if named == 0 {
		return fmt.Errorf("demo: the cluster has no application server")
	}
	if err := cluster.PrintCluster(ctx, d.Context, d.client, v); err != nil {
		return err
	}
	fmt.Fprintf(d.Stdout, "\nGET %s through the load balancer names all %s:\n", v.Links[0].URL, humanize.Count(named, "application server"))
	for _, line := range cli.Readable(page) {
		fmt.Fprintf(d.Stdout, "  │ %s\n", line)
	}
	if d.once {
		return nil
	}
	password := d.server.AdminPassword
	if password == "" { // the account is left over from a killed demo
		if password, err = d.server.Services.Identity.Passwords.ResetPassword(ctx, app.DefaultTenant, "admin"); err != nil {
			return err
		}
	}
	fmt.Fprintf(d.Stdout, "\nPortal     %s/clusters/%s\nSign in    user admin, password %s\n", d.server.URL, v.ID, password)
	fmt.Fprintf(d.Stdout, "Command    muster --data %s cluster list\nStop       Ctrl-C: deletes the cluster and cleans up\n", d.server.Data)
	<-ctx.Done()
	return nil
}

// cleanUp deletes all clusters.
func (d *demo) cleanUp(ctx context.Context) error {
	if d.client == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	fmt.Fprintf(d.Stdout, "\nCleaning up.\n")
	if err := d.deleteAll(ctx); err != nil {
		return err
	}
	fmt.Fprintln(d.Stdout, "Everything is deleted.")
	return nil
}

func (d *demo) deleteAll(ctx context.Context) error {
	list, err := d.client.Clusters.List(ctx, app.ClusterFilter{})
	if err != nil {
		return err
	}
	for _, c := range list {
		v, err := d.client.Clusters.Delete(ctx, c.ID)
		if err != nil {
			return err
		}
		if _, err := cluster.WaitFor(ctx, d.Context, d.client, v, 0); err != nil {
			return err
		}
		cluster.ForgetKeys(d.client.Home, c.ID)
	}
	return nil
}

// FetchPage gets a page that must exist; its servers may take a moment to answer.
func FetchPage(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: nil}} // the cluster is on this host
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("demo: the page isn't responding: %w", err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", fmt.Errorf("demo: %s: %w", url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("demo: %s returns %s:\n%s", url, resp.Status, b)
	}
	return string(b), nil
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':'):] }
