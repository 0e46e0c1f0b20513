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
	*base
	*oauth
	*httpReceiver
	workers    *workers
	teams      *teams
	boards     *boards
	dispatcher *dispatcher
	socket     *socketReceiver // nil: nothing is heard over a websocket
}

// base is what all parts share.
type base struct {
	apiURL string // where Slack's methods are called
	client *http.Client
	now    func() time.Time
	log    *slog.Logger
}

// New makes a server that begins nothing by itself. It panics without a use case, which is a mistake in wiring.
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
		budgets: map[string]*budget{}, fixed: chat.ChatWorkspace{Kind: kind, Tenant: c.Tenant, Fixed: true, State: chat.ChatConnected}}
	people := &people{base: ba, teams: s.teams, accounts: c.People, members: c.Members, known: map[string]seen{}}
	speaker := bot.New(bot.Config{UseCases: c.UseCases.UseCases, Tenant: c.Tenant, URL: c.URL, Pages: c.Pages, Log: ba.log})
	s.boards = &boards{base: ba, teams: s.teams, people: people, bot: speaker, uses: c.UseCases}
	answers := &responder{base: ba, workers: s.workers, teams: s.teams, people: people, boards: s.boards, bot: speaker, channels: c.Channels, members: c.Members,
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

// Close ends what is still worked on and waits for it. Calling it twice does no harm.
func (s *Server) Close() error {
	s.workers.close()
	return nil
}

// Tend keeps what is shown in all workspaces true, and their tokens fresh, until ctx ends; one server of a database does.
func (s *Server) Tend(ctx context.Context) { s.boards.tend(ctx) }

// Run is what every server does until ctx ends: it listens to Slack over a websocket where it has a token for that, and notes how
// workspaces do.
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

// Exchange gets the tokens of a workspace for a code that came back from Slack's page. EInvalid where Slack does not take the code.
func (s *Server) Exchange(ctx context.Context, code string) (chat.ChatWorkspace, chat.ChatTokens, error) {
	w, t, err := s.exchange(ctx, code)
	if err != nil {
		return w, t, err
	}
	if fixed := s.teams.fixedTeam(); s.teams.token != "" && fixed.Team == w.Team {
		return w, t, &app.Error{Code: app.EConflict, Reason: "fixed", Message: "This workspace's token is set in the servers' environment.", Hint: "Unset SLACK_BOT_TOKEN first."}
	}
	// The board begins as soon as the workspace is kept.
	time.AfterFunc(time.Second, s.boards.look)
	return w, t, nil
}
