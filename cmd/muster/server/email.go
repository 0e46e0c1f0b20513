package server

import (
	"cmp"
	"context"
	"io"
	"net/mail"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/app/notification"
	"muster/cmd/muster/cli"
	"muster/jobs/email"
	"muster/portal/address"
)

// smtpPasswordEnv holds the password of the mail server.
const smtpPasswordEnv = "MUSTER_SMTP_PASSWORD"

// emailFlags are the settings of email.
type emailFlags struct{ url, from, passwordFile string }

func (f *emailFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "smtp-url", "",
		"`URL` of the mail server for notifications, smtp://USER@HOST:PORT with STARTTLS or smtps:// (default $MUSTER_SMTP_URL, or no email)")
	cmd.Flags().StringVar(&f.from, "smtp-from", "", "sender `address` of emails, such as \"Muster <muster@example.com>\" (default $MUSTER_SMTP_FROM)")
	cmd.Flags().StringVar(&f.passwordFile, "smtp-password-file", "", "`file` with the mail server's password, instead of MUSTER_SMTP_PASSWORD")
}

// read returns the mail server; nil for none.
func (f emailFlags) read(env func(string) (string, bool)) (*email.Server, error) {
	of := func(flag, name string) string {
		v, _ := env(name)
		return strings.TrimSpace(cmp.Or(flag, v))
	}
	at, from := of(f.url, "MUSTER_SMTP_URL"), of(f.from, "MUSTER_SMTP_FROM")
	if at == "" {
		if from != "" || f.passwordFile != "" {
			return nil, cli.Usagef("--smtp-from and --smtp-password-file require --smtp-url")
		}
		return nil, nil
	}
	s, err := email.ParseURL(at)
	if err != nil {
		return nil, err
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, cli.Usagef("--smtp-url requires --smtp-from, an email address").Hint("For example: --smtp-from \"Muster <muster@example.com>\"")
	}
	s.From = *sender
	if s.Password, err = f.password(env); err != nil {
		return nil, err
	}
	if (s.User == "") != (s.Password == "") {
		return nil, cli.Usagef("the user name in --smtp-url and a password belong together").Hint(
			"Put the password in a file for --smtp-password-file, or in " + smtpPasswordEnv + ".")
	}
	return &s, nil
}

func (f emailFlags) password(env func(string) (string, bool)) (string, error) {
	if f.passwordFile == "" {
		v, _ := env(smtpPasswordEnv)
		return v, nil
	}
	file, err := os.Open(f.passwordFile)
	if err != nil {
		return "", cli.Usagef("--smtp-password-file: %v", err)
	}
	defer func() { _ = file.Close() }()
	b, err := io.ReadAll(io.LimitReader(file, 4<<10))
	return strings.TrimSpace(string(b)), err
}

// mailer emails notifications to people, and deletes old ones.
func (s *Server) mailer(name string) *email.Mailer {
	page := func(n notification.Email) string { return cmp.Or(address.Of(n.What.About), "/notifications") }
	return &email.Mailer{Name: name, ServerID: s.id, Installation: s.Store.InstallationID, Store: s.Store, Server: s.Email, Meter: s.metrics,
		Notice: s.Services.Notification.EmailNotice, Log: s.Log, Now: time.Now,
		Links: func() email.Links {
			return email.Links{Base: cmp.Or(s.SignIn.URL, s.URL), Account: "/account", Preferences: "/account/notifications",
				Confirm: "/account/email/confirm", Page: page}
		}}
}

// openEmail has emails queued if there's a mail server for them. Those of other servers are theirs to say.
func (s *Server) openEmail(ctx context.Context) error {
	return (&email.Mailer{ServerID: s.id, Store: s.Store, Server: s.Email, Now: time.Now}).Start(ctx)
}
