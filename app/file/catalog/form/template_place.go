package form

import "muster/app/template"

type placeDoc struct {
	Provider string `yaml:"provider" doc:"Provider, by name. Default: any that the request names, or the template's default."`
	Zone     string `yaml:"zone" doc:"Zone of the provider. Default: any."`
	Hardware string `yaml:"hardware" doc:"Hardware of all nodes. Default: any."`
}

func templatePlaces(docs []placeDoc) []template.Place {
	var out []template.Place
	for _, d := range docs {
		out = append(out, template.Place(d))
	}
	return out
}

func templatePlaceDocs(places []template.Place) []placeDoc {
	var out []placeDoc
	for _, p := range places {
		out = append(out, placeDoc(p))
	}
	return out
}
