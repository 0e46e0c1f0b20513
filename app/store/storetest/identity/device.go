package identity

import (
	"fmt"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/identity"
)

// manyDevices has a few addresses begin as many sign-ins of programs as they can.
func (t *storeTest) manyDevices() {
	a := all.New(all.Config{Store: t.Store, Now: t.Clock.Now})
	start := func(from string) (identity.DeviceCodes, error) {
		return a.Identity.Devices.StartDevice(t.Ctx, "a host", "muster", from, nil)
	}
	mine, err := start("192.0.2.7")
	t.Must(err)
	t.Clock.Move(time.Second)
	begun := 0
	for i := range 101 {
		for range 21 {
			if _, err := start(fmt.Sprint("198.51.100.", i)); err == nil {
				begun++
			}
		}
	}
	if begun != 101*20 {
		t.Errorf("%d sign-ins of programs were begun", begun)
	}
	late, err := start("192.0.2.8")
	t.Must(err)
	for name, c := range map[string]identity.DeviceCodes{"the first": mine, "the last": late} {
		_, _, err := a.Identity.Devices.PollDevice(t.Ctx, c.Device)
		t.reason(err, app.EConflict, "authorization_pending")
		if t.Failed() {
			t.Fatalf("%s that began is not waited for", name)
		}
	}
}
