package form

import "muster/app/template"

type outputDoc struct {
	Name        string `yaml:"name" need:"" doc:"Name: a lowercase letter, then lowercase letters, digits and _."`
	Type        string `yaml:"type" doc:"text, url, secret or file. A secret is shown on demand, and each time is in the audit log. Default: text."`
	Value       string `yaml:"value" need:"" doc:"Value, with macros such as %ip.service.web[0]%, ${config:PATH} and ${secret:generated/NAME}."`
	Description string `yaml:"description" doc:"What the value is for."`
	File        string `yaml:"file" doc:"Name of the downloaded file, such as kubeconfig.yaml. Default: the output's name."`
	Mode        string `yaml:"mode" doc:"Permissions of the file, such as 0644. Default: 0600."`
	Env         string `yaml:"env" doc:"Name of the environment variable, such as DATABASE_URL. Default: of the cluster and the output, such as SHOP_DB_URL."`
}

func outputs(docs []outputDoc) []template.Output {
	var out []template.Output
	for _, d := range docs {
		o := template.Output{Name: d.Name, Type: template.OutputType(d.Type), Value: d.Value, Description: d.Description, File: d.File, Mode: d.Mode, Env: d.Env}
		if o.Type == "" {
			o.Type = template.OutputText
		}
		out = append(out, o)
	}
	return out
}

func outputDocs(outputs []template.Output) []outputDoc {
	var out []outputDoc
	for _, o := range outputs {
		d := outputDoc{Name: o.Name, Type: string(o.Type), Value: o.Value, Description: o.Description, File: o.File, Mode: o.Mode, Env: o.Env}
		if o.Type == template.OutputText {
			d.Type = ""
		}
		out = append(out, d)
	}
	return out
}
