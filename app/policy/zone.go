package policy

import (
	"context"
	"fmt"
	"time"

	"muster/app"
)

// TimeZone returns the zone by which policies of a tenant tell weekday and hour.
func (a *Service) TimeZone(ctx context.Context, tenant string) (string, error) {
	return a.Store.TimeZone(ctx, tenant)
}

// PolicyZone gives the time zone by which policies of the tenant tell weekday and hour, such as Europe/Berlin.
func (a *Service) PolicyZone(ctx context.Context, actor app.Actor) (string, error) {
	if err := actor.Authorize("PolicyZone"); err != nil {
		return "", err
	}
	return a.TimeZone(ctx, actor.Tenant)
}

// SetPolicyZone sets it; EInvalid for a zone that no one knows.
func (a *Service) SetPolicyZone(ctx context.Context, actor app.Actor, zone string) error {
	if err := actor.Authorize("SetPolicyZone"); err != nil {
		return err
	}
	if err := CheckZone(zone); err != nil {
		return err
	}
	return a.Store.SetTimeZone(ctx, actor, zone, a.Now())
}

func CheckZone(zone string) error {
	if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" || len(zone) > 64 {
		return &app.Error{Code: app.EInvalid, Field: "time_zone", Message: fmt.Sprintf("Unknown time zone %.70q.", zone), Hint: "Use a name such as UTC, Europe/Berlin or America/New_York."}
	}
	return nil
}
