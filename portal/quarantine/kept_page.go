package quarantine

import (
	"muster/app/humanize"
	"muster/app/quarantine"
	"muster/app/template"
	"muster/portal/page"
)

// lengths are common times to keep failed machines.
var lengths = []template.KeepTime{"1h", template.DefaultKeepTime, "24h", "72h"}

// Choices are for how long failed machines can be kept. Standard is what holds where nothing is chosen; "" offers no such choice.
func Choices(chosen, standard string) []page.Choice {
	var out []page.Choice
	if standard != "" {
		out = append(out, page.Choice{Label: standard})
	}
	out = append(out, page.Choice{Value: string(template.KeepOff), Label: "Delete them"})
	known := chosen == "" || chosen == string(template.KeepOff)
	for _, k := range lengths {
		out = append(out, page.Choice{Value: string(k), Label: "Keep for " + k.Words()})
		known = known || chosen == string(k)
	}
	if !known {
		out = append(out, page.Choice{Value: chosen, Label: "Keep for " + template.KeepTime(chosen).Words()})
	}
	for i := range out {
		out[i].Chosen = out[i].Value == chosen
	}
	return out
}

// keepTime is what was chosen where it came to a selection.
func keepTime(s quarantine.Selection) template.KeepTime {
	for _, k := range lengths {
		if k.For() == s.For {
			return k
		}
	}
	return template.KeepTimeOf(s.For)
}

func chosenOf(s quarantine.Selection) string {
	if s.For == 0 {
		return string(template.KeepOff)
	}
	return string(keepTime(s))
}

func chooseLabel(nodes []string) string {
	return "Failed machines (" + humanize.Some(nodes, 4) + ")"
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}
