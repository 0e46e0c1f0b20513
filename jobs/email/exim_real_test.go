//go:build real

package email

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// eximConf accepts mail from those who have signed in over TLS, and puts it in files.
const eximConf = `primary_hostname = mail.test
spool_directory = DIR/spool
log_file_path = DIR/spool/%slog
pid_file_path = DIR/spool/pid
daemon_smtp_ports = PORT
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = DIR/cert.pem
tls_privatekey = DIR/key.pem
acl_smtp_rcpt = check
keep_environment =
begin acl
check:
  accept authenticated = *
         encrypted = *
  deny message = authenticate first
begin routers
all:
  driver = accept
  transport = file
begin transports
file:
  driver = appendfile
  file = DIR/mail/ada
  user = Debian-exim
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_advertise_condition = ${if def:tls_in_cipher}
  server_condition = ${if and{{eq{$auth2}{bot}}{eq{$auth3}{pa ss}}}}
  server_set_id = $auth2
`

// TestExim sends an email through a real mail server, as it is installed from Debian's packages.
func TestExim(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("the mail server needs root")
	}
	dir, err := os.MkdirTemp("/tmp", "muster-exim")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	server, client := certificate(t, "mail.test")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	key, err := x509.MarshalPKCS8PrivateKey(server.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificates[0].Certificate[0]}))
	write("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	write("conf", []byte(strings.NewReplacer("DIR", dir, "PORT", fmt.Sprint(port)).Replace(eximConf)))
	for _, d := range []string{"", "spool", "mail"} {
		if d != "" {
			if err := os.Mkdir(filepath.Join(dir, d), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Join(dir, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	exim := exec.Command("exim4", "-C", filepath.Join(dir, "conf"), "-bdf")
	exim.Stdout, exim.Stderr = os.Stderr, os.Stderr
	if err := exim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exim.Process.Kill(); _ = exim.Wait() })

	b := newBench(t)
	s, err := ParseURL("smtp://bot@mail.test")
	b.must(err)
	s.Password, s.Trust, s.From = "pa ss", client, mail.Address{Address: "muster@example.com"}
	s.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
	until(t, func() bool {
		c, err := s.open(t.Context())
		if err == nil {
			_ = c.Quit()
		}
		return err == nil
	})
	b.tell("wéb is ready.", ".\nOne", "ada")
	b.round(b.mailer("a", &s))
	var text []byte
	until(t, func() bool {
		text, _ = os.ReadFile(filepath.Join(dir, "mail", "ada"))
		return strings.Contains(string(text), "--\n\n")
	})
	_, message, _ := strings.Cut(string(text), "\n") // the file's own line
	h, parts := read(t, message)
	if h.Get("To") == "" || !strings.Contains(parts["text/plain"], "\n.\nOne\n") {
		t.Errorf("it is %s; the log says %s", text, b.log.String())
	}
	s.Password = "wrong"
	b.tell("shop is ready.", "", "ada")
	b.round(b.mailer("b", &s))
	if !strings.Contains(b.log.String(), "refused the user name or password") {
		t.Errorf("the log says %s", b.log.String())
	}
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it didn't happen within a minute")
		}
	}
}
