package executable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/family"
)

// readAnswer understands one line. An error means that the program does not keep to the protocol at all.
func readAnswer(line []byte) (answer, error) {
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, errors.New("a line that isn't a JSON object")
	}
	switch result := len(a.Result) > 0 && !bytes.Equal(a.Result, []byte("null")); {
	case a.ID == 0:
		return answer{}, errors.New("a response without an id")
	case result == (a.Error != nil):
		return answer{}, errors.New("a response that doesn't have exactly one of result and error")
	}
	return a, nil
}

// codes are those that a program may give.
var codes = []app.Code{app.EInvalid, app.ENotFound, app.EConflict, app.ECredentials, app.ECapacity, app.EQuota, app.ERateLimit, app.ETransient, app.ETimeout, app.ECancelled, app.EInternal}

const longestRetry = 24 * time.Hour

// err makes an error of what a program says went wrong. A code that is not one of the protocol's is taken for internal.
func (f *failure) err(s *secrets) *app.Error {
	e := &app.Error{Code: f.Code, Reason: s.tidy(f.Reason, 100), Message: s.tidy(f.Message, longestMessage), Hint: s.tidy(f.Hint, longestMessage), Field: s.tidy(f.Field, 200)}
	if !slices.Contains(codes, f.Code) {
		e.Code = app.EInternal
		e.Message = fmt.Sprintf("the provider's program returned the unknown code %q: %s", s.tidy(string(f.Code), 50), e.Message)
	}
	if e.Message == "" {
		e.Message = "the provider's program reported only " + string(e.Code)
	}
	if f.RetryAfterSeconds > 0 {
		e.RetryAfter = time.Duration(min(f.RetryAfterSeconds, longestRetry.Seconds()) * float64(time.Second))
	}
	return e
}

// machine checks what a program says of a machine.
func (m machineLine) machine(s *secrets) (family.Machine, error) {
	if err := goodID(m.ID); err != nil {
		return family.Machine{}, err
	}
	switch m.State {
	case family.MachineStarting, family.MachineRunning, family.MachineStopped:
	default:
		return family.Machine{}, fmt.Errorf("machine %q has the state %q, not starting, running or stopped", m.ID, s.tidy(string(m.State), 50))
	}
	if m.SSHPort < 0 || m.SSHPort > 65535 {
		return family.Machine{}, fmt.Errorf("machine %q has the SSH port %d", m.ID, m.SSHPort)
	}
	return family.Machine{ID: m.ID, State: m.State, Hostname: m.Hostname, Addresses: m.Addresses, SSHUser: m.SSHUser, SSHPort: m.SSHPort, Tags: m.Tags, HostKey: strings.TrimSpace(m.HostKey),
		OwnRoot: m.OwnRoot, Note: s.tidy(m.Note, longestMessage), Zone: m.Zone, CreatedAt: m.CreatedAt}, nil
}

// machines reads a list. The same machine twice is a mistake that would be counted, and paid for, twice.
func (l machinesLine) machines(s *secrets) ([]family.Machine, error) {
	out, seen := make([]family.Machine, 0, len(l.Machines)), map[string]bool{}
	for _, line := range l.Machines {
		m, err := line.machine(s)
		if err == nil && seen[m.ID] {
			err = fmt.Errorf("machine %q is listed twice", m.ID)
		}
		if err != nil {
			return nil, err
		}
		seen[m.ID] = true
		out = append(out, m)
	}
	return out, nil
}

func goodID(id string) error {
	if id == "" || len(id) > longestID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return fmt.Errorf("an ID is empty, longer than %d bytes, or not plain text", longestID)
	}
	return nil
}

func (l findingsLine) findings(s *secrets) ([]family.Finding, error) {
	if len(l.Findings) > 10_000 {
		return nil, errors.New("too many findings")
	}
	for i := range l.Findings {
		f := &l.Findings[i]
		f.About, f.Subject = s.tidy(f.About, 100), s.tidy(f.Subject, 200)
		f.Message, f.Hint = s.tidy(f.Message, longestMessage), s.tidy(f.Hint, longestMessage)
		if f.Message == "" || f.About == "" {
			return nil, errors.New("a finding without about or message")
		}
		if !f.OK && !slices.Contains(codes, f.Code) {
			f.Code = app.EInvalid
		}
	}
	return l.Findings, nil
}

func (l thingsLine) things() ([]family.SharedThing, error) {
	for _, t := range l.Things {
		if err := goodID(t.ID); err != nil {
			return nil, err
		}
	}
	return l.Things, nil
}

// sorted puts offers in the order that family.Offers promises.
func sorted(o family.Offers) family.Offers {
	slices.Sort(o.Zones)
	slices.SortStableFunc(o.Flavors, func(a, b family.FlavorOffer) int { return cmp.Compare(a.Flavor.Flavor, b.Flavor.Flavor) })
	slices.SortStableFunc(o.Images, func(a, b family.ImageOffer) int { return cmp.Compare(a.Image.Image, b.Image.Image) })
	return o
}
