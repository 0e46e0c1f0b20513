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

// readyTime is how long whoever asks waits for an answer.
const readyTime = 4 * time.Second

// serverReadyCommand is what watches a server where there is no other program that could: in an image without a shell.
func serverReadyCommand(c *cli.Context) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ready", Short: "Ask a server whether people may be sent to it; ends with 1 where not", Args: cli.AtMost(0),
		Long: "Ask a server whether people may be sent to it: its /readyz. Without --server it is the one that runs on this data directory. No token is sent.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := cli.ClientSettings{URL: c.Server, CA: c.CA}
			if s.URL == "" {
				data, err := c.DataDir()
				if err != nil {
					return err
				}
				if s, err = cli.ReadClientSettings(data); err != nil {
					return &app.Error{Code: app.ETransient, Message: "No server runs on " + data + "."}
				}
			}
			return ready(cmd.Context(), c, s)
		},
	}
	cmd.Flags().StringVar(&c.Server, "server", "", "`URL` of the server (default the one that runs on the data directory)")
	cmd.Flags().StringVar(&c.CA, "ca-fingerprint", "", "`sha256:…` of the CA of a server with --tls self")
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
		return &app.Error{Code: app.ETransient, Message: "The server does not answer", Err: err}
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

// Get asks an address, for a short answer.
func Get(ctx context.Context, client *http.Client, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(r)
}
