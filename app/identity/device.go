package identity

import (
	"context"
	"crypto/rand"
	"math/big"
	"strings"
	"time"

	"muster/app"
)

// DeviceStore keeps asks of devices, by the hashes of their codes.
type DeviceStore interface {
	// AddDevice keeps an ask and drops those that are over. ERateLimit where the address has too many open; where all together have, the oldest
	// goes of the address that has most, before those that were answered.
	AddDevice(ctx context.Context, hash, userHash []byte, d Device, mostFrom, most int) error
	// AnswerDevice notes what the actor said to one that is not over. ENotFound where there is none, EConflict where it was answered.
	AnswerDevice(ctx context.Context, who app.Actor, userHash []byte, answer DeviceAnswer, scopes []app.Scope, at time.Time) error
	// Device returns an ask by what people type, whether it is over or not, or ENotFound.
	Device(ctx context.Context, userHash []byte) (Device, error)
	// TakeDevice ends an ask that was answered, once. Where it was allowed, it keeps the token that issue returns, by the hash beside it; a number
	// is put behind its label where the account has one of that label. ENotFound, EConflict, EForbidden and ERateLimit as PollDevice says.
	TakeDevice(ctx context.Context, hash []byte, at time.Time, least time.Duration, issue func(DeviceGrant) (Token, []byte), most int) (Token, error)
}

// DevicesConfig is what Devices is created from. Only what says so may be nil.
type DevicesConfig struct {
	Store DeviceStore
	Now   func() time.Time
}

// Devices signs in programs, which their person allows at the portal.
type Devices struct {
	DevicesConfig
}

// NewDevices returns them on top of what c holds.
func NewDevices(c DevicesConfig) *Devices { return &Devices{DevicesConfig: c} }

// How a program on a device asks for a token, and how often it may.
const (
	DeviceLife     = 10 * time.Minute // how long a code can be used
	DeviceInterval = 2 * time.Second  // between two looks for the answer

	devicesFrom = 20    // asks of one address that are open
	devicesOpen = 2_000 // of all
	longestHost = 64
)

// deviceLetters have no vowels, so that no word comes about, and nothing that is taken for another letter.
const deviceLetters = "BCDFGHJKLMNPQRSTVWXZ"

// Device is a program that wants to act for someone, who is shown this before saying yes or no.
type Device struct {
	Host   string      // what it calls its host; no one has checked that
	From   string      // the address that it asked from
	Agent  string      // what program it says that it is
	Wanted []app.Scope // what it asked for
	At     time.Time
	// ExpiresAt is when the code is worth nothing any more.
	ExpiresAt time.Time
	Answer    DeviceAnswer
}

// DeviceAnswer is what someone said to a device.
type DeviceAnswer string

// The answers; "" is none yet.
const (
	DeviceAllowed DeviceAnswer = "allowed"
	DeviceDenied  DeviceAnswer = "denied"
)

// DeviceCodes are what a program is given that asks.
type DeviceCodes struct {
	Device    string // the program keeps it, and asks for the answer with it
	User      string // the person types it, as in BCDF-GHJK
	ExpiresIn time.Duration
	Interval  time.Duration
}

// DeviceGrant is what happened to an ask: the account and what it gave, for the token that is about to be made.
type DeviceGrant struct {
	Device
	Tenant, User string
	Scopes       []app.Scope
}

