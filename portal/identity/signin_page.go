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
	Field              string // "user" or "password": where the error belongs
	Notice             string // why someone is here again
	Trouble            page.Complaint
	Elsewhere          []Elsewhere
	// LeaveLabel and LeavePath lead to where someone who has signed out here may do so too.
	LeaveLabel, LeavePath string
}

// Elsewhere is an identity provider on the sign-in page.
type Elsewhere struct{ Label, Path string }

// only returns the sign-in error where it belongs to the field.
func only(s SignIn, field string) page.Complaint {
	if s.Field != field {
		return page.Complaint{}
	}
	return page.Complaint{Message: s.Error, Hint: s.Hint}
}

type square struct{ class, x, y, size, round, turn string }

// parade is a field of squares: at the top they stand anyhow, further down they are in rank and file. The disorder
// comes from a small fixed generator, so the picture is the same on every visit.
var parade = func() []square {
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

// calledBy is how a person is called, by name where that is known.
func calledBy(s identity.Subject) string {
	switch {
	case s.FullName != "":
		return s.FullName
	case s.Email != "":
		return s.Email
	}
	return s.Name
}
