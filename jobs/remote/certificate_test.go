package remote_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"muster/app"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// order is for a key of its own, for an hour around now.
func order(t *testing.T, user string) (ssh.Signer, app.CertificateOrder) {
	t.Helper()
	key, _ := remotetest.NewKey(t)
	return key, app.CertificateOrder{PublicKey: remotetest.AuthorizedKey(key), KeyID: "muster:t/ada", Principals: []string{user},
		From: time.Now().Add(-time.Minute), Until: time.Now().Add(time.Hour)}
}

// certified signs an order and returns what proves itself with it.
func certified(t *testing.T, ca []byte, key ssh.Signer, o app.CertificateOrder) ssh.Signer {
	t.Helper()
	signed, err := remote.Keys{}.SignCertificate(ca, o)
	if err != nil {
		t.Fatal(err)
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(signed.Line))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewCertSigner(public.(*ssh.Certificate), key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// enter signs in and runs a command.
func enter(t *testing.T, at remote.Target, user string, s ssh.Signer) (string, error) {
	t.Helper()
	host, _, _, _, err := ssh.ParseAuthorizedKey([]byte(at.HostKey))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ssh.Dial("tcp", net.JoinHostPort(at.Address, strconv.Itoa(at.Port)), &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(s)},
		HostKeyCallback: ssh.FixedHostKey(host), Timeout: hangs})
	if err != nil {
		return "", err
	}
	defer c.Close()
	session, err := c.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close()
	out, err := session.CombinedOutput("echo hello")
	return string(out), err
}

func TestCertificateLogin(t *testing.T) {
	t.Parallel()
	n := remotetest.OpenSSH(t)
	at := n.Target()
	ca, caPEM := remotetest.NewKey(t)
	file := filepath.Join(n.Home, ".ssh", "authorized_keys")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("# mine\nssh-ed25519 AAAA of someone"), 0o644); err != nil {
		t.Fatal(err)
	}
	key, o := order(t, at.User)
	if out, err := enter(t, at, at.User, certified(t, caPEM, key, o)); err == nil {
		t.Fatalf("it is let in before: %s", out)
	}
	c := dial(t, at)
	for range 3 {
		if err := remote.EnsureAuthority(t.Context(), c, at.User, caPEM); err != nil {
			t.Fatal(err)
		}
	}
	check(t, file, "# mine\nssh-ed25519 AAAA of someone\ncert-authority,principals=\""+at.User+"\" "+remotetest.AuthorizedKey(ca)+"\n", 0o600)

	if out, err := enter(t, at, at.User, certified(t, caPEM, key, o)); err != nil || out != "hello\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := enter(t, at, at.User, key); err == nil {
		t.Error("the key alone is let in")
	}
	over := o
	over.From, over.Until = time.Now().Add(-time.Hour), time.Now().Add(-2*time.Second)
	if _, err := enter(t, at, at.User, certified(t, caPEM, key, over)); err == nil {
		t.Error("an old certificate is let in")
	}
	_, otherCA := remotetest.NewKey(t)
	if _, err := enter(t, at, at.User, certified(t, otherCA, key, o)); err == nil {
		t.Error("a certificate of another cluster is let in")
	}
	other := o
	other.Principals = []string{at.User + "x"}
	if _, err := enter(t, at, at.User, certified(t, caPEM, key, other)); err == nil {
		t.Error("a certificate for another user is let in")
	}
}

func TestEnsureAuthorityMakesTheFile(t *testing.T) {
	t.Parallel()
	s := remotetest.Start(t, remotetest.Options{})
	ca, caPEM := remotetest.NewKey(t)
	if err := remote.EnsureAuthority(t.Context(), dial(t, s.Target()), "", caPEM); err != nil {
		t.Fatal(err)
	}
	check(t, filepath.Join(s.Home, ".ssh", "authorized_keys"), `cert-authority,principals="root" `+remotetest.AuthorizedKey(ca)+"\n", 0o600)
	if i, err := os.Stat(filepath.Join(s.Home, ".ssh")); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", i, err)
	}
	for _, user := range []string{`a"b`, "a b", "-x", "a,b", "a\nb"} {
		wantCode(t, remote.EnsureAuthority(t.Context(), dial(t, s.Target()), user, caPEM), app.EInvalid, "login user")
	}
	// If a file blocks the path, the error says so.
	if err := os.RemoveAll(filepath.Join(s.Home, ".ssh")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Home, ".ssh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := remote.EnsureAuthority(t.Context(), dial(t, s.Target()), "root", caPEM)
	wantCode(t, err, app.EInvalid, "Can't write the user's authorized_keys")
	if app.AsError(err).Reason != "not_written" {
		t.Error(err)
	}
}

