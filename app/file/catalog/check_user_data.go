package catalog

import (
	"strings"

	"muster/app/file/catalog/form"
	"muster/app/template"
)

// checkUserData warns of secrets in user data, which the cloud keeps and every program on the machine can read.
func checkUserData(c *checker, e *form.Entry, p *template.ProviderSpec) {
	text, _ := p.Settings["user_data"].(string)
	for _, secret := range []string{"${secret:", "${env:", "PRIVATE KEY-----"} {
		if strings.Contains(text, secret) {
			path := []any{"settings", "user_data"}
			c.report(e, form.SeverityWarning, path, "have a service fetch it, or use ${secret:NAME} in a service's action",
				"%s seems to contain a secret, but programs on machines and people with access to the cloud account can read it", e.Spell(path))
			return
		}
	}
}
