package vsphere

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"muster/app"
	"muster/providers/internal/account"
	"muster/providers/internal/keylock"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
)

// Bounds of one answer, and of saying goodbye.
const (
	largestAnswer = 64 << 20
	logoutTime    = 5 * time.Second
	rejectedFor   = time.Minute
	apiVersion    = "6.7" // the oldest that has all that is asked for; newer vCenters speak it, too
)

// session is the one session that an account has with vCenter, which takes a few hundred in all. It's opened when it's first needed, opened once more
// when vCenter has ended it, and closed with the account.
type session struct {
	settings
	transport http.RoundTripper
	idle      func()
	locks     keylock.Locks
	current   atomic.Pointer[login]
	rejected  rejection // behind the lock "login"
}

// rejection is a login that vCenter rejected. It isn't tried again at once: after five, vCenter locks the user out.
type rejection struct {
	err error
	at  time.Time
}

// login is one login, with its cookie.
type login struct {
	soap    *soap.Client
	content types.ServiceContent
	key     string
}

func newSession(s settings, via account.Network) *session {
	t := via.Transport()
	t.ResponseHeaderTimeout, t.MaxIdleConnsPerHost = time.Minute, 8
	t.ForceAttemptHTTP2 = false // as VMware's own clients
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.roots}
	if s.thumbprint != nil {
		t.TLSClientConfig.InsecureSkipVerify = true // who it is, is checked by the certificate itself
		t.TLSClientConfig.VerifyConnection = func(c tls.ConnectionState) error {
			if sum := sha256.Sum256(c.PeerCertificates[0].Raw); !bytes.Equal(sum[:], s.thumbprint) {
				return errThumbprint
			}
			return nil
		}
	}
	return &session{settings: s, transport: bounded{t}, idle: t.CloseIdleConnections}
}

var errThumbprint = errors.New("the certificate has another thumbprint")

// bounded ends answers that are too long, and returns an answer that is none of vCenter's API, such as a proxy's, as an error.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	fault := answer.StatusCode == http.StatusInternalServerError && strings.Contains(answer.Header.Get("Content-Type"), "xml")
	if answer.StatusCode != http.StatusOK && !fault {
		_ = answer.Body.Close()
		return nil, status(answer)
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, largestAnswer), answer.Body}
	return answer, nil
}

// opened returns the session's login, and logs in where there is none, or only the one that vCenter doesn't know any more.
func (s *session) opened(ctx context.Context, ended *login) (*login, error) {
	if l := s.current.Load(); l != nil && l != ended {
		return l, ctx.Err()
	}
	unlock, err := s.locks.Lock(ctx, "login")
	if err != nil {
		return nil, err
	}
	defer unlock()
	if l := s.current.Load(); l != nil && l != ended { // someone else was faster
		return l, nil
	}
	if s.rejected.err != nil && time.Since(s.rejected.at) < rejectedFor {
		return nil, s.rejected.err
	}
	l, err := s.login(ctx)
	if err != nil {
		if faulted[*types.InvalidLogin](err) {
			s.rejected = rejection{err, time.Now()}
		}
		return nil, err
	}
	s.current.Store(l)
	return l, nil
}

func (s *session) login(ctx context.Context) (*login, error) {
	c := soap.NewClient(s.url, false)
	c.Transport = s.transport
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the password goes nowhere else
	c.UserAgent, c.Namespace, c.Version = "muster", "urn:vim25", apiVersion
	content, err := methods.GetServiceContent(ctx, c)
	if err != nil {
		return nil, failure(err)
	}
	if content.About.ApiType != "VirtualCenter" || content.SessionManager == nil || content.SearchIndex == nil {
		e := app.Errorf(app.EInvalid, "%s is a single host (%s), not a vCenter Server", s.url.Host, content.About.Name)
		e.Field, e.Hint = "settings.url", "Hosts without vCenter can't clone templates. Use the address of vCenter."
		return nil, e
	}
	answer, err := methods.Login(ctx, c, &types.Login{This: *content.SessionManager, UserName: s.username, Password: s.password, Locale: "en_US"})
	if err != nil {
		return nil, failure(err)
	}
	return &login{soap: c, content: content, key: answer.Returnval.Key}, nil
}

// RoundTrip implements soap.RoundTripper. A call that vCenter refuses because the session has ended wasn't carried out: it's sent once more after a login.
func (s *session) RoundTrip(ctx context.Context, request, response soap.HasFault) error {
	l, err := s.opened(ctx, nil)
	if err != nil {
		return err
	}
	err = l.soap.RoundTrip(ctx, request, response)
	if _, ended := faultOf(err).(*types.NotAuthenticated); !ended {
		return failure(err)
	}
	if l, err = s.opened(ctx, l); err != nil {
		return err
	}
	reflect.ValueOf(response).Elem().SetZero()
	return failure(l.soap.RoundTrip(ctx, request, response))
}

// content returns the places where vCenter's API begins.
func (s *session) content(ctx context.Context) (types.ServiceContent, error) {
	l, err := s.opened(ctx, nil)
	if err != nil {
		return types.ServiceContent{}, err
	}
	return l.content, nil
}

// key is what vCenter calls the session.
func (s *session) key() string {
	if l := s.current.Load(); l != nil {
		return l.key
	}
	return ""
}

// Close ends the session, and lets go of connections.
func (s *session) Close() error {
	if l := s.current.Swap(nil); l != nil {
		ctx, cancel := context.WithTimeout(context.Background(), logoutTime)
		defer cancel()
		_, _ = methods.Logout(ctx, l.soap, &types.Logout{This: *l.content.SessionManager}) // one that isn't ended expires
	}
	s.idle()
	return nil
}