func TestCertificatePermissions(t *testing.T) {
	t.Parallel()
	ca, caPEM := remotetest.NewKey(t)
	key, o := order(t, "ubuntu")
	serials := map[uint64]bool{}
	for range 20 {
		signed, err := remote.Keys{}.SignCertificate(caPEM, o)
		if err != nil {
			t.Fatal(err)
		}
		public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(signed.Line))
		if err != nil {
			t.Fatal(err)
		}
		c := public.(*ssh.Certificate)
		if c.CertType != ssh.UserCert || c.KeyId != "muster:t/ada" || strings.Join(c.ValidPrincipals, " ") != "ubuntu" || len(c.CriticalOptions) != 0 ||
			len(c.Extensions) != 2 || c.Extensions["permit-pty"] != "" || c.ValidAfter != uint64(o.From.Unix()) || c.ValidBefore != uint64(o.Until.Unix()) ||
			c.Serial != signed.Serial || c.Serial>>63 != 0 || signed.Fingerprint != ssh.FingerprintSHA256(key.PublicKey()) ||
			!bytes.Equal(c.SignatureKey.Marshal(), ca.PublicKey().Marshal()) {
			t.Errorf("%+v", c)
		}
		if _, has := c.Extensions["permit-pty"]; !has {
			t.Error("no terminals")
		}
		serials[c.Serial] = true
	}
	if len(serials) != 20 {
		t.Errorf("%d serial numbers of 20", len(serials))
	}
}

func TestCertificateKeys(t *testing.T) {
	t.Parallel()
	_, caPEM := remotetest.NewKey(t)
	line := func(public any) string {
		t.Helper()
		k, err := ssh.NewPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		return string(ssh.MarshalAuthorizedKey(k))
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	// An RSA key of 1024 bits cannot be made any more; its public part is any odd number.
	small := rsa.PublicKey{N: new(big.Int).Rsh(large.N, 1024), E: large.E}
	key, o := order(t, "root")
	_, pemKey := remotetest.NewKey(t)
	cert, err := remote.Keys{}.SignCertificate(caPEM, o)
	if err != nil {
		t.Fatal(err)
	}
	ed := remotetest.AuthorizedKey(key)
	for name, tc := range map[string]struct{ line, says string }{
		"ed25519":       {ed, ""},
		"a comment":     {ed + " ada@laptop", ""},
		"ecdsa":         {line(&curve.PublicKey), ""},
		"rsa":           {line(&large.PublicKey), ""},
		"small rsa":     {line(&small), "2048"},
		"garbage":       {"ssh-ed25519 garbage", "isn't an OpenSSH public key"},
		"nothing":       {"", "isn't an OpenSSH public key"},
		"options":       {`command="x" ` + ed, "options"},
		"two":           {ed + "\n" + ed, "one public key"},
		"a certificate": {cert.Line, "certificate"},
		"private":       {string(pemKey), "private key"},
		"security key": {"sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIJKP6gSsT2XGkTbJLmQ8bQ8zGgcSWR3lZAxFZ2MoRyjjAAAABHNzaDo=",
			"sk-ssh-ed25519"},
	} {
		o.PublicKey = tc.line
		_, err := remote.Keys{}.SignCertificate(caPEM, o)
		if tc.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		e := app.AsError(err)
		if err == nil || e.Code != app.EInvalid || e.Field != "public_key" || !strings.Contains(e.Message, tc.says) || strings.Contains(e.Message, "BEGIN") {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.PublicKey = ed
	if _, err := (remote.Keys{}).SignCertificate([]byte("the secret"), o); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
