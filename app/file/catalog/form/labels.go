package form

import "muster/app/label"

type labelsDoc struct {
	Defaults map[string]string `yaml:"defaults" doc:"Labels of clusters whose request doesn't set them, such as team: web."`
	Required map[string]string `yaml:"required" doc:"Keys that every cluster needs, each with a sentence for people who leave it out, such as cost-centre: Ask your team lead. The sentence can be empty."`
}

func (l *labelsDoc) rules() *label.Rules {
	if l == nil || len(l.Defaults) == 0 && len(l.Required) == 0 {
		return nil
	}
	return &label.Rules{Defaults: l.Defaults, Required: l.Required}
}
