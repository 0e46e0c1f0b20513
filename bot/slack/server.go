package slack

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/bot"

	"github.com/gorilla/websocket"
)

// Path is where Slack's requests come in; all below it is this package's, save for InstallPath and OAuthPath.
const Path = "/slack/"

const (
	patience   = 2 * time.Second  // Slack waits for 3
	noteTime   = time.Second      // for the question whether something was seen before
	workTime   = 30 * time.Second // of one command
	postTime   = 10 * time.Second // of an answer that comes later
	mostAtOnce = 32               // commands
)

// kind is Slack's name among those of chats.
const kind = "slack"

// Config is what a server is made of. The use cases, URL and Pages must be set; what else is there says which ways there are: by HTTP (Secret), by a
// websocket that we open (AppToken), with one workspace (Token) or with those that admins install (ClientID).
type Config struct {
	UseCases
	Secret       string // by which Slack signs; "": nothing is taken over HTTP
	AppToken     string // xapp-…, by which Socket Mode is opened; "": it is not
	Token        string // of the bot, in the one workspace of Tenant
	Tenant       string
	ClientID     string // of the app, by which it is installed into workspaces
	ClientSecret string
	API          string                   // where Slack's methods are called, with a slash at its end; "": https://slack.com/api/
	Currency     string                   // of prices, such as EUR or $; "": plain amounts
	Server       string                   // a name of this server among those of a database; "": one is made up
	URL          func() string            // of the portal, such as https://muster.example.org
	Pages        func(app.Subject) string // where below URL a subject has its page
	Client       *http.Client             // to Slack; nil: one of its own
	Dialer       *websocket.Dialer        // to Slack's websockets; nil: one of its own
	Log          *slog.Logger             // nil: slog.Default()
	Now          func() time.Time         // nil: time.Now
}

// Server answers Slack. Serve it over HTTP, Run it on every server and Tend on one; Close it after the HTTP server takes nothing new.
type Server struct {
	uses                   UseCases
	bot                    *bot.Bot
	secret                 []byte
	token, appToken        string
	clientID, clientSecret string
	tenant, server         string
	url                    func() string
	apiURL                 string
	client                 *http.Client
	dialer                 *websocket.Dialer
	log                    *slog.Logger
	now                    func() time.Time
	mux                    *http.ServeMux

	teams    teams
	people   people
	replies  replies
	newest   newest
	learning sync.Mutex // over learnAt
	learnAt  time.Time
	boards   boards

	life context.Context
	end  context.CancelFunc
	mu   sync.Mutex // over shut, and over adding to work
	shut bool
	work sync.WaitGroup
	free chan struct{}
}

// New makes a server that begins nothing by itself. It panics without a use case, which is a mistake in wiring.
func New(c Config) *Server {
	c.UseCases.Check()
	s := &Server{uses: c.UseCases, secret: []byte(c.Secret), token: c.Token, appToken: c.AppToken, clientID: c.ClientID, clientSecret: c.ClientSecret, tenant: c.Tenant,
		server: c.Server, url: c.URL, apiURL: firstWord(c.API, StandardAPI), client: c.Client, dialer: c.Dialer, log: c.Log, now: c.Now, mux: http.NewServeMux(), free: make(chan struct{}, mostAtOnce)}
	if s.client == nil {
		s.client = &http.Client{Timeout: postTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if s.dialer == nil {
		s.dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTime}
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.server == "" {
		s.server = rand.Text()
	}
	s.teams = teams{budgets: map[string]*budget{}, fixed: chat.ChatWorkspace{Kind: kind, Tenant: c.Tenant, Fixed: true, State: chat.ChatConnected}}
	s.people = people{known: map[string]seen{}}
	s.bot = bot.New(bot.Config{UseCases: c.UseCases.UseCases, Tenant: c.Tenant, URL: c.URL, Pages: c.Pages, Currency: c.Currency, Log: s.log})
	s.life, s.end = context.WithCancel(context.Background())
	s.mux.HandleFunc("POST /slack/commands", s.command)
	s.mux.HandleFunc("POST /slack/actions", s.action)
	s.mux.HandleFunc("POST /slack/options", s.action)
	s.mux.HandleFunc("POST /slack/events", s.event)
	return s
}

var _ http.Handler = (*Server)(nil)

// ServeHTTP serves one request of Slack.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.mux.ServeHTTP(w, r)
}

// Close ends what is still worked on and waits for it. Calling it twice does no harm.
func (s *Server) Close() error {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
	s.end()
	s.work.Wait()
	return nil
}

// begin works on something beside the request, unless there is too much of it or the server ends.
func (s *Server) begin(f func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return false
	}
	select {
	case s.free <- struct{}{}:
	default:
		return false
	}
	s.work.Go(func() {
		defer func() { <-s.free }()
		defer func() {
			if trouble := recover(); trouble != nil {
				s.log.Error("slack: a command panicked", "panic", trouble)
			}
		}()
		ctx, cancel := context.WithTimeout(s.life, workTime)
		defer cancel()
		f(ctx)
	})
	return true
}
