package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"

	"muster/app"
	"muster/bot"
)

// Path is where Slack's requests come in; all below it is this package's.
const Path = "/slack/"

const (
	bodyLimit  = 64 << 10
	patience   = 2 * time.Second  // Slack waits for 3
	noteTime   = time.Second      // for the question whether something was seen before
	workTime   = 30 * time.Second // of one command
	postTime   = 10 * time.Second // of an answer that comes later
	mostAtOnce = 32               // commands
)

// kind is Slack's name among those of chats.
const kind = "slack"

// Muster is what this package itself asks for, beside the bot.
type Muster interface {
	bot.Muster
	bot.Cards
	// ChatFirst tells whether something known by any of these names comes for the first time.
	ChatFirst(ctx context.Context, kind string, names ...string) (bool, error)
	// FollowInChat has a card made for an operation.
	FollowInChat(ctx context.Context, c app.ChatCard) error
}

var _ Muster = (*app.App)(nil)

// Config is what a server is made of. All of it must be set except for Client, Log and Now.
type Config struct {
	Muster Muster
	Secret string           // by which Slack signs
	Token  string           // of the bot
	Tenant string           // whose workspace it is
	URL    func() string    // of the portal, such as https://muster.example.org
	Client *http.Client     // to Slack; nil: one of its own
	Log    *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Server answers Slack, and tends cards while Tend runs. Close it after the HTTP server takes nothing new.
type Server struct {
	muster Muster
	bot    *bot.Bot
	board  *bot.Board
	secret []byte
	client *http.Client
	log    *slog.Logger
	now    func() time.Time
	mux    *http.ServeMux

	life context.Context
	end  context.CancelFunc
	mu   sync.Mutex // over closed, and over adding to work
	shut bool
	work sync.WaitGroup
	free chan struct{}
}

// New makes a server that begins nothing by itself.
func New(c Config) *Server {
	s := &Server{muster: c.Muster, secret: []byte(c.Secret), client: c.Client, log: c.Log, now: c.Now, mux: http.NewServeMux(), free: make(chan struct{}, mostAtOnce)}
	if s.client == nil {
		s.client = &http.Client{Timeout: postTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.bot = bot.New(c.Muster, c.Tenant, c.URL, s.log)
	s.board = bot.NewBoard(bot.Board{Kind: kind, Cards: c.Muster, Poster: newPoster(c.Token, s.client), Log: s.log, Now: s.now,
		URL: func(path string) string { return strings.TrimRight(c.URL(), "/") + path }})
	s.life, s.end = context.WithCancel(context.Background())
	s.mux.HandleFunc("POST /slack/commands", s.command)
	s.mux.HandleFunc("POST /slack/actions", s.action)
	return s
}

var _ http.Handler = (*Server)(nil)

// ServeHTTP serves one request of Slack.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.mux.ServeHTTP(w, r)
}

// Tend keeps the cards true until ctx ends; one server of a database does.
func (s *Server) Tend(ctx context.Context) { s.board.Run(ctx) }

// Close ends what is still worked on and waits for it. Calling it twice does no harm.
func (s *Server) Close() error {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
	s.end()
	s.work.Wait()
	return nil
}

// heard is a request that was proved to be Slack's, seen for the first time.
func (s *Server) heard(w http.ResponseWriter, r *http.Request) (form url.Values, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			http.Error(w, "The body is too large.", http.StatusRequestEntityTooLarge)
			return nil, false
		}
		http.Error(w, "The body could not be read.", http.StatusBadRequest)
		return nil, false
	}
	if !signed(s.secret, r.Header, body, s.now()) {
		http.Error(w, "This is not signed by Slack, or too long ago.", http.StatusUnauthorized)
		return nil, false
	}
	form, err = url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, "The body is not a form.", http.StatusBadRequest)
		return nil, false
	}
	return form, true
}

// first tells whether a request is to be acted on. What was seen before is answered as if all were well, for it is.
func (s *Server) first(w http.ResponseWriter, r *http.Request, names ...string) bool {
	ctx, cancel := context.WithTimeout(r.Context(), noteTime)
	defer cancel()
	first, err := s.muster.ChatFirst(ctx, kind, append(names, "signature "+r.Header.Get(headerSignature))...)
	if err != nil {
		s.log.Error("slack: it cannot be told whether a request was seen before", "error", err)
		http.Error(w, "Muster cannot answer right now.", http.StatusServiceUnavailable)
		return false
	}
	return first
}

