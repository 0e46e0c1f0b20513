package app

import (
	"context"
	"fmt"
	"time"
)

// timeZone gives the zone by which policies of a tenant tell weekday and hour.
func (a *App) timeZone(ctx context.Context, tenant string) (string, error) {
	return a.Store.TimeZone(ctx, tenant)
}

// PolicyZone gives the time zone by which policies of the tenant tell weekday and hour, such as Europe/Berlin.
func (a *App) PolicyZone(ctx context.Context, actor Actor) (string, error) {
	if err := actor.may("PolicyZone"); err != nil {
		return "", err
	}
	return a.timeZone(ctx, actor.Tenant)
}

// SetPolicyZone sets it; EInvalid for a zone that nobody knows.
func (a *App) SetPolicyZone(ctx context.Context, actor Actor, zone string) error {
	if err := actor.may("SetPolicyZone"); err != nil {
		return err
	}
	if err := checkZone(zone); err != nil {
		return err
	}
	return a.Store.SetTimeZone(ctx, actor, zone, a.Now())
}

func checkZone(zone string) error {
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" || len(zone) > 64 {
		return &Error{Code: EInvalid, Field: "time_zone", Message: fmt.Sprintf("There is no time zone %.70q.", zone), Hint: "Such as UTC, Europe/Berlin or America/New_York."}
	}
	return nil
}
