package identity

import (
	"fmt"
	"math"
	"net/url"
	"strconv"

	"muster/app/identity"
	"muster/portal/page"
)

// SignIn is the sign-in page.
type SignIn struct {
	Tenant, User, Next string
	Error, Hint        string
	Field              string // "user" or "password": the field with the error
	Notice             string // why the user must sign in again
	Trouble            page.Complaint
	Elsewhere          []Elsewhere
	Directories        []string // labels of those whose accounts sign in with a password here
	// LeaveLabel and LeavePath lead to sign-out at the identity provider.
	LeaveLabel, LeavePath string
}

// Elsewhere is an identity provider on the sign-in page.
type Elsewhere struct{ Label, Path string }

// only returns the sign-in error if it is about the field.
func only(s SignIn, field string) page.Complaint {
	if s.Field != field {
		return page.Complaint{}
	}
	return page.Complaint{Message: s.Error, Hint: s.Hint}
}

type square struct{ class, x, y, size, round, turn string }

// squares is a field of squares, scattered at the top and in rank and file further down. A small fixed generator scatters them, so the
// picture is the same on every visit.
var squares = func() []square {
	const cols, rows, pitch, size = 10, 13, 48.0, 26.0
	seed := uint32(7)
	random := func() float64 {
		seed = seed*1664525 + 1013904223
		return float64(seed>>8)/float64(1<<24)*2 - 1
	}
	var out []square
	for r := range rows {
		// 1 at the top, 0 from two thirds down.
		mess := math.Pow(math.Max(0, 1-float64(r)/(rows*0.66)), 1.4)
		for c := range cols {
			x := float64(c)*pitch + 11 + random()*mess*30
			y := float64(r)*pitch + 19 + random()*mess*30
			turn := random() * mess * 80
			if random() < mess*1.5-1.05 {
				continue
			}
			class := "p-wait"
			switch lot := random(); {
			case mess == 0 && lot > -0.86, mess > 0 && lot > 0.2+mess:
				class = "p-done"
			case mess == 0 || lot > 0.05+mess*0.6:
				class = "p-run"
			}
			out = append(out, square{
				class: class, x: short(x), y: short(y), size: short(size), round: "6",
				turn: fmt.Sprintf("rotate(%s %s %s)", short(turn), short(x+size/2), short(y+size/2)),
			})
		}
	}
	return out
}()

func short(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// query is a value in an address.
func query(s string) string { return url.QueryEscape(s) }

// calledBy is the best known name of a person.
func calledBy(s identity.Subject) string {
	switch {
	case s.FullName != "":
		return s.FullName
	case s.Email != "":
		return s.Email
	}
	return s.Name
}