// StartDevice begins the sign-in of a program. It asks for no one: who says yes at the portal is the account. The scopes are a wish.
func (a *Devices) StartDevice(ctx context.Context, host, agent, from string, wanted []app.Scope) (DeviceCodes, error) {
	if host == "" {
		host = "an unnamed host"
	}
	if err := CheckText("host", host, longestHost); err != nil {
		return DeviceCodes{}, err
	}
	if _, err := scopesFor(app.RoleSuperadmin, wanted); err != nil {
		return DeviceCodes{}, err
	}
	agent = cutText(agent, 120)
	now := a.Now()
	letters := make([]byte, 8)
	for i := range letters {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(deviceLetters))))
		if err != nil {
			return DeviceCodes{}, err
		}
		letters[i] = deviceLetters[n.Int64()]
	}
	c := DeviceCodes{Device: NewToken(), User: string(letters[:4]) + "-" + string(letters[4:]), ExpiresIn: DeviceLife, Interval: DeviceInterval}
	err := a.Store.AddDevice(ctx, HashToken(c.Device), HashToken(string(letters)),
		Device{Host: host, From: from, Agent: agent, Wanted: wanted, At: now, ExpiresAt: now.Add(DeviceLife)}, devicesFrom, devicesOpen)
	if err != nil {
		return DeviceCodes{}, err
	}
	return c, nil
}

// cutText returns at most n bytes of what someone sent, without what does not show.
func cutText(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u202e' || r == '\u2066' || r == '\u2067' || r == '\u2068' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// userCode returns the hash of what someone typed, however it is written.
func userCode(code string) []byte {
	return HashToken(strings.Map(func(r rune) rune {
		if strings.ContainsRune(deviceLetters, r) {
			return r
		}
		return -1
	}, strings.ToUpper(code[:min(len(code), 40)])))
}

var errNoDevice = &app.Error{Code: app.ENotFound, Reason: "no_device", Field: "code", Message: "This code is invalid or has expired.",
	Hint: "Codes have 8 letters and are valid for 10 minutes. Check the code, or start again with: muster login"}

// ShowDevice says who asks, by what it had its person type. ENotFound where there is no such code, or it is over or answered.
func (a *Devices) ShowDevice(ctx context.Context, actor app.Actor, code string) (Device, error) {
	actor = actor.AtHome()
	if err := actor.Authorize("ShowDevice"); err != nil {
		return Device{}, err
	}
	d, err := a.Store.Device(ctx, userCode(code))
	if app.CodeOf(err) == app.ENotFound || err == nil && (d.Answer != "" || !a.Now().Before(d.ExpiresAt)) {
		return Device{}, errNoDevice
	}
	return d, err
}

// AnswerDevice lets a program act for the actor within some scopes, or does not. A yes takes a fresh proof of who the actor is.
func (a *Devices) AnswerDevice(ctx context.Context, actor app.Actor, code string, yes bool, scopes []app.Scope) error {
	actor = actor.AtHome()
	if err := actor.Authorize("AnswerDevice"); err != nil {
		return err
	}
	answer := DeviceDenied
	if yes {
		if err := actor.MustBeFresh(a.Now(), app.FreshWithin); err != nil {
			return err
		}
		answer = DeviceAllowed
		var err error
		if scopes, err = scopesFor(actor.Role, scopes); err != nil {
			return err
		}
	}
	err := a.Store.AnswerDevice(ctx, actor, userCode(code), answer, scopes, a.Now())
	if app.CodeOf(err) == app.ENotFound {
		return errNoDevice
	}
	return err
}

// PollDevice returns to a program the token that someone has allowed, once. Before, it is EConflict with the reason authorization_pending;
// ERateLimit and slow_down for who looks too often; EForbidden and access_denied after a no; ENotFound and expired_token where it is over, was
// fetched already, or never was.
func (a *Devices) PollDevice(ctx context.Context, code string) (Token, string, error) {
	now, secret := a.Now(), NewToken()
	t, err := a.Store.TakeDevice(ctx, HashToken(code), now, DeviceInterval, func(d DeviceGrant) (Token, []byte) {
		return Token{Tenant: d.Tenant, User: d.User, Label: cutText("CLI on "+d.Host, longestLabel-4), Scopes: d.Scopes, CreatedAt: now, CreatedBy: d.User,
			ExpiresAt: now.AddDate(0, 0, TokenDays)}, HashToken(secret)
	}, mostTokens)
	if err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}
