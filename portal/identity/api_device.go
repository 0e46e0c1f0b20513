package identity

import (
	"context"

	"muster/app"
	"muster/portal/site"
)

// devicePath is the page where the code of a device is entered.
const devicePath = "/device"

type apiDeviceAsk struct {
	Agent string `header:"User-Agent"`
	Body  struct {
		Host   string      `json:"host,omitempty" maxLength:"64" doc:"Host name, shown to the person who decides"`
		Scopes []app.Scope `json:"scopes,omitempty" maxItems:"8" doc:"Requested scopes; the person can change them"`
	}
}

// apiDeviceCodes has the names and units of RFC 8628.
type apiDeviceCodes struct {
	DeviceCode string `json:"device_code" doc:"Code to poll with; keep it secret"`
	UserCode   string `json:"user_code" doc:"Code that the person enters in the portal"`
	Path       string `json:"verification_path" doc:"Path of the page to enter the code, below the portal's address"`
	ExpiresIn  int    `json:"expires_in" doc:"Seconds until the codes expire"`
	Interval   int    `json:"interval" doc:"Seconds to wait between polls"`
}

func (p *devices) APIStart(ctx context.Context, in *apiDeviceAsk) (*site.Body[apiDeviceCodes], error) {
	c, err := p.Devices.StartDevice(ctx, in.Body.Host, in.Agent, site.Neighbourhood(site.RequestOf(ctx).From), in.Body.Scopes)
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[apiDeviceCodes]{Body: apiDeviceCodes{DeviceCode: c.Device, UserCode: c.User, Path: devicePath, ExpiresIn: int(c.ExpiresIn.Seconds()),
		Interval: int(c.Interval.Seconds())}}, nil
}

type apiDevicePoll struct {
	Body struct {
		DeviceCode string `json:"device_code" minLength:"1" maxLength:"200"`
	}
}

func (p *devices) APIPoll(ctx context.Context, in *apiDevicePoll) (*apiNewToken, error) {
	t, secret, err := p.Devices.PollDevice(ctx, in.Body.DeviceCode)
	if e := app.AsError(err); err != nil && e.Code == app.EForbidden { // the denial is already in the audit log, with who denied it
		e, a := site.Known(err)
		return nil, site.NewProblem(e, a)
	}
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiNewToken{}
	out.Body.Token, out.Body.Secret = t, secret
	return out, nil
}

func (p *tokens) APIEnd(ctx context.Context, _ *struct{}) (*apiTokenGone, error) {
	t, err := p.Tokens.EndToken(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	out := &apiTokenGone{}
	out.Body.Revoked = t.ID
	return out, nil
}
