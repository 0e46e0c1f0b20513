package slack

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"muster/app"
	"muster/app/chat"
	"muster/bot"
)

// Path is the path of Slack's requests. All paths below it belong to this package, except InstallPath and OAuthPath.
const Path = "/slack/"

const (
	replyTime     = 2 * time.Second  // Slack waits for 3
	noteTime      = time.Second      // of checking for a repeated payload
	workTime      = 30 * time.Second // of one command
	postTime      = 10 * time.Second // of a later answer
	maxConcurrent = 32               // commands
)

// kind is Slack's name among those of chats.
const kind = "slack"

// Config configures a server. The use cases, URL and Pages must be set; the other fields enable HTTP (Secret), Socket Mode (AppToken), one
// workspace (Token), or installation by admins (ClientID).
type Config struct {
	UseCases
	Secret       string // signing secret; "": HTTP is off
	AppToken     string // xapp-…, for Socket Mode; "": off
	Token        string // bot token of Tenant's workspace
	Tenant       string
	ClientID     string // of the app, for installation into workspaces
	ClientSecret string
	API          string                   // address of Slack's API, with a slash at the end; "": https://slack.com/api/
	Server       string                   // this server's name; "": generated
	URL          func() string            // of the portal, such as https://muster.example.org
	Pages        func(app.Subject) string // a subject's path below URL
	Client       *http.Client             // to Slack; nil: one of its own
	Dialer       *websocket.Dialer        // to Slack's websockets; nil: one of its own
	Log          *slog.Logger             // nil: slog.Default()
	Now          func() time.Time         // nil: time.Now
}

// Server answers Slack. Serve it over HTTP, call Run on every server and Maintain on one; Close it after the HTTP server has stopped.
type Server struct {
	*base
	*oauth
	*httpReceiver
	workers    *workers
	teams      *teams
	updaters   *updaters
	dispatcher *dispatcher
	socket     *socketReceiver // nil: Socket Mode is off
}

// base is shared by all parts.
type base struct {
	apiURL string // address of Slack's API
	client *http.Client
	now    func() time.Time
	log    *slog.Logger
}

// New makes a server without starting it. It panics if a use case is missing, which is a wiring mistake.
func New(c Config) *Server {
	c.UseCases.Check()
	ba := &base{apiURL: firstWord(c.API, StandardAPI), client: c.Client, now: c.Now, log: c.Log}
	if ba.client == nil {
		ba.client = &http.Client{Timeout: postTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if ba.log == nil {
		ba.log = slog.Default()
	}
	if ba.now == nil {
		ba.now = time.Now
	}
	server := firstWord(c.Server, rand.Text())
	s := &Server{base: ba, workers: newWorkers(ba), oauth: &oauth{base: ba, clientID: c.ClientID, clientSecret: c.ClientSecret, url: c.URL}}
	s.teams = &teams{base: ba, installations: c.Installations, tokens: c.Tokens, oauth: s.oauth, token: c.Token, tenant: c.Tenant, server: server,
		budgets: map[string]*budget{}, fixed: chat.Workspace{Kind: kind, Tenant: c.Tenant, Fixed: true, State: chat.StateConnected}}
	people := &people{base: ba, teams: s.teams, accounts: c.People, members: c.Members, known: map[string]seen{}}
	speaker := bot.New(bot.Config{UseCases: c.UseCases.UseCases, Tenant: c.Tenant, URL: c.URL, Pages: c.Pages, Log: ba.log})
	s.updaters = &updaters{base: ba, teams: s.teams, people: people, bot: speaker, uses: c.UseCases}
	answers := &responder{base: ba, workers: s.workers, teams: s.teams, people: people, updaters: s.updaters, bot: speaker, channels: c.Channels, members: c.Members,
		follows: c.Follows, asks: c.Asks}
	s.dispatcher = &dispatcher{responder: answers, deliveries: c.Deliveries, installations: c.Installations}
	s.httpReceiver = newHTTPReceiver(ba, []byte(c.Secret), s.dispatcher)
	if c.AppToken != "" {
		s.socket = &socketReceiver{base: ba, dispatcher: s.dispatcher, connections: c.Connections, appToken: c.AppToken, server: server, dialer: c.Dialer}
		if c.Dialer == nil {
			s.socket.dialer = &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTime}
		}
	}
	return s
}

var _ http.Handler = (*Server)(nil)

// Close stops and waits for all work. Calling it twice is harmless.
func (s *Server) Close() error {
	s.workers.close()
	return nil
}

// Maintain updates messages and refreshes tokens of all workspaces until ctx ends. Only one server of a database may run it.
func (s *Server) Maintain(ctx context.Context) { s.updaters.run(ctx) }

// Run listens over a websocket, if Socket Mode is on, and records workspaces' states until ctx ends. Every server runs it.
func (s *Server) Run(ctx context.Context) {
	var wg sync.WaitGroup
	if s.socket != nil {
		wg.Go(func() { s.socket.listen(ctx) })
	}
	for unlessDone(ctx, noteEvery) {
		s.teams.noteAll(ctx)
	}
	wg.Wait()
}

// Exchange gets a workspace's tokens for a code from Slack's consent page. EInvalid if Slack rejects the code.
func (s *Server) Exchange(ctx context.Context, code string) (chat.Workspace, chat.ChatTokens, error) {
	w, t, err := s.exchange(ctx, code)
	if err != nil {
		return w, t, err
	}
	if fixed := s.teams.fixedTeam(); s.teams.token != "" && fixed.Team == w.Team {
		return w, t, &app.Error{Code: app.EConflict, Reason: "fixed", Message: "This workspace's token is set in the servers' environment.", Hint: "Unset SLACK_BOT_TOKEN first."}
	}
	// The updater starts as soon as the workspace is saved.
	time.AfterFunc(time.Second, s.updaters.look)
	return w, t, nil
}
