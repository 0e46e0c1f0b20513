package app

import (
	"fmt"

	"muster/app/humanize"
)

func (v ValueChange) Text() string {
	switch {
	case v.Before == "" && v.After == "":
		return v.Path + " has changed in the catalog."
	case v.Before == "":
		return fmt.Sprintf("%s is new in the catalog: %s.", v.Path, humanize.CutText(v.After, 80))
	case v.After == "":
		return fmt.Sprintf("%s was removed from the catalog (was %s).", v.Path, humanize.CutText(v.Before, 80))
	}
	return fmt.Sprintf("%s is %s here and %s in the catalog.", v.Path, humanize.CutText(v.Before, 80), humanize.CutText(v.After, 80))
}
