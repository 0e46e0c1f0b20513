package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app"
	"muster/cmd/muster/cli"
	rest "muster/portal/client"
)

// readyTime is the timeout for an answer.
const readyTime = 4 * time.Second

// serverReadyCommand is a health check for images without other programs or a shell.
func serverReadyCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ready", Short: "Check whether a server is ready for traffic", Args: cli.AtMost(0),
		Long: "Check whether a server is ready for traffic, using its /readyz endpoint. The exit code is 1 if it isn't. No token is sent.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := cli.ClientSettings{URL: c.Server, CA: c.CA}
			if s.URL == "" {
				data, err := c.DataDir()
				if err != nil {
					return err
				}
				if s, err = cli.ReadClientSettings(data); err != nil {
					return &app.Error{Code: app.ETransient, Message: "No server is running on " + data + "."}
				}
			}
			return ready(cmd.Context(), c, s)
		},
	}
	cmd.Flags().StringVar(&c.Server, "server", "", "server `URL` (default: the server running on the data directory)")
	cmd.Flags().StringVar(&c.CA, "ca-fingerprint", "", "CA `fingerprint` (sha256:…) of a server with --tls self")
	return cmd
}

func ready(ctx context.Context, c *cli.Context, s cli.ClientSettings) error {
	t, err := rest.Trust(s.CA)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: t}}
	defer client.CloseIdleConnections()
	answer, err := Get(ctx, client, strings.TrimSuffix(s.URL, "/")+"/readyz")
	if err != nil {
		return &app.Error{Code: app.ETransient, Message: "The server isn't responding", Err: err}
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if answer.StatusCode != http.StatusOK {
		return &app.Error{Code: app.ETransient, Message: strings.TrimSpace(string(text))}
	}
	if c.JSON() {
		return c.PrintJSON(map[string]bool{"ready": true})
	}
	_, err = fmt.Fprint(c.Stdout, string(text))
	return err
}

// Get fetches a short response.
func Get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(r)
}
