package app

import (
	"fmt"

	"muster/app/humanize"
)

func (v ValueChange) Words() string {
	switch {
	case v.Before == "" && v.After == "":
		return v.Path + " is another one in the catalog."
	case v.Before == "":
		return fmt.Sprintf("%s is new in the catalog: %s.", v.Path, humanize.CutText(v.After, 80))
	case v.After == "":
		return fmt.Sprintf("%s is not in the catalog any more; it was %s.", v.Path, humanize.CutText(v.Before, 80))
	}
	return fmt.Sprintf("%s is %s, and %s in the catalog.", v.Path, humanize.CutText(v.Before, 80), humanize.CutText(v.After, 80))
}