// command answers what somebody typed: at once where that is possible, else through the address that Slack gives for it.
func (s *Server) command(w http.ResponseWriter, r *http.Request) {
	form, ok := s.heard(w, r)
	if !ok || form.Get("ssl_check") != "" {
		return
	}
	p, ok := person(form.Get("team_id"), form.Get("team_domain"), form.Get("user_id"), form.Get("user_name"), form.Get("command"))
	if !ok {
		http.Error(w, "The command does not say who asks.", http.StatusBadRequest)
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	trigger := form.Get("trigger_id")
	if trigger != "" {
		trigger = "command " + trigger
	}
	if !s.first(w, r, trigger) {
		return
	}
	var taken atomic.Bool // by whoever gives the answer, or by who has left without one
	now := make(chan bot.Answer, 1)
	begun := s.begin(func(ctx context.Context) {
		a := s.follow(ctx, s.bot.Say(ctx, p, form.Get("text")), form.Get("channel_id"), form.Get("user_id"))
		if taken.CompareAndSwap(false, true) {
			now <- a
			return
		}
		s.post(form.Get("response_url"), a, false)
	})
	if !begun {
		writeAnswer(w, busy)
		return
	}
	select {
	case a := <-now:
		writeAnswer(w, a)
	case <-timer.C:
		if taken.CompareAndSwap(false, true) {
			writeAnswer(w, bot.Answer{Title: "One moment …"})
		} else {
			writeAnswer(w, <-now)
		}
	case <-r.Context().Done():
		taken.CompareAndSwap(false, true)
	}
}

var busy = bot.Answer{Title: "Muster is busy", Lines: []string{"Too much is asked of it at once. Try again in a minute."}, Wrong: true}

// action does what stands behind a button. Slack reads nothing from the answer, so what is said comes later.
func (s *Server) action(w http.ResponseWriter, r *http.Request) {
	form, ok := s.heard(w, r)
	if !ok {
		return
	}
	var c slack.InteractionCallback
	if err := json.Unmarshal([]byte(form.Get("payload")), &c); err != nil {
		http.Error(w, "The payload is not JSON.", http.StatusBadRequest)
		return
	}
	if c.Type != slack.InteractionTypeBlockActions || len(c.ActionCallback.BlockActions) != 1 {
		return // nothing that we have offered
	}
	press := c.ActionCallback.BlockActions[0]
	if press == nil || !strings.HasPrefix(press.ActionID, actionDo) {
		return
	}
	p, ok := person(c.Team.ID, c.Team.Domain, c.User.ID, c.User.Name, "/muster")
	if !ok || c.User.TeamID != "" && c.User.TeamID != c.Team.ID {
		http.Error(w, "Who pressed this is not of this workspace.", http.StatusForbidden)
		return
	}
	// Two clicks on one button of one message are one.
	if !s.first(w, r, strings.Join([]string{"press", p.External, c.Channel.ID, c.Container.MessageTs, press.Value}, " ")) {
		return
	}
	if !s.begin(func(ctx context.Context) {
		a := s.bot.Press(ctx, p, press.Value)
		s.post(c.ResponseURL, s.follow(ctx, a, c.Channel.ID, c.User.ID), true)
	}) {
		http.Error(w, "Muster is busy.", http.StatusServiceUnavailable)
	}
}

// person is who asks. Every part comes from Slack.
func person(team, domain, user, name, command string) (bot.Person, bool) {
	if team == "" || user == "" || strings.ContainsAny(team+user, "/ ") || len(team)+len(user) > 100 {
		return bot.Person{}, false
	}
	return bot.Person{Kind: kind, External: team + "/" + user, Command: app.CutText(command, 40),
		Label: "Slack user " + app.CutText(name, 60) + " (" + user + ") of workspace " + app.CutText(domain, 60)}, true
}

// follow has cards made for what was begun. Where that fails, the answer says so, for what was begun goes on.
func (s *Server) follow(ctx context.Context, a bot.Answer, channel, user string) bot.Answer {
	for _, o := range a.Started {
		err := s.muster.FollowInChat(ctx, app.ChatCard{Kind: kind, Tenant: o.Tenant, Cluster: o.Cluster, Operation: o.Operation, Channel: channel, Person: user})
		if err != nil {
			s.log.Error("slack: a card could not be made", "cluster", o.Cluster, "error", err)
			a.Lines = append(a.Lines, "How far it is cannot be shown here; the portal does.")
			continue
		}
		s.board.Wake()
	}
	return a
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

// answerHosts are where Slack takes answers that come later.
var answerHosts = map[string]bool{"hooks.slack.com": true, "hooks.slack-gov.com": true}

// post answers through the address that Slack gave, which works for half an hour, and which knows what it answers.
func (s *Server) post(address string, a bot.Answer, replace bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || !answerHosts[u.Host] {
		s.log.Warn("slack: an answer has no address that it could go to")
		return
	}
	// What was done is told also while the server ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.life), postTime)
	defer cancel()
	summary, blocks := answerBlocks(a)
	err = slack.PostWebhookCustomHTTPContext(ctx, address, s.client, &slack.WebhookMessage{Text: summary, Blocks: &slack.Blocks{BlockSet: blocks},
		ResponseType: slack.ResponseTypeEphemeral, ReplaceOriginal: replace})
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err // without the address, which is a secret
	}
	if err != nil {
		s.log.Warn("slack: an answer could not be given", "error", err)
	}
}

// writeAnswer answers a command, for the eyes of who asked.
func writeAnswer(w http.ResponseWriter, a bot.Answer) {
	summary, blocks := answerBlocks(a)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(slack.Msg{Text: summary, Blocks: slack.Blocks{BlockSet: blocks}, ResponseType: slack.ResponseTypeEphemeral})
}
