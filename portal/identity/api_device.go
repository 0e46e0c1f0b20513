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
		Host   string      `json:"host,omitempty" maxLength:"64" doc:"What the host calls itself, for the person who decides"`
		Scopes []app.Scope `json:"scopes,omitempty" maxItems:"8" doc:"A wish, which that person may change"`
	}
}

// apiDeviceCodes has the names of RFC 8628. Times are in seconds there, and so they are here.
type apiDeviceCodes struct {
	DeviceCode string `json:"device_code" doc:"To ask for the answer with; tell nobody"`
	UserCode   string `json:"user_code" doc:"For the person to type at the portal"`
	Path       string `json:"verification_path" doc:"Of the page to type it at, below the portal's address"`
	ExpiresIn  int    `json:"expires_in" doc:"In seconds"`
	Interval   int    `json:"interval" doc:"Seconds between two looks for the answer"`
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
	if e := app.AsError(err); err != nil && e.Code == app.EForbidden { // the no stands in the audit already, under the name of who said it
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
